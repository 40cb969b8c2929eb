import { randomUUID } from 'node:crypto';
import * as vscode from 'vscode';
import { outputCap } from '../catalog/limits.ts';
import type { Model } from '../catalog/model.ts';
import type { Converse } from '../chat/session/session-deps.ts';
import type { Snippet } from '../completion/prompt/context.ts';
import { Suggester } from '../completion/suggester.ts';
import { SettingsStore } from '../config/load/store.ts';
import { warmConnection } from '../provider/transport/warm-connection.ts';
import { registerChat } from './chat/lazy-chat.ts';
import { registerCompletionCommands } from './completion/completion-commands.ts';
import { EditorContext } from './completion/completion-context.ts';
import { CompletionSettingsSource } from './completion/completion-settings-source.ts';
import { ExcludedFiles } from './completion/excluded-files.ts';
import { registerInlineCompletions } from './completion/inline-completions.ts';
import { GhostTextWatch } from './completion/next-edit/ghost-text-watch.ts';
import { nextEditModels } from './completion/next-edit/next-edit-model.ts';
import { registerNextEdits } from './completion/next-edit/next-edits-feature.ts';
import { EditorProjectReader } from './completion/project-reader.ts';
import { CompletionStatus } from './completion/status.ts';
import { CompletionSwitch } from './completion/switch.ts';
import { registerConfigurationCommands } from './configuration/configuration-commands.ts';
import { showConfigurationDiagnostics } from './configuration/diagnostics.ts';
import { CONFIGURATION_FILES, configurationInput } from './configuration/input.ts';
import { registerOriginQuestion } from './configuration/origin-question.ts';
import { StoredKeys } from './configuration/stored-keys.ts';
import { EditorTransport } from './editor-transport.ts';
import { registerGatewayCommands } from './gateway/gateway-commands.ts';
import { GatewayProcess } from './gateway/process.ts';
import { Models } from './models/editor-models.ts';
import { registerLanguageModels } from './models/language-models.ts';
import { registerModelPickers } from './models/picker.ts';
import { registerProviderCommands } from './provider/provider-commands.ts';
import { CompetingExtensions } from './setup/competing-extensions.ts';
import { ContextKeys } from './setup/context-keys.ts';
import { offerTerminalCommand, type WindowVariables } from './terminal-command.ts';
import { whenOpened } from './when-opened.ts';

