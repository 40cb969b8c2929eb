import * as vscode from 'vscode';
import { DisposableStore } from '../../base/disposable-store.ts';
import { defined, ownEntry } from '../../base/json.ts';
import type { Model } from '../../catalog/model.ts';
import type { CompletionModel, CompletionSettings } from '../../completion/document/completion-settings.ts';
import { Suggester, type SuggesterDeps } from '../../completion/suggester.ts';
import type { RunningChats } from '../../provider/running-chats.ts';
import { warmConnection } from '../../provider/transport/warm-connection.ts';
import type { SvcError } from '../../wire/errors/svc-error.ts';
import { contextPlace } from '../../wire/fim/fim-request.ts';
import type { PurposeTransport } from '../editor-transport.ts';
import type { Models } from '../models/editor-models.ts';
import { CompetingExtensions } from '../setup/competing-extensions.ts';
import type { ContextKeys } from '../setup/context-keys.ts';
import { registerCompletionCommands } from './completion-commands.ts';
import { EditorContext } from './completion-context.ts';
import type { CompletionSettingsSource } from './completion-settings-source.ts';
import type { ExcludedFiles } from './excluded-files.ts';
import { registerInlineCompletions } from './inline-completions.ts';
import { GhostTextWatch } from './next-edit/ghost-text-watch.ts';
import { nextEditModels } from './next-edit/next-edit-model.ts';
import { registerNextEdits } from './next-edit/next-edits-feature.ts';
import { EditorProjectReader } from './project-reader.ts';
import { RecentWork } from './recent-work.ts';
import { CompletionStatus } from './status.ts';
import { CompletionSwitch } from './switch.ts';

export interface CompletionsDeps {
  readonly extension: Pick<vscode.Extension<unknown>, 'id' | 'extensionUri'>;
  readonly models: Models;
  readonly transport: PurposeTransport;
  readonly log: vscode.LogOutputChannel;
  readonly memory: vscode.Memento;
  readonly contextKeys: ContextKeys;
  readonly configured: CompletionSettingsSource;
  readonly excluded: ExcludedFiles;
}

