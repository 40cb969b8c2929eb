import * as vscode from 'vscode';
import type { GatewayProcess } from './gateway-process.ts';

/** Start, stop, and what other tools need to use the local gateway. */
export function registerGatewayCommands(gateway: GatewayProcess): vscode.Disposable {
  const item = vscode.window.createStatusBarItem('svc.gateway', vscode.StatusBarAlignment.Right, 99);
  item.name = vscode.l10n.t('Svc Gateway');
  item.command = 'svc.gateway.copyEnvironment';
  const draw = () => drawState(item, gateway);
  return vscode.Disposable.from(
    item,
    gateway.onDidChange(draw),
    vscode.commands.registerCommand('svc.gateway.start', () => start(gateway)),
    vscode.commands.registerCommand('svc.gateway.stop', () => gateway.stop()),
    vscode.commands.registerCommand('svc.gateway.copyEnvironment', () => copyEnvironment(gateway)),
  );
}

async function start(gateway: GatewayProcess): Promise<string | undefined> {
  const copy = vscode.l10n.t('Copy Environment');
  try {
    const url = await gateway.start();
    void vscode.window
      .showInformationMessage(vscode.l10n.t('The gateway listens on {0}.', url), copy)
      .then((choice) => (choice === copy ? copyEnvironment(gateway) : undefined));
    return url;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const log = vscode.l10n.t('Show Log');
    void vscode.window
      .showErrorMessage(vscode.l10n.t('The gateway did not start: {0}', reason), log)
      .then((choice) => (choice === log ? vscode.commands.executeCommand('svc.log.show') : undefined));
    return undefined;
  }
}

async function copyEnvironment(gateway: GatewayProcess): Promise<void> {
  const url = gateway.state.kind === 'running' ? gateway.state.url : await start(gateway);
  if (url === undefined) return;
  const key = await gateway.key();
  const lines = [
    `export OPENAI_BASE_URL=${url}/v1`,
    `export OPENAI_API_KEY=${key}`,
    `export ANTHROPIC_BASE_URL=${url}`,
    `export ANTHROPIC_API_KEY=${key}`,
  ];
  await vscode.env.clipboard.writeText(`${lines.join('\n')}\n`);
  void vscode.window.setStatusBarMessage(vscode.l10n.t('The gateway’s environment is in the clipboard.'), 4000);
}

function drawState(item: vscode.StatusBarItem, gateway: GatewayProcess): void {
  const { state } = gateway;
  switch (state.kind) {
    case 'stopped':
      item.hide();
      return;
    case 'starting':
      item.text = '$(loading~spin) Gateway';
      item.tooltip = vscode.l10n.t('The gateway is starting.');
      break;
    case 'running':
      item.text = '$(radio-tower) Gateway';
      item.tooltip = vscode.l10n.t(
        'The gateway listens on {0}. Select to copy the environment for other tools.',
        state.url,
      );
      break;
    case 'failed':
      item.text = '$(warning) Gateway';
      item.tooltip = vscode.l10n.t('The gateway ended: {0}', state.reason);
      break;
  }
  item.show();
}
