import * as vscode from 'vscode';
import { SettingsStore } from '../config/load/store.ts';
import { registerChat } from './chat/lazy-chat.ts';
import { CompletionSettingsSource } from './completion/completion-settings-source.ts';
import { registerCompletions } from './completion/completions-feature.ts';
import { ExcludedFiles } from './completion/excluded-files.ts';
import { registerConfigurationCommands } from './configuration/configuration-commands.ts';
import { showConfigurationDiagnostics } from './configuration/diagnostics.ts';
import { CONFIGURATION_FILES, configurationInput } from './configuration/input.ts';
import { registerOriginQuestion } from './configuration/origin-question.ts';
import { StoredKeys } from './configuration/stored-keys.ts';
import { EditorTransport } from './editor-transport.ts';
import { registerGateway } from './gateway/gateway-feature.ts';
import { KeptTexts } from './kept-texts.ts';
import { converseWith } from './models/converse-with.ts';
import { Models } from './models/editor-models.ts';
import { registerLanguageModels } from './models/language-models.ts';
import { registerModelPickers } from './models/picker.ts';
import { registerProviderCommands } from './provider/provider-commands.ts';
import { SentToday } from './sent-today.ts';
import { ContextKeys } from './setup/context-keys.ts';
import { whenOpened } from './when-opened.ts';

let chat: ReturnType<typeof registerChat> | undefined;

/** VS Code waits for it, up to five seconds, when the window is closed or loaded again. It disposes of the rest itself. */
export function deactivate(): Promise<void> | undefined {
  return chat?.close();
}

/** Creates all components with their dependencies and registers them for disposal. Reads nothing from disk. */
export function activate(context: vscode.ExtensionContext): void {
  const own = <T extends vscode.Disposable>(part: T): T => {
    context.subscriptions.push(part);
    return part;
  };
  const { extension, extensionUri, globalState: memory, globalStorageUri: storage } = context;

  const log = own(vscode.window.createOutputChannel('Svc', { log: true }));
  const reports = own(new KeptTexts('svc-report'));
  const sent = new SentToday(memory);
  const transport = own(new EditorTransport(sent));
  const store = own(new SettingsStore(configurationInput));
  own(store.onChange(({ localOnly }) => void transport.restrict(localOnly)));
  const keys = own(new StoredKeys(context.secrets));
  const models = own(new Models({ store, keys, transport: transport.for('lists'), log, memory }));
  const contextKeys = new ContextKeys();
  own(contextKeys.follow(models));
  own(contextKeys.followWalkthrough());

  const configured = own(new CompletionSettingsSource());
  const excluded = own(new ExcludedFiles(() => configured.current.exclude, configured.onDidChange));
  own(
    registerCompletions({
      extension,
      models,
      transport: transport.for('completions'),
      log,
      memory,
      contextKeys,
      configured,
      excluded,
    }),
  );

  const converse = converseWith(models, transport.for('chat'));
  const answered = () => contextKeys.set('svc.chatAnswered', true);
  chat = own(registerChat({ context, models, transport: transport.for('web'), converse, log, excluded, answered }));
  own(registerLanguageModels(models, converseWith(models, transport.for('extensions'))));

  own(registerGateway({ context, keys, log, contextKeys, reports }));

  own(registerModelPickers(models, chat.listed));
  own(registerConfigurationCommands(models, keys));
  own(
    registerProviderCommands({
      extension: extensionUri,
      models,
      store,
      keys,
      transport: transport.for('provider'),
      log,
      storage,
    }),
  );
  own(registerOriginQuestion(models));
  own(vscode.commands.registerCommand('svc.log.show', () => log.show()));
  own(vscode.commands.registerCommand('svc.sent.show', () => sent.show(reports)));
  own(refreshOnChange(store));
  own(showConfigurationDiagnostics(store, models, log));
  own(
    whenOpened(CONFIGURATION_FILES, async () => {
      const { registerConfigurationLanguage } = await import('./configuration/language.ts');
      return registerConfigurationLanguage({ models, transport: transport.for('provider') });
    }),
  );

  void loadInitially(store, models, log);
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
