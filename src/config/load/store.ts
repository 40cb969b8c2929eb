import { existsSync, type FSWatcher, watch } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Disposable } from '../../base/disposable-store.ts';
import { Emitter } from '../../base/emitter.ts';
import type { Settings } from '../settings/settings.ts';
import { allowedFoldersFile } from './allowed-folders.ts';
import type { Loaded, Memory } from './load.ts';
import { type LoadInput, sourceFiles } from './sources.ts';

export interface StoreTimes {
  /** Milliseconds without file events before the file is read. */
  readonly debounceMs?: number;
  /** Milliseconds until missing content is read again before it counts as deleted. */
  readonly settleMs?: number;
}

/**
 * The only owner of the current settings. `input` is called for every load, so that the editor's settings and folders
 * are current.
 */
export class SettingsStore implements Disposable {
  readonly #input: () => LoadInput;
  readonly #times: Required<StoreTimes>;
  readonly #changed = new Emitter<[Settings]>();
  readonly #watchers = new Map<string, FSWatcher>();
  /** Relevant file names for each watched folder. */
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

  /** The last snapshot. @throws Error before the first `refresh` is complete. */
  get current(): Settings {
    if (this.#current === undefined) throw new Error('The settings were read before their first load was complete.');
    return this.#current;
  }

  /** Calls `listener` with every new snapshot, but not with the current one. */
  onChange(listener: (settings: Settings) => void): Disposable {
    return this.#changed.event(listener);
  }

  /** Reads the sources again. Calls during a load share one further load. */
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

  /** Watches the folders of the sources and refreshes after a change, until `dispose`. */
  async watch(): Promise<void> {
    this.#watching = true;
    await this.#follow();
  }

  async #load(): Promise<Settings> {
    // Load the parsers and the schema on demand: creating a store does not need them.
    const { load } = await import('./load.ts');
    let loaded = await load(this.#input(), this.#memory);
    if (loaded.removedSources.length > 0) loaded = await this.#settled(load);
    this.#memory = loaded.memory;
    this.#current = loaded.settings;
    this.#referenced = loaded.referenced;
    if (this.#watching) await this.#follow();
    if (!this.#disposed) this.#changed.fire(loaded.settings);
    return loaded.settings;
  }

  /**
   * A save that truncates or replaces a file makes it empty for a moment. The content counts as deleted only if it is
   * still missing after a delay.
   */
  async #settled(load: typeof import('./load.ts').load): Promise<Loaded> {
    await sleep(this.#times.settleMs);
    return load(this.#input(), this.#memory);
  }

  async #follow(): Promise<void> {
    const names = new Map<string, Set<string>>();
    const input = this.#input();
    for (const file of [...(await sourceFiles(input)), ...this.#referenced, allowedFoldersFile(input)]) {
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
      // The folder was deleted. The next load watches the folders that exist then.
      watcher.on('error', () => this.#forget(folder));
      this.#watchers.set(folder, watcher);
    } catch {
      // The system has no free watches, or permission is missing. `refresh` still works.
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
      // Loading does not reject for invalid content. Callers of `refresh` get all other errors.
      void this.refresh().catch(() => undefined);
    }, this.#times.debounceMs);
    this.#timer.unref();
  }
}

/** The deepest existing folder on the path to a file, and the next name on that path. */
function nearestExisting(file: string): { readonly folder: string; readonly name: string } {
  let at = file;
  while (path.dirname(at) !== at && !existsSync(path.dirname(at))) at = path.dirname(at);
  return { folder: path.dirname(at), name: path.basename(at) };
}