/** Ghost text, next edits, their status and their commands. */
export function registerCompletions(deps: CompletionsDeps): vscode.Disposable {
  const { extension, models, transport, log, memory, contextKeys, configured, excluded } = deps;
  const lifetime = new DisposableStore();
  const own = <T extends vscode.Disposable>(part: T): T => {
    lifetime.add(part);
    return part;
  };

  const on = own(new CompletionSwitch());
  const settings = () => (on.snoozing ? { ...configured.current, enabled: false } : configured.current);
  const enabled = () => configured.current.enabled;
  const onDidChangeSettings = anyEvent(own, configured.onDidChange, on.onDidChange);
  const reader = own(new EditorProjectReader((uri) => excluded.reason(uri) !== undefined));
  const context = new EditorContext(reader, own(new RecentWork()));
  const editModels = nextEditModels(models, transport);
  const suggester: Suggester = own(
    new Suggester({
      model: (languageId) => completionModel(models, configured.current, languageId),
      editModel: () => editModels.model(false),
      settings,
      excluded: excluded.reason,
      context: context.source,
      log: (line) => log.info(line),
      warm: ({ ref }) => warmUp(models.registry?.find(ref), transport),
      fill: ({ ref }) => fillWith(models, models.registry?.find(ref), transport),
      yieldSlot: (ref) => nextEdits.yieldSlot(ref),
      restores: (document, position, text) => nextEdits.restores(document, position, text),
    }),
  );
  own(anyEvent(own, models.onDidChange, onDidChangeSettings, excluded.onDidChange)(() => suggester.reconsider()));

  const ghostText = own(new GhostTextWatch());
  const nextEdits = own(
    registerNextEdits({
      settings,
      onDidChangeSettings,
      excluded: excluded.reason,
      completionPending: () => suggester.state.kind === 'asking',
      ...editModels,
      limits: suggester.limits,
      context: (uri) => suggester.knownContext(uri),
      log: (line) => log.info(line),
      onDidChangeModels: models.onDidChange,
      ghostText,
      setContext: (key, value) => contextKeys.set(key, value),
      media: vscode.Uri.joinPath(extension.extensionUri, 'media'),
    }),
  );
  own(
    models.runningChats.onDidChange(() => {
      suggester.serverChanged();
      nextEdits.serverChanged();
    }),
  );
  own(context.follow(suggester, nextEdits.recentEdits));
  const inline = own(
    registerInlineCompletions({
      suggester,
      extension: extension.id,
      onAccepted: () => contextKeys.set('svc.completionAccepted', true),
      ghostText,
      nextEdit: nextEdits.ghostText,
      onDidChangeNextEdit: nextEdits.onDidChangeGhostText,
      trace: (line) => log.trace(line),
    }),
  );
  own(on.onDidChange(() => contextKeys.set('svc.snoozing', on.snoozing)));
  own(suggester.onDidChangeState(({ kind }) => kind === 'asking' && contextKeys.set('svc.completionRequested', true)));

  let namedWarnings: readonly SvcError[] = [];
  const checkNamed = () => {
    namedWarnings = namedModels(configured.current).flatMap((ref) => models.completionNameProblem(ref) ?? []);
  };
  own(anyEvent(own, models.onDidChange, configured.onDidChange)(checkNamed));
  checkNamed();
  const status = {
    suggester,
    on,
    simulated: models.isSimulated,
    providerName: models.providerName,
    model: () => models.registry?.find(suggester.usedModel ?? '') ?? models.completion,
    setup: () => models.setup,
    warnings: () => [...models.completionWarnings, ...namedWarnings],
    enabled,
    nextEdit: nextEdits.description,
    onDidChange: anyEvent(own, models.onDidChange, configured.onDidChange, nextEdits.onDidChange),
  };
  const active = () => enabled() && models.completion !== undefined;
  const competing = own(new CompetingExtensions({ memory, active, onDidChange: status.onDidChange }));
  own(
    registerCompletionCommands({
      ...status,
      trigger: inline.trigger,
      rejectNextEdit: nextEdits.rejectGhostText,
      lastEditRequest: nextEdits.lastRequest,
      hidden: () => ghostText.hidden(),
      competitors: async () => [...nextEdits.menuItems(), ...(await competing.items())],
    }),
  );
  own(new CompletionStatus(status));
  return lifetime;
}

/** The model for a language, with the fallback. */
function completionModel(
  models: Models,
  { modelByLanguage, fallbackModel }: CompletionSettings,
  languageId: string,
): CompletionModel | undefined {
  const find = (ref: string | undefined) => {
    const found = ref ? models.registry?.find(ref) : undefined;
    return found?.fim ? found : undefined;
  };
  const { runningChats } = models;
  const model = describeModel(find(ownEntry(modelByLanguage, languageId)) ?? models.completion, runningChats);
  const fallback = describeModel(find(fallbackModel), runningChats);
  return model && fallback && fallback.ref !== model.ref ? { ...model, fallback } : (model ?? fallback);
}

function namedModels({ modelByLanguage, fallbackModel }: CompletionSettings): readonly string[] {
  return [...new Set([...Object.values(modelByLanguage), fallbackModel])].filter((ref) => ref !== '');
}

function describeModel(model: Model | undefined, chats: RunningChats): CompletionModel | undefined {
  if (!model) return undefined;
  const { ref, limit, cost, endpoint } = model;
  const place = contextPlace(endpoint.fim);
  return {
    ref,
    contextTokens: limit.context,
    contextPlace: place,
    ...chats.serverState(model),
    ...defined({ cost }),
  };
}

function warmUp(model: Model | undefined, transport: PurposeTransport): void {
  if (model) void warmConnection(model.endpoint, transport);
}

function fillWith(
  models: Models,
  model: Model | undefined,
  transport: PurposeTransport,
): ReturnType<SuggesterDeps['fill']> {
  return async function* (request, signal) {
    if (model === undefined) return;
    const { completeCode } = await import('../../provider/complete-code.ts');
    yield* models.whenLoaded(model, signal, () => completeCode(model, request, { transport, signal }));
  };
}

function anyEvent(
  own: <T extends vscode.Disposable>(part: T) => T,
  ...events: vscode.Event<void>[]
): vscode.Event<void> {
  const emitter = own(new vscode.EventEmitter<void>());
  for (const event of events) own(event(() => emitter.fire()));
  return emitter.event;
}
