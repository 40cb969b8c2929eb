import * as vscode from 'vscode';
import type { LastEditRequest } from '../../completion/request/request-log.ts';
import { isLanguageEnabled } from '../../completion/trigger/trigger.ts';
import { LastRequestDocument, showCost } from './reports.ts';
import { type StatusMenuDeps, showStatusMenu } from './status-menu.ts';
import type { CompletionSwitch } from './switch.ts';

export interface CompletionCommandDeps extends StatusMenuDeps {
  /** Sends a manual request at the caret. */
  readonly trigger: () => Promise<void>;
  /** Escape on ghost text. Returns true if it was a next edit. */
  readonly rejectNextEdit: () => boolean;
  readonly lastEditRequest: () => LastEditRequest | undefined;
  /** There is no ghost text anymore. */
  readonly hidden: () => void;
}

const MINUTE = 60_000;

/** Registers the commands for inline completions. Some are aliases of VS Code commands. */
export function registerCompletionCommands(deps: CompletionCommandDeps): vscode.Disposable {
  const { suggester, on, trigger } = deps;
  const register = vscode.commands.registerCommand;
  const alias = (id: string, editor: string) => register(id, () => vscode.commands.executeCommand(editor));
  const lastRequest = new LastRequestDocument(() => suggester.lastRequest, deps.lastEditRequest);
  return vscode.Disposable.from(
    lastRequest,
    register('svc.completion.trigger', trigger),
    alias('svc.completion.next', 'editor.action.inlineSuggest.showNext'),
    alias('svc.completion.previous', 'editor.action.inlineSuggest.showPrevious'),
    alias('svc.completion.accept', 'editor.action.inlineSuggest.commit'),
    alias('svc.completion.acceptWord', 'editor.action.inlineSuggest.acceptNextWord'),
    alias('svc.completion.acceptLine', 'editor.action.inlineSuggest.acceptNextLine'),
    register('svc.completion.dismiss', () => {
      if (!deps.rejectNextEdit()) suggester.dismissed();
      deps.hidden();
      return vscode.commands.executeCommand('editor.action.inlineSuggest.hide');
    }),
    register('svc.completion.toggle', toggle),
    register('svc.completion.toggleLanguage', toggleLanguage),
    register('svc.completion.snooze', () => snooze(on)),
    register('svc.completion.wake', () => on.wake()),
    register('svc.completion.showLastRequest', () => lastRequest.show()),
    register('svc.completion.showCost', () => showCost(suggester)),
    register('svc.completion.menu', () => showStatusMenu(deps)),
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
