import * as vscode from 'vscode';
import { originDecisionKey } from '../../catalog/credential-scope.ts';
import type { Provider } from '../../catalog/model.ts';
import { ask, showInformation } from '../foreign-text.ts';
import { type Models, workspaceId } from '../models/editor-models.ts';

/**
 * For a project that redirects a key to another address: shows a status bar item while a provider in use has its key
 * withheld, and a question when it is selected. The key is withheld until the user decides otherwise, only for this
 * workspace and this address.
 */
export function registerOriginQuestion(models: Models): vscode.Disposable {
  const item = vscode.window.createStatusBarItem('svc.origin', vscode.StatusBarAlignment.Right, 98);
  item.name = vscode.l10n.t('Svc: key withheld');
  item.command = 'svc.origin.review';
  item.backgroundColor = new vscode.ThemeColor('statusBarItem.warningBackground');
  const draw = () => drawItem(item, models);
  draw();
  return vscode.Disposable.from(
    item,
    models.onDidChange(draw),
    vscode.commands.registerCommand('svc.origin.review', (id: unknown) => review(models, id)),
  );
}

function drawItem(item: vscode.StatusBarItem, models: Models): void {
  const { decisions } = models;
  const provider = withheldInUse(models).find(
    ({ id, withheld }) => withheld && !decisions.has(originDecisionKey(workspaceId(), id, withheld.to)),
  );
  if (!provider) {
    item.hide();
    return;
  }
  item.text = `$(shield) ${vscode.l10n.t('Key withheld')}`;
  item.tooltip = vscode.l10n.t(
    'This project changes the address of {0}. Select to decide whether to send your key.',
    provider.name,
  );
  item.show();
}

/** The providers whose key is withheld and that are in use, or have no models because their list needs the key. */
function withheldInUse(models: Models): readonly Provider[] {
  const used = new Set([models.chat?.provider, models.completion?.provider]);
  const providers = [...(models.registry?.providers.values() ?? [])];
  return providers.filter(
    ({ id, withheld, models: { size } }) => withheld !== undefined && (used.has(id) || size === 0),
  );
}

async function review(models: Models, id: unknown): Promise<void> {
  const all = [...(models.registry?.providers.values() ?? [])].filter(({ withheld }) => withheld !== undefined);
  const provider = all.find((each) => each.id === id) ?? withheldInUse(models)[0] ?? all[0];
  if (!provider?.withheld) {
    void showInformation(vscode.l10n.t('No key is withheld in this project.'));
    return;
  }
  const { from, to } = provider.withheld;
  const send = vscode.l10n.t('Send It There');
  const deny = vscode.l10n.t('Do Not Send');
  const detail = vscode.l10n.t(
    'Your choice applies to this project and this address. If you do not send the key, requests are sent without it.',
  );
  const question = vscode.l10n.t(
    'This project wants to send your key for {0} to {1} instead of {2}.',
    provider.name,
    to,
    from,
  );
  // Enter activates the first button, which must be the safe one.
  const answer = await ask(question, { detail }, deny, send);
  if (answer === undefined) return;
  await models.decide(originDecisionKey(workspaceId(), provider.id, to), answer === send);
}
