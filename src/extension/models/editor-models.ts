import { homedir } from 'node:os';
import * as vscode from 'vscode';
import { CoalescedRun } from '../../base/concurrency.ts';
import { DisposableStore } from '../../base/disposable-store.ts';
import type { Model } from '../../catalog/model.ts';
import { type Selection, selectCompletionModel, selectEditModel, selectModel } from '../../catalog/model-selection.ts';
import { type ModelSetup, modelSetup } from '../../catalog/model-setup.ts';
import { type CatalogData, catalogProvider, readRow } from '../../catalog/public/catalog.ts';
import type { Registry } from '../../catalog/registry/registry.ts';
import { withoutWaitingChanges } from '../../catalog/registry/trusted-providers.ts';
import { allowFolder } from '../../config/load/allowed-folders.ts';
import type { SettingsStore } from '../../config/load/store.ts';
import type { WaitingChange } from '../../config/settings/project-part.ts';
import type { Settings } from '../../config/settings/settings.ts';
import { LiveModels } from '../../provider/live-models.ts';
import { RunningChats } from '../../provider/running-chats.ts';
import type { Transport } from '../../provider/transport/transport.ts';
import { asSvcError, type SvcError } from '../../wire/errors/svc-error.ts';
import type { Event } from '../../wire/event.ts';
import type { StoredKeys } from '../configuration/stored-keys.ts';

export interface ModelsDeps {
  readonly store: SettingsStore;
  readonly keys: StoredKeys;
  readonly transport: Transport;
  readonly log: vscode.LogOutputChannel;
  /** Stores the last used models and the user's decisions about origins. */
  readonly memory: vscode.Memento;
}

/** The purposes for which a model is chosen. */
export type ModelUse = 'chat' | 'completion' | 'nextEdit';

/** Where the last used models are stored. */
const LAST_USED: Readonly<Record<ModelUse, string>> = {
  chat: 'svc.lastUsed',
  completion: 'svc.lastUsedCompletion',
  nextEdit: 'svc.lastUsedNextEdit',
};
const SELECT: Readonly<Record<ModelUse, typeof selectModel>> = {
  chat: selectModel,
  completion: selectCompletionModel,
  nextEdit: selectEditModel,
};
const DECISIONS = 'svc.originDecisions';
const PINNED = 'svc.pinnedModels';
const HIDDEN = 'svc.hiddenModels';
const VARIANTS = 'svc.variants';
const KEPT = 8;

/** Owns the models in the editor. Rebuilt when settings, keys or the catalog change. */
export class Models implements vscode.Disposable {
  readonly #deps: ModelsDeps;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #disposables = new DisposableStore();
  readonly onDidChange = this.#changed.event;
  readonly #live: LiveModels;
  /** What the chat leaves to completions. */
  readonly runningChats = new RunningChats();
  readonly #builds = new CoalescedRun(() => this.#build());
  #registry: Registry | undefined;
  #waiting: readonly WaitingChange[] = [];
  #disposed = false;
  /** Reasons for model lists that could not be read, by provider id. */
  readonly #unlisted = new Map<string, string>();
  /** Models that the user chose in this window. They override the configuration until the window closes. */
  readonly #picked = new Map<ModelUse, string>();

