import * as vscode from 'vscode';
import { DisposableStore } from '../../base/disposable-store.ts';
import type { StoredKeys } from '../configuration/stored-keys.ts';
import type { KeptTexts } from '../kept-texts.ts';
import type { ContextKeys } from '../setup/context-keys.ts';
import { offerTerminalCommand, type WindowVariables } from '../terminal-command.ts';
import { registerGatewayCommands } from './gateway-commands.ts';
import { GatewayProcess } from './process.ts';

export interface GatewayFeatureDeps {
  readonly context: vscode.ExtensionContext;
  readonly keys: StoredKeys;
  readonly log: vscode.LogOutputChannel;
  readonly contextKeys: ContextKeys;
  readonly reports: KeptTexts;
}

/** The gateway of this window, and the command `svc` in its terminals. Both get the keys that the window stores. */
export function registerGateway({ context, keys, log, contextKeys, reports }: GatewayFeatureDeps): vscode.Disposable {
  const lifetime = new DisposableStore();
  const dist = (file: string) => vscode.Uri.joinPath(context.extensionUri, 'dist', file).fsPath;
  const setting = <T>(name: string, fallback: T) =>
    vscode.workspace.getConfiguration('svc.gateway').get(name, fallback);
  const windowVariables = serveKeys(keys, lifetime, log);
  const gateway = new GatewayProcess({
    windowVariables,
    cli: dist('cli.js'),
    secrets: context.secrets,
    log,
    port: () => setting('port', 0),
    keep: () => setting('keepRunning', false),
    memory: context.globalState,
    storage: context.globalStorageUri,
  });
  lifetime.add(
    gateway,
    registerGatewayCommands(gateway, dist('cli.js'), reports),
    gateway.onDidChange(({ kind }) => contextKeys.set('svc.gatewayRunning', kind === 'running' || kind === 'starting')),
    offerTerminalCommand(context.environmentVariableCollection, dist('bin'), windowVariables),
  );
  void gateway.adopt();
  return lifetime;
}

/** Listens for `svc` in the terminals of this window. */
async function serveKeys(
  keys: StoredKeys,
  lifetime: DisposableStore,
  log: vscode.LogOutputChannel,
): Promise<WindowVariables> {
  try {
    const { serveWindowKeys, WINDOW_SOCKET, WINDOW_TOKEN } = await import('../../provider/window-keys.ts');
    const server = await serveWindowKeys(() => keys.all());
    lifetime.add(
      server,
      keys.onDidChange(() => server.changed()),
    );
    return { [WINDOW_SOCKET]: server.socket, [WINDOW_TOKEN]: server.token };
  } catch (error) {
    log.warn(`The keys of this window are not available in its terminals: ${String(error)}`);
    return {};
  }
}