/** Creates all components with their dependencies and registers them for disposal. Reads nothing from disk. */
export function activate(context: vscode.ExtensionContext): void {
  const own = <T extends vscode.Disposable>(part: T): T => {
    context.subscriptions.push(part);
    return part;
  };
  const dist = (...file: string[]) => vscode.Uri.joinPath(context.extensionUri, 'dist', ...file).fsPath;

  const log = own(vscode.window.createOutputChannel('Svc', { log: true }));
  const transport = own(new EditorTransport());
  const store = own(new SettingsStore(configurationInput));
  own(store.onChange(({ localOnly }) => void transport.restrict(localOnly)));
  const keys = own(new StoredKeys(context.secrets));
  const memory = context.globalState;
  const models = own(new Models({ store, keys, transport, log, memory }));

  const settings = own(new CompletionSettingsSource());
  const on = own(new CompletionSwitch());
  const excluded = own(new ExcludedFiles(() => settings.current.exclude, settings.onDidChange));
  const completionSettings = () => (on.snoozing ? { ...settings.current, enabled: false } : settings.current);
  const reader = own(new EditorProjectReader((uri) => excluded.reason(uri) !== undefined));
  const editorContext = new EditorContext(reader, (uri): readonly Snippet[] => nextEdits.recentEdits(uri));
  const suggester = own(
    new Suggester({
      model: () => completionModel(models.completion),
      settings: completionSettings,
      excluded: excluded.reason,
      context: editorContext.source,
      log: (line) => log.info(line),
      warm: () => {
        const { completion } = models;
        if (completion) void warmConnection(completion.endpoint, transport);
      },
      fill: ({ ref }) => {
        const model = models.registry?.find(ref);
        return async function* (fimRequest, signal) {
          if (model === undefined) return;
          const { completeCode } = await import('../provider/complete-code.ts');
          yield* completeCode(model, fimRequest, { transport, signal });
        };
      },
    }),
  );
  const simulated = ({ provider }: Model) => models.registry?.providers.get(provider)?.simulated ?? false;
  own(models.onDidChange(() => suggester.reconsider()));
  own(settings.onDidChange(() => suggester.reconsider()));
  own(excluded.onDidChange(() => suggester.reconsider()));
  own(on.onDidChange(() => suggester.reconsider()));
  const contextKeys = new ContextKeys();
  own(contextKeys.follow(models));
  own(contextKeys.followWalkthrough());
  own(on.onDidChange(() => contextKeys.set('svc.snoozing', on.snoozing)));
  own(suggester.onDidChangeState(({ kind }) => kind === 'asking' && contextKeys.set('svc.completionRequested', true)));
  const accepted = () => contextKeys.set('svc.completionAccepted', true);
  const ghostText = own(new GhostTextWatch());
  const inline = own(
    registerInlineCompletions({
      suggester,
      extension: context.extension.id,
      onAccepted: accepted,
      ghostText,
      nextEdit: (document, position): string | undefined => nextEdits.ghostText(document, position),
    }),
  );
  const nextEdits = own(
    registerNextEdits({
      settings: completionSettings,
      onDidChangeSettings: anyEvent(own, settings.onDidChange, on.onDidChange),
      excluded: excluded.reason,
      completionPending: () => suggester.state.kind === 'asking',
      ...nextEditModels(models, transport),
      limits: suggester.limits,
      log: (line) => log.info(line),
      onDidChangeModels: models.onDidChange,
      ghostText,
      refreshGhostText: inline.refresh,
      setContext: (key, value) => contextKeys.set(key, value),
      media: vscode.Uri.joinPath(context.extensionUri, 'media'),
    }),
  );
  own(editorContext.follow(suggester));
  const status = {
    suggester,
    on,
    simulated,
    providerName: models.providerName,
    model: () => models.completion,
    setup: () => models.setup,
    warnings: () => models.completionWarnings,
    enabled: () => settings.current.enabled,
    nextEdit: nextEdits.description,
    onDidChange: anyEvent(own, models.onDidChange, settings.onDidChange, nextEdits.onDidChange),
  };
  const competing = own(
    new CompetingExtensions({
      memory,
      active: () => settings.current.enabled && models.completion !== undefined,
      onDidChange: status.onDidChange,
    }),
  );
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

  const { cap } = outputCap(process.env);
  // The chat formats are loaded with the first message, because completions do not need them.
  const send: Converse = async function* (model, conversation, signal, choices) {
    const { converse } = await import('../provider/converse.ts');
    yield* converse(model, conversation, { transport, signal, outputCap: cap, served: models.served, ...choices });
  };
  const chatDeps = {
    extension: context.extensionUri,
    drafts: context.workspaceState,
    storage: context.globalStorageUri,
    log,
    newId: randomUUID,
    now: Date.now,
    onModelChange: models.onDidChange,
    converse: whenAnswered(send, () => contextKeys.set('svc.chatAnswered', true)),
    outputCap: cap,
    localOnly: () => transport.isRestricted,
    setup: () => models.setup,
    providerName: models.providerName,
    model: (wanted?: string) => {
      const named = wanted === undefined ? undefined : models.named(wanted);
      const model = named ?? models.chat;
      if (!model) return undefined;
      const { ref, name, provider } = model;
      const variant = named ? undefined : models.chatVariant;
      const chosen = variant === undefined ? {} : { variant };
      return { model, label: { ref, name, provider, simulated: simulated(model), ...chosen } };
    },
  };
  own(registerChat(async () => new (await import('./chat/chat-view.ts')).ChatView(chatDeps)));

  own(
    registerLanguageModels({
      models: () => [...(models.registry?.models.values() ?? [])],
      onDidChange: models.onDidChange,
      converse: send,
      outputCap: cap,
      providerName: ({ provider }) => models.providerName(provider),
    }),
  );

  const windowVariables = serveKeys(keys, own, log);
  const gateway = own(
    new GatewayProcess({
      windowVariables,
      cli: dist('cli.js'),
      secrets: context.secrets,
      log,
      port: () => vscode.workspace.getConfiguration('svc.gateway').get('port', 0),
      keep: () => vscode.workspace.getConfiguration('svc.gateway').get('keepRunning', false),
      memory,
      storage: context.globalStorageUri,
    }),
  );
  own(registerGatewayCommands(gateway, dist('cli.js')));
  own(
    gateway.onDidChange(({ kind }) => contextKeys.set('svc.gatewayRunning', kind === 'running' || kind === 'starting')),
  );
  void gateway.adopt();
  own(registerModelPickers(models));
  own(registerConfigurationCommands(models, keys));
  const storage = context.globalStorageUri;
  own(registerProviderCommands({ extension: context.extensionUri, models, store, keys, transport, log, storage }));
  own(registerOriginQuestion(models));
  own(vscode.commands.registerCommand('svc.log.show', () => log.show()));
  own(offerTerminalCommand(context.environmentVariableCollection, dist('bin'), windowVariables));
  own(refreshOnChange(store));
  own(showConfigurationDiagnostics(store, models, log));
  own(
    whenOpened(CONFIGURATION_FILES, async () => {
      const { registerConfigurationLanguage } = await import('./configuration/language.ts');
      return registerConfigurationLanguage({ models, transport });
    }),
  );

  void loadInitially(store, models, log);
}

