import * as vscode from 'vscode';
import { originDecisionKey } from '../../catalog/credential-scope.ts';
import type { Provider } from '../../catalog/model.ts';
import { digestWaiting } from '../../catalog/registry/trusted-providers.ts';
import type { WaitingChange } from '../../config/settings/project-part.ts';
import { ask, showInformation } from '../foreign-text.ts';
import { type Models, workspaceId } from '../models/editor-models.ts';

/** Changes that the question lists. */
const SHOWN = 12;

/**
 * For a project that changes providers of the user or chooses its own: shows a status bar item while such changes wait,
 * and a question when it is selected. In a project that is allowed, the same for a key that would be sent to another
 * address: it is withheld until the user decides otherwise, only for this workspace and this address.
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
  const { decisions, waiting } = models;
  if (waiting.length > 0 && !decisions.has(waitingKey(waiting))) {
    item.text = `$(shield) ${vscode.l10n.t('Project settings wait')}`;
    item.tooltip = vscode.l10n.t(
      'This project wants to change your providers or to choose its own. Select to see what, and to decide.',
    );
    item.show();
    return;
  }
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

/** The decision about these changes: another key or another value is a new question. */
function waitingKey(waiting: readonly WaitingChange[]): string {
  return originDecisionKey(workspaceId(), '', digestWaiting(waiting));
}

async function reviewProject(models: Models): Promise<void> {
  const { waiting } = models;
  const allow = vscode.l10n.t('Allow This Project');
  const deny = vscode.l10n.t('Do Not Allow');
  const question = vscode.l10n.t('This project wants to change where and how your prompts and code are sent.');
  const shown = waiting.slice(0, SHOWN).map(({ key, path, origin: { source, line } }) => {
    const [only, ...others] = models.settings?.values.at(path) ?? [];
    const value = others.length === 0 && only && !only.secret ? `: ${String(only.value)}` : '';
    return vscode.l10n.t('{0} ({1}, line {2})', `${key}${value}`, vscode.workspace.asRelativePath(source.path), line);
  });
  const more = waiting.length - shown.length;
  const detail = [
    ...shown,
    ...(more > 0 ? [vscode.l10n.t('and {0} more', more)] : []),
    '',
    vscode.l10n.t('Until you allow it, your providers are used as you configured them.'),
  ];
  // Enter activates the first button, which must be the safe one.
  const answer = await ask(question, { detail: detail.join('\n') }, deny, allow);
  if (answer === deny) await models.decide(waitingKey(waiting), false);
  if (answer !== allow) return;
  await models.allowProject();
  if (withheldInUse(models).length > 0) await review(models, undefined);
}

async function review(models: Models, id: unknown): Promise<void> {
  if (models.waiting.length > 0) return reviewProject(models);
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
