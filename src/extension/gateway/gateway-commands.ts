import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import * as vscode from 'vscode';
import { showError, showInformation } from '../foreign-text.ts';
import type { KeptTexts } from '../kept-texts.ts';
import { createAdminLink } from './admin-link.ts';
import type { GatewayProcess, ProcessState } from './process.ts';

/** Commands and status bar item of the local gateway. @param cli path of the terminal program. */
export function registerGatewayCommands(gateway: GatewayProcess, cli: string, reports: KeptTexts): vscode.Disposable {
  const item = vscode.window.createStatusBarItem('svc.gateway', vscode.StatusBarAlignment.Right, 99);
  item.name = vscode.l10n.t('Svc Gateway');
  item.command = 'svc.gateway.status';
  const draw = () => drawState(item, gateway);
  return vscode.Disposable.from(
    item,
    gateway.onDidChange(draw),
    vscode.commands.registerCommand('svc.gateway.start', () => start(gateway)),
    vscode.commands.registerCommand('svc.gateway.stop', () => gateway.stop()),
    vscode.commands.registerCommand('svc.gateway.status', () => showStatus(gateway)),
    vscode.commands.registerCommand('svc.gateway.usage', () => openUsage(cli, reports)),
    vscode.commands.registerCommand('svc.gateway.openAdminPage', () => openAdminPage(gateway)),
    vscode.commands.registerCommand('svc.gateway.copyEnvironment', () => copyEnvironment(gateway)),
  );
}

async function start(gateway: GatewayProcess): Promise<string | undefined> {
  const copy = vscode.l10n.t('Copy Environment');
  try {
    const url = await gateway.start();
    void showInformation(vscode.l10n.t('The gateway listens on {0}.', url), copy).then((choice) =>
      choice === copy ? copyEnvironment(gateway) : undefined,
    );
    return url;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const log = vscode.l10n.t('Show Log');
    void showError(vscode.l10n.t('The gateway did not start: {0}', reason), log).then((choice) =>
      choice === log ? vscode.commands.executeCommand('svc.log.show') : undefined,
    );
    return undefined;
  }
}

/** Shows the state and the available actions in a list. */
async function showStatus(gateway: GatewayProcess): Promise<void> {
  const { state } = gateway;
  const item = (label: string, command: string) => ({ label, command });
  const running = state.kind === 'running' || state.kind === 'starting';
  const items = [
    ...(running
      ? [
          item(`$(copy) ${vscode.l10n.t('Copy Environment')}`, 'svc.gateway.copyEnvironment'),
          item(`$(dashboard) ${vscode.l10n.t('Open Admin Page')}`, 'svc.gateway.openAdminPage'),
          item(`$(debug-stop) ${vscode.l10n.t('Stop')}`, 'svc.gateway.stop'),
        ]
      : [item(`$(play) ${vscode.l10n.t('Start')}`, 'svc.gateway.start')]),
    item(`$(graph) ${vscode.l10n.t('Open Usage')}`, 'svc.gateway.usage'),
    item(`$(output) ${vscode.l10n.t('Show Log')}`, 'svc.log.show'),
  ];
  const options = { title: vscode.l10n.t('Svc Gateway'), placeHolder: describeState(state) };
  const chosen = await vscode.window.showQuickPick(items, options);
  if (chosen) await vscode.commands.executeCommand(chosen.command);
}

function describeState(state: ProcessState): string {
  switch (state.kind) {
    case 'stopped':
      return vscode.l10n.t('The gateway is not running.');
    case 'starting':
      return vscode.l10n.t('The gateway is starting.');
    case 'running':
      return state.kept
        ? vscode.l10n.t('The gateway listens on {0} and keeps running when the window is closed.', state.url)
        : vscode.l10n.t('The gateway listens on {0}.', state.url);
    case 'failed':
      return vscode.l10n.t('The gateway ended: {0}', state.reason);
  }
}

/** Opens the report of `svc usage` as a document. */
async function openUsage(cli: string, reports: KeptTexts): Promise<void> {
  const env = { ...process.env, ELECTRON_RUN_AS_NODE: '1' };
  const parts = await Promise.all(
    ['model', 'key', 'day'].map(async (by) => {
      const { stdout } = await promisify(execFile)(process.execPath, [cli, 'usage', '--by', by], { env });
      return stdout;
    }),
  );
  await reports.show(vscode.l10n.t('Gateway Usage'), parts.join('\n'));
}

/** Opens the gateway's page in a browser, signed in by a one-time link. Returns its address without the link's token. */
async function openAdminPage(gateway: GatewayProcess): Promise<string | undefined> {
  const url = (await gateway.address()) ?? (await start(gateway));
  if (url === undefined) return undefined;
  const link = await createAdminLink(url, await gateway.key());
  if (link.kind === 'link') {
    await vscode.env.openExternal(vscode.Uri.parse(`${url}${link.path}`, true));
    return `${url}/admin`;
  }
  if (link.kind === 'failed') {
    void showError(vscode.l10n.t('The admin page can’t be opened: {0}', link.reason));
    return undefined;
  }
  const open = vscode.l10n.t('Open Configuration');
  void showInformation(
    vscode.l10n.t('The admin page is off. Set gateway.admin to true in svc.jsonc to turn it on.'),
    open,
  ).then((choice) => (choice === open ? vscode.commands.executeCommand('svc.config.open') : undefined));
  return undefined;
}

async function copyEnvironment(gateway: GatewayProcess): Promise<void> {
  const url = (await gateway.address()) ?? (await start(gateway));
  if (url === undefined) return;
  const key = await gateway.key();
  const lines = [
    `export OPENAI_BASE_URL=${url}/v1`,
    `export OPENAI_API_KEY=${key}`,
    `export ANTHROPIC_BASE_URL=${url}`,
    `export ANTHROPIC_API_KEY=${key}`,
  ];
  await vscode.env.clipboard.writeText(`${lines.join('\n')}\n`);
  void vscode.window.setStatusBarMessage(vscode.l10n.t('Gateway environment copied'), 4000);
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
      item.tooltip = vscode.l10n.t('The gateway listens on {0}.', state.url);
      break;
    case 'failed':
      item.text = '$(warning) Gateway';
      item.tooltip = vscode.l10n.t('The gateway ended: {0}', state.reason);
      break;
  }
  item.show();
}