  constructor(deps: ModelsDeps) {
    this.#deps = deps;
    this.#live = new LiveModels({
      env: process.env,
      platform: process.platform,
      home: homedir(),
      transport: deps.transport,
      loaded: () => deps.store.current,
      usable: (loaded, known) => {
        const { settings, waiting } = withoutWaitingChanges(loaded, known);
        this.#waiting = waiting;
        return settings;
      },
      storedKeys: () => deps.keys.all(),
      originDecisions: () => this.decisions,
      workspace: workspaceId,
      unlisted: (provider, reason) => {
        this.#unlisted.set(provider, reason);
        deps.log.warn(`Could not list the models of ${provider}: ${reason}`);
      },
      loading: (model, load) => void this.runningChats.whileLoading(model, load),
      changed: (changed) => this.#update(changed),
      failed: (error) => this.#failed(error),
    });
    const rebuild = () => void this.rebuild();
    this.#disposables.add(
      this.#changed,
      this.runningChats,
      deps.store.onChange(rebuild),
      deps.keys.onDidChange(rebuild),
    );
  }

  dispose(): void {
    this.#disposed = true;
    this.#live.dispose();
    this.#disposables.dispose();
  }

  /** Undefined until the first build is complete. */
  get registry(): Registry | undefined {
    return this.#registry;
  }

  /** Empty until the first build is complete. */
  get catalog(): CatalogData {
    return this.#live.catalog;
  }

  /** Without changes that wait. */
  get settings(): Settings | undefined {
    return this.#registry && this.#live.settings;
  }

  /** Changes of the project that wait for the user's answer. */
  get waiting(): readonly WaitingChange[] {
    return this.#waiting;
  }

  /** Whether there is a model, and if not, why. */
  get setup(): ModelSetup {
    return modelSetup(this.#registry, { listed: this.#listed, failed: this.#unlisted });
  }

  /** See `LiveModels`. */
  get served(): LiveModels['served'] {
    return this.#live.served;
  }

  /** The events of a request, which is sent when the server has the model in memory. Most servers do not load models. */
  async *whenLoaded(model: Model, signal: AbortSignal, send: () => AsyncIterable<Event>): AsyncGenerator<Event> {
    if (model.endpoint.kind === 'ollama') await this.#live.load(model, signal);
    if (signal.aborted) return;
    for await (const event of send()) {
      if (event.type === 'error' && !signal.aborted) this.#live.failed(model);
      yield event;
    }
  }

  get #listed(): boolean {
    return this.#live.live?.listed ?? false;
  }

  /** The current chat model. */
  get chat(): Model | undefined {
    return this.#select('chat');
  }

  /**
   * The model with this reference, or the first one with this name or key. A file of the project names it, so models of
   * a project that is not allowed are not found.
   */
  named(wanted: string): Model | undefined {
    const all = [...(this.#registry?.models.values() ?? [])].filter(
      ({ provider }) => !this.settings?.namedOnly?.has(provider),
    );
    const exact = all.find(({ ref }) => ref === wanted);
    if (exact) return exact;
    const lower = wanted.toLowerCase();
    return all.find(({ name, key }) => name.toLowerCase() === lower || key.toLowerCase() === lower);
  }

  /** The current completion model. */
  get completion(): Model | undefined {
    return this.#select('completion');
  }

  /** Why a model that a setting names cannot complete code. */
  completionNameProblem(ref: string): SvcError | undefined {
    const { settings } = this.#live;
    if (!this.#registry || !settings || !this.#listed) return undefined;
    try {
      selectCompletionModel({ settings, registry: this.#registry, flag: ref });
      return undefined;
    } catch (thrown) {
      return asSvcError(thrown);
    }
  }

  /** The current model for next edits. Most users have none. */
  get nextEdit(): Model | undefined {
    return this.#select('nextEdit');
  }

  /** The providers in the catalog and the configuration. */
  knownProviders(): Iterable<{ readonly id: string; readonly name: string }> {
    const known = new Map(Object.entries(this.catalog.providers).map(([id, { name }]) => [id, name]));
    for (const { id, name } of this.#registry?.providers.values() ?? []) known.set(id, name);
    return [...known].map(([id, name]) => ({ id, name }));
  }

  /** The models of a provider: from the catalog, the configuration and the provider's list. */
  knownModels(provider: string): Iterable<{ readonly key: string; readonly name: string }> {
    const rows = catalogProvider(this.catalog, provider)?.models ?? {};
    const known = new Map(Object.entries(rows).map(([key, row]) => [key, readRow(row).name]));
    for (const { key, name } of this.#registry?.providers.get(provider)?.models.values() ?? []) known.set(key, name);
    return [...known].map(([key, name]) => ({ key, name }));
  }

  /** The display name of a provider. */
  readonly providerName = (id: string): string => this.#registry?.providers.get(id)?.name ?? id;

  readonly isSimulated = ({ provider }: Model): boolean => this.#registry?.providers.get(provider)?.simulated ?? false;

  /** Problems of the configured completion model. */
  get completionWarnings(): readonly SvcError[] {
    // Until the lists are complete, the model may still be missing from them.
    if (!this.#listed) return [];
    return this.#selection('completion')?.warnings ?? [];
  }

  /** Name of the chosen variant of the chat model, if the model still has it. */
  get chatVariant(): string | undefined {
    const model = this.chat;
    const name = model && this.#deps.memory.get<Record<string, string>>(VARIANTS, {})[model.ref];
    return name !== undefined && model?.variants.has(name) ? name : undefined;
  }

  /** @param variant absent: no variant. */
  async useForChat(ref: string, variant?: string): Promise<void> {
    const { [ref]: _, ...others } = this.#deps.memory.get<Record<string, string>>(VARIANTS, {});
    await this.#deps.memory.update(VARIANTS, variant === undefined ? others : { ...others, [ref]: variant });
    await this.use('chat', ref);
  }

  /** References of recently used models, latest first. */
  recent(use: ModelUse): readonly string[] {
    return this.#deps.memory.get<string[]>(LAST_USED[use], []);
  }

  get pinned(): readonly string[] {
    return this.#deps.memory.get<string[]>(PINNED, []);
  }

  /** Models that the user has hidden. They are not offered or used in the editor. */
  get hidden(): readonly string[] {
    return this.#deps.memory.get<string[]>(HIDDEN, []);
  }

  async pin(ref: string, pinned: boolean): Promise<void> {
    await this.#mark(PINNED, ref, pinned);
  }

  async hide(ref: string, hidden: boolean): Promise<void> {
    await this.#mark(HIDDEN, ref, hidden);
    await this.rebuild();
  }

  async #mark(list: string, ref: string, marked: boolean): Promise<void> {
    const others = this.#deps.memory.get<string[]>(list, []).filter((each) => each !== ref);
    await this.#deps.memory.update(list, marked ? [...others, ref] : others);
  }

  async use(use: ModelUse, ref: string): Promise<void> {
    this.#picked.set(use, ref);
    const others = this.recent(use).filter((each) => each !== ref);
    await this.#deps.memory.update(LAST_USED[use], [ref, ...others].slice(0, KEPT));
    this.#changed.fire();
  }

  /** Allows the folders of the project, here and in the terminal. */
  async allowProject(): Promise<void> {
    const { store } = this.#deps;
    const place = { env: process.env, platform: process.platform, home: homedir() };
    for (const folder of store.current.projects ?? []) await allowFolder(place, folder, true);
    await store.refresh();
    await this.rebuild();
  }

  /** Stores the answer to "This project wants to send your key …"; see `originDecisionKey`. */
  async decide(key: string, allowed: boolean): Promise<void> {
    const decisions = this.#deps.memory.get<Record<string, boolean>>(DECISIONS, {});
    await this.#deps.memory.update(DECISIONS, { ...decisions, [key]: allowed });
    await this.rebuild();
  }

  get decisions(): ReadonlyMap<string, boolean> {
    return new Map(Object.entries(this.#deps.memory.get<Record<string, boolean>>(DECISIONS, {})));
  }

  /** Rebuilds the registry and reads the model lists. Calls during a build share one further build. Never rejects. */
  rebuild(): Promise<void> {
    return this.#builds.run();
  }

  async #build(): Promise<void> {
    try {
      this.#unlisted.clear();
      await this.#live.rebuild();
      this.#live.follow();
      await this.#live.live?.list();
      // The end of the lists does not always change the registry, but the state of the setup and the warnings.
      const incomplete = this.#registry?.models.size === 0 || this.completionWarnings.length > 0;
      if (incomplete && !this.#disposed) this.#changed.fire();
    } catch (error) {
      this.#failed(error);
    }
  }

  #failed(error: unknown): void {
    this.#deps.log.error('The models could not be read.', String(error));
  }

  #update(registry: Registry): void {
    if (this.#disposed) return;
    this.#registry = registry.without(new Set(this.hidden));
    this.#changed.fire();
  }

  #select(use: ModelUse): Model | undefined {
    const picked = this.#registry?.find(this.#picked.get(use) ?? '');
    return picked ?? this.#selection(use)?.model;
  }

  #selection(use: ModelUse): Selection | undefined {
    const { settings } = this.#live;
    if (!this.#registry || !settings) return undefined;
    return SELECT[use]({
      settings,
      registry: this.#registry,
      lastUsed: this.recent(use),
      unknownConfigured: 'warn',
    });
  }
}

/** Identifies the workspace in stored data. */
export function workspaceId(): string {
  const { workspaceFile, workspaceFolders } = vscode.workspace;
  return (workspaceFile ?? workspaceFolders?.[0]?.uri)?.toString() ?? '';
}