/** Listens for `svc` in the terminals of this window. */
async function serveKeys(
  keys: StoredKeys,
  own: (part: vscode.Disposable) => vscode.Disposable,
  log: vscode.LogOutputChannel,
): Promise<WindowVariables> {
  try {
    const { serveWindowKeys, WINDOW_SOCKET, WINDOW_TOKEN } = await import('../provider/window-keys.ts');
    const server = await serveWindowKeys(() => keys.all());
    own(server);
    own(keys.onDidChange(() => server.changed()));
    return { [WINDOW_SOCKET]: server.socket, [WINDOW_TOKEN]: server.token };
  } catch (error) {
    log.warn(`The keys of this window are not available in its terminals: ${String(error)}`);
    return {};
  }
}

/** The first load. Runs after activation has returned. */
async function loadInitially(store: SettingsStore, models: Models, log: vscode.LogOutputChannel): Promise<void> {
  try {
    // Watch first, so that changes during the first read are not missed.
    await store.watch();
    await store.refresh();
    await models.rebuild();
    // Load the code before the first suggestion needs it.
    await import('../provider/complete-code.ts');
  } catch (error) {
    log.error('The settings could not be read.', String(error));
  }
}

/** Settings depend on VS Code settings, workspace folders and workspace trust. */
function refreshOnChange(store: SettingsStore): vscode.Disposable {
  const refresh = () => void store.refresh();
  return vscode.Disposable.from(
    vscode.workspace.onDidChangeConfiguration((event) => event.affectsConfiguration('svc') && refresh()),
    vscode.workspace.onDidChangeWorkspaceFolders(refresh),
    vscode.workspace.onDidGrantWorkspaceTrust(refresh),
  );
}

/** Calls `answered` after an answer without an error. */
function whenAnswered(send: Converse, answered: () => void): Converse {
  return async function* (...request) {
    for await (const event of send(...request)) {
      if (event.type === 'finish') answered();
      yield event;
    }
  };
}

function completionModel(model: Model | undefined) {
  if (!model) return undefined;
  const { ref, limit, cost } = model;
  return { ref, contextTokens: limit.context, ...(cost === undefined ? {} : { cost }) };
}

function anyEvent(
  own: <T extends vscode.Disposable>(part: T) => T,
  ...events: vscode.Event<void>[]
): vscode.Event<void> {
  const emitter = own(new vscode.EventEmitter<void>());
  for (const event of events) own(event(() => emitter.fire()));
  return emitter.event;
}
