import * as vscode from 'vscode';
import { EFFECTS, type Effect } from '../../../chat/permissions/permission-rules.ts';
import { parseRule, RULE_KINDS } from '../../../chat/permissions/rule-syntax.ts';
import { withoutIcons } from '../../foreign-text.ts';
import { choiceIn, quickInputButton } from '../../quick-input.ts';
import type { StoredRules } from './stored-rules.ts';

/** The rules of the conversation that is shown. */
export interface ConversationRules {
  rules: readonly string[];
}

interface RuleItem extends vscode.QuickPickItem {
  readonly rule?: string;
  /** The rule to remove or change; absent: not a rule. */
  readonly place?: Effect | 'workspace' | 'conversation';
}

/** Lists all rules. The button of a rule revokes it; Enter on the last item adds one. */
export async function managePermissions(
  stored: StoredRules,
  conversation: ConversationRules | undefined,
): Promise<void> {
  const picker = vscode.window.createQuickPick<RuleItem>();
  picker.title = vscode.l10n.t('Permissions of chat tools');
  picker.ignoreFocusOut = true;
  picker.placeholder = vscode.l10n.t(
    'Rules decide which tool calls run without a question. Deny overrides ask, ask overrides allow.',
  );
  const show = () => {
    picker.items = ruleItems(stored, conversation?.rules ?? []);
  };
  show();
  const adds = await choiceIn<true>(picker, (finish) => {
    picker.onDidTriggerItemButton(async ({ item, button }) => {
      if (button === USE_EVERYWHERE && item.rule !== undefined) await stored.add('allow', item.rule);
      await revoke(item, stored, conversation);
      show();
    });
    picker.onDidAccept(() => {
      if (picker.activeItems[0]?.rule === undefined) finish(true);
    });
  });
  if (adds) await addRule(stored);
}

const REVOKE = quickInputButton('trash', vscode.l10n.t('Revoke'));
const USE_EVERYWHERE = quickInputButton('globe', vscode.l10n.t('Allow in All Workspaces'));

function ruleItems(stored: StoredRules, conversation: readonly string[]): readonly RuleItem[] {
  const everywhere = stored.everywhere();
  const items: RuleItem[] = [];
  const add = (heading: string, rules: readonly string[], place: NonNullable<RuleItem['place']>) => {
    if (rules.length === 0) return;
    items.push({ label: heading, kind: vscode.QuickPickItemKind.Separator });
    for (const rule of rules) {
      const description = parseRule(rule) ? '' : invalidText(place);
      const buttons = place === 'workspace' ? [USE_EVERYWHERE, REVOKE] : [REVOKE];
      items.push({ label: withoutIcons(rule), description, buttons, rule, place });
    }
  };
  add(vscode.l10n.t('Allow in this conversation'), conversation, 'conversation');
  add(vscode.l10n.t('Always allow in this workspace'), stored.inWorkspace(), 'workspace');
  for (const effect of EFFECTS) add(effectLabel(effect), everywhere[effect], effect);
  items.push({ label: '', kind: vscode.QuickPickItemKind.Separator });
  items.push({ label: vscode.l10n.t('$(add) Add Rule…'), alwaysShow: true });
  return items;
}

function invalidText(place: RuleItem['place']): string {
  return place === 'ask' || place === 'deny'
    ? vscode.l10n.t('This rule can’t be read. Until you correct it, each call is asked.')
    : vscode.l10n.t('This rule can’t be read and has no effect.');
}

function effectLabel(effect: Effect): string {
  switch (effect) {
    case 'allow':
      return vscode.l10n.t('Always allow');
    case 'ask':
      return vscode.l10n.t('Always ask');
    case 'deny':
      return vscode.l10n.t('Always deny');
  }
}

async function revoke(
  { rule, place }: RuleItem,
  stored: StoredRules,
  conversation: ConversationRules | undefined,
): Promise<void> {
  if (rule === undefined || place === undefined) return;
  if (place === 'workspace') await stored.removeInWorkspace(rule);
  else if (place !== 'conversation') await stored.remove(place, rule);
  else if (conversation) conversation.rules = conversation.rules.filter((one) => one !== rule);
}

async function addRule(stored: StoredRules): Promise<void> {
  const effects = EFFECTS.map((effect) => ({ label: effectLabel(effect), effect }));
  const chosen = await vscode.window.showQuickPick(effects, { title: vscode.l10n.t('Add Rule'), ignoreFocusOut: true });
  if (!chosen) return;
  const rule = await vscode.window.showInputBox({
    title: chosen.label,
    ignoreFocusOut: true,
    prompt: vscode.l10n.t('Examples: {0}', 'command:npm test, edit:src/**, read:*.pem, fetch:https://example.com'),
    validateInput: (text) =>
      text === '' || parseRule(text)
        ? undefined
        : vscode.l10n.t('A rule begins with one of these words: {0}.', RULE_KINDS.map((kind) => `${kind}:`).join(' ')),
  });
  if (rule !== undefined && parseRule(rule)) await stored.add(chosen.effect, rule.trim());
}
