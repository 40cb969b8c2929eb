import { existsSync, type FSWatcher, watch } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Disposable } from '../../base/disposable-store.ts';
import { Emitter } from '../../base/emitter.ts';
import type { Settings } from '../settings/settings.ts';
import type { Loaded, Memory } from './load.ts';
import { type LoadInput, sourceFiles } from './sources.ts';

export interface StoreTimes {
  /** Milliseconds of quiet after a file event before it is read. */
  readonly debounceMs?: number;
  /** Milliseconds after which content that disappeared is looked at again before it is believed. */
  readonly settleMs?: number;
}

/**
 * The one owner of the current settings. `input` is asked anew for every load, so that an editor's
 * settings and folders are those of the moment.
 */
export class SettingsStore implements Disposable {
  readonly #input: () => LoadInput;
  readonly #times: Required<StoreTimes>;
  readonly #changed = new Emitter<[Settings]>();
  readonly #watchers = new Map<string, FSWatcher>();
  /** By watched folder: the names in it that matter. */
  #names = new Map<string, Set<string>>();
  #referenced: readonly string[] = [];
  #current: Settings | undefined;
  #memory: Memory | undefined;
  #running: Promise<Settings> | undefined;
  #again: Promise<Settings> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #watching = false;
  #disposed = false;

  constructor(input: () => LoadInput, times: StoreTimes = {}) {
    this.#input = input;
    this.#times = { debounceMs: 60, settleMs: 250, ...times };
  }

  dispose(): void {
    this.#disposed = true;
    clearTimeout(this.#timer);
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
    this.#changed.dispose();
  }

  /** The last snapshot. @throws Error before the first `refresh` has ended. */
  get current(): Settings {
    if (this.#current === undefined) throw new Error('The settings are read before their first load has ended.');
    return this.#current;
  }

  /** Calls `listener` with every new snapshot, not with the present one. */
  onChange(listener: (settings: Settings) => void): Disposable {
    return this.#changed.event(listener);
  }

  /** Reads the sources anew. Calls during a load share one further load. */
  refresh(): Promise<Settings> {
    if (this.#running === undefined) {
      this.#running = this.#load().finally(() => {
        this.#running = undefined;
      });
      return this.#running;
    }
    this.#again ??= this.#running
      .catch(() => undefined)
      .then(() => {
        this.#again = undefined;
        return this.refresh();
      });
    return this.#again;
  }

  /** Refreshes when a file in one of the sources' folders changes, until `dispose`. */
  async watch(): Promise<void> {
    this.#watching = true;
    await this.#follow();
  }

  async #load(): Promise<Settings> {
    // Reading needs parsers and the schema; whoever makes a store needs neither yet.
    const { load } = await import('./load.ts');
    let loaded = await load(this.#input(), this.#memory);
    if (loaded.vanished.length > 0) loaded = await this.#settled(load);
    this.#memory = loaded.memory;
    this.#current = loaded.settings;
    this.#referenced = loaded.referenced;
    if (this.#watching) await this.#follow();
    if (!this.#disposed) this.#changed.fire(loaded.settings);
    return loaded.settings;
  }

  /** A save that truncates or replaces a file blanks it for a moment: only what stays blank is believed. */
  async #settled(load: typeof import('./load.ts').load): Promise<Loaded> {
    await sleep(this.#times.settleMs);
    return load(this.#input(), this.#memory);
  }

  async #follow(): Promise<void> {
    const names = new Map<string, Set<string>>();
    for (const file of [...(await sourceFiles(this.#input())), ...this.#referenced]) {
      const { folder, name } = nearestExisting(file);
      names.set(folder, (names.get(folder) ?? new Set()).add(name));
    }
    if (this.#disposed) return;
    this.#names = names;
    for (const [folder, watcher] of this.#watchers) {
      if (names.has(folder)) continue;
      watcher.close();
      this.#watchers.delete(folder);
    }
    for (const folder of names.keys()) if (!this.#watchers.has(folder)) this.#watchFolder(folder);
  }

  #watchFolder(folder: string): void {
    try {
      const watcher = watch(folder, { persistent: false }, (_event, name) => this.#touched(folder, name));
      // A folder that is deleted: the next load follows what is there then.
      watcher.on('error', () => this.#forget(folder));
      this.#watchers.set(folder, watcher);
    } catch {
      // No watches left or no permission: `refresh` still works, and nothing else depends on this folder.
    }
  }

  #forget(folder: string): void {
    this.#watchers.get(folder)?.close();
    this.#watchers.delete(folder);
    this.#schedule();
  }

  #touched(folder: string, name: string | null): void {
    if (name === null || this.#names.get(folder)?.has(name)) this.#schedule();
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      // Loading does not reject for what is in the sources; whoever calls `refresh` sees what else fails.
      void this.refresh().catch(() => undefined);
    }, this.#times.debounceMs);
    this.#timer.unref();
  }
}

/** The deepest folder on the way to a file that exists, and the name in it that leads on. */
function nearestExisting(file: string): { readonly folder: string; readonly name: string } {
  let at = file;
  while (path.dirname(at) !== at && !existsSync(path.dirname(at))) at = path.dirname(at);
  return { folder: path.dirname(at), name: path.basename(at) };
}
