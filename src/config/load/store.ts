import { type FSWatcher, lstatSync, readlinkSync, watch } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CoalescedRun } from '../../base/concurrency.ts';
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
  /** Milliseconds between checks for changes that the system did not report, as on network drives. */
  readonly checkMs?: number;
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
  #files: readonly string[] = [];
  /** Of `#files`, at the last load. */
  #state = '';
  #check: NodeJS.Timeout | undefined;
  #current: Settings | undefined;
  #memory: Memory | undefined;
  readonly #loads = new CoalescedRun(() => this.#load());
  #timer: NodeJS.Timeout | undefined;
  #watching = false;
  #disposed = false;

  constructor(input: () => LoadInput, times: StoreTimes = {}) {
    this.#input = input;
    this.#times = { debounceMs: 60, settleMs: 250, checkMs: 60_000, ...times };
  }

  dispose(): void {
    this.#disposed = true;
    clearTimeout(this.#timer);
    clearInterval(this.#check);
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
    return this.#loads.run();
  }

  /** Watches the folders of the sources and refreshes after a change, until `dispose`. */
  async watch(): Promise<void> {
    this.#watching = true;
    await this.#follow();
    this.#check ??= setInterval(() => void this.#compare(), this.#times.checkMs).unref();
  }

  async #compare(): Promise<void> {
    if ((await stateOf(this.#files)) !== this.#state) this.#schedule();
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
    this.#files = [...(await sourceFiles(input)), ...this.#referenced, allowedFoldersFile(input)];
    this.#state = await stateOf(this.#files);
    for (const { folder, name } of this.#files.flatMap(stepsTo)) {
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

interface Step {
  readonly folder: string;
  readonly name: string;
}

/** Longer chains are loops (Linux: `ELOOP` after 40). */
const MAX_LINKS = 40;

/**
 * The names whose change can change the content of a file: its own, and each symbolic link on the path to it. Kubernetes
 * replaces the link `..data` beside a file that is itself a link. If a folder is missing, its name is the last step.
 */
function stepsTo(file: string): readonly Step[] {
  const steps: Step[] = [];
  let left = partsOf(file);
  let folder = path.parse(file).root;
  while (left.length > 0) {
    const [name = '', ...rest] = left;
    const at = path.join(folder, name);
    const kind = kindOf(at);
    if (kind === 'link' && steps.length < MAX_LINKS) {
      steps.push({ folder, name });
      const target = path.resolve(folder, readlinkSync(at));
      folder = path.parse(target).root;
      left = [...partsOf(target), ...rest];
    } else if (kind === 'missing' || rest.length === 0) return [...steps, { folder, name }];
    else {
      folder = at;
      left = rest;
    }
  }
  return steps;
}

function partsOf(file: string): string[] {
  return file.slice(path.parse(file).root.length).split(path.sep).filter(Boolean);
}

function kindOf(file: string): 'link' | 'other' | 'missing' {
  try {
    return lstatSync(file).isSymbolicLink() ? 'link' : 'other';
  } catch {
    return 'missing';
  }
}

/** Changes if the content of one of the files was replaced, written or removed. */
async function stateOf(files: readonly string[]): Promise<string> {
  const states = files.map(async (file) => {
    const found = await stat(file).catch(() => undefined);
    return found === undefined ? '' : `${found.ino} ${found.mtimeMs} ${found.size}`;
  });
  return (await Promise.all(states)).join('\n');
}
