import * as vscode from 'vscode';
import type { Suggester } from '../../completion/suggester.ts';
import { isLanguageEnabled } from '../../completion/trigger/trigger.ts';
import { errorText } from '../error-text.ts';
import { LastRequestDocument, showCost } from './reports.ts';
import type { CompletionSwitch } from './switch.ts';

export interface CompletionCommandDeps {
  readonly suggester: Suggester;
  readonly on: CompletionSwitch;
  /** Sends a manual request at the caret. */
  readonly trigger: () => Promise<void>;
}

const MINUTE = 60_000;

/** Registers the commands for inline completions. Some are aliases of VS Code commands. */
export function registerCompletionCommands({ suggester, on, trigger }: CompletionCommandDeps): vscode.Disposable {
  const register = vscode.commands.registerCommand;
  const alias = (id: string, editor: string) => register(id, () => vscode.commands.executeCommand(editor));
  const lastRequest = new LastRequestDocument(suggester);
  return vscode.Disposable.from(
    lastRequest,
    register('svc.completion.trigger', trigger),
    alias('svc.completion.next', 'editor.action.inlineSuggest.showNext'),
    alias('svc.completion.previous', 'editor.action.inlineSuggest.showPrevious'),
    alias('svc.completion.accept', 'editor.action.inlineSuggest.commit'),
    alias('svc.completion.acceptWord', 'editor.action.inlineSuggest.acceptNextWord'),
    alias('svc.completion.acceptLine', 'editor.action.inlineSuggest.acceptNextLine'),
    register('svc.completion.dismiss', () => {
      suggester.dismissed();
      return vscode.commands.executeCommand('editor.action.inlineSuggest.hide');
    }),
    register('svc.completion.toggle', toggle),
    register('svc.completion.toggleLanguage', toggleLanguage),
    register('svc.completion.snooze', () => snooze(on)),
    register('svc.completion.wake', () => on.wake()),
    register('svc.completion.showLastRequest', () => lastRequest.show()),
    register('svc.completion.showCost', () => showCost(suggester)),
    register('svc.completion.menu', () => menu(suggester, on)),
  );
}

async function toggle(): Promise<void> {
  const configuration = vscode.workspace.getConfiguration('svc.completion');
  await configuration.update('enabled', !configuration.get('enabled', true), vscode.ConfigurationTarget.Global);
}

/** Turns completions on or off for the language of the active editor. */
async function toggleLanguage(): Promise<void> {
  const language = vscode.window.activeTextEditor?.document.languageId;
  if (language === undefined) return;
  const configuration = vscode.workspace.getConfiguration('svc.completion');
  const languages = configuration.get<Record<string, boolean>>('languages', {});
  const on = isLanguageEnabled(language, languages);
  const changed = { ...languages, [language]: !on };
  await configuration.update('languages', changed, vscode.ConfigurationTarget.Global);
  const text = on
    ? vscode.l10n.t('Completions are off in {0}.', language)
    : vscode.l10n.t('Completions are on in {0}.', language);
  vscode.window.setStatusBarMessage(text, 4000);
}

async function snooze(on: CompletionSwitch): Promise<void> {
  const choice = (minutes: number) => ({ label: vscode.l10n.t('{0} minutes', minutes), minutes });
  const chosen = await vscode.window.showQuickPick([5, 15, 30, 60, 240].map(choice), {
    title: vscode.l10n.t('Snooze completions for'),
  });
  if (chosen) on.snooze(chosen.minutes * MINUTE);
}

interface MenuItem extends vscode.QuickPickItem {
  readonly run?: () => unknown;
}

async function menu(suggester: Suggester, on: CompletionSwitch): Promise<void> {
  const chosen = await vscode.window.showQuickPick(menuItems(suggester, on), {
    title: vscode.l10n.t('Svc completions'),
  });
  await chosen?.run?.();
}

function menuItems(suggester: Suggester, on: CompletionSwitch): MenuItem[] {
  const { state } = suggester;
  const { t } = vscode.l10n;
  const command = (label: string, id: string): MenuItem => ({
    label,
    run: () => vscode.commands.executeCommand(id),
  });
  const enabled = vscode.workspace.getConfiguration('svc.completion').get('enabled', true);
  const language = vscode.window.activeTextEditor?.document.languageId;
  const again: MenuItem[] =
    state.kind === 'problem'
      ? [{ label: `$(refresh) ${t('Try again')}`, detail: errorText(state.error), run: () => suggester.reconsider() }]
      : [];
  return [
    ...again,
    command(
      enabled ? `$(circle-slash) ${t('Turn completions off')}` : `$(check) ${t('Turn completions on')}`,
      'svc.completion.toggle',
    ),
    ...(language === undefined
      ? []
      : [command(`$(code) ${t('Turn on or off in {0}', language)}`, 'svc.completion.toggleLanguage')]),
    on.snoozing
      ? command(`$(bell) ${t('End the snooze')}`, 'svc.completion.wake')
      : command(`$(bell-slash) ${t('Snooze …')}`, 'svc.completion.snooze'),
    { label: '', kind: vscode.QuickPickItemKind.Separator },
    command(`$(sparkle) ${t('Choose the model')}`, 'svc.completion.pickModel'),
    command(`$(key) ${t('Set a provider’s key')}`, 'svc.key.set'),
    command(`$(json) ${t('Open svc.jsonc')}`, 'svc.config.open'),
    { label: '', kind: vscode.QuickPickItemKind.Separator },
    command(`$(graph) ${t('Show requests, tokens and cost')}`, 'svc.completion.showCost'),
    command(`$(eye) ${t('Show the last request')}`, 'svc.completion.showLastRequest'),
    command(`$(output) ${t('Show the log')}`, 'svc.log.show'),
  ];
}
