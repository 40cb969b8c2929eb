import * as vscode from 'vscode';
import type { Model } from '../../catalog/model.ts';
import { isLanguageEnabled } from '../../completion/trigger/trigger.ts';
import type { SvcError } from '../../wire/errors/svc-error.ts';
import { translate } from '../error-text.ts';
import { choiceIn } from '../quick-input.ts';
import { type CommandItem, commandItem, SEPARATOR, setupItems, setupText } from '../setup/setup-menu.ts';
import { type CompletionStatusDeps, problemText } from './status.ts';

export interface StatusMenuDeps extends CompletionStatusDeps {
  /** Entries about other extensions that complete code. */
  readonly competitors: () => Promise<readonly CommandItem[]>;
}

/**
 * The menu of the status bar item. Entries that need attention come first. While it is open, it follows the models: what
 * can be done with them is shown as soon as they are read, and after a change of the configuration.
 */
export async function showStatusMenu(deps: StatusMenuDeps): Promise<void> {
  const picker = vscode.window.createQuickPick<CommandItem>();
  picker.title = vscode.l10n.t('Svc completions');
  let drawn = '';
  const draw = async () => {
    // An equal list would lose the row that the user is at.
    const state = `${deps.setup().kind} ${deps.model()?.ref}`;
    if (state === drawn) return;
    drawn = state;
    const competitors = await deps.competitors();
    picker.placeholder = menuHeading(deps);
    picker.items = [...competitors, ...statusItems(deps)];
  };
  const changes = deps.onDidChange(draw);
  let chosen: CommandItem | undefined;
  try {
    await draw();
    chosen = await choiceIn<CommandItem>(picker, (finish) =>
      picker.onDidAccept(() => finish(picker.activeItems[0] ?? picker.selectedItems[0])),
    );
  } finally {
    changes.dispose();
    picker.dispose();
  }
  await chosen?.run?.();
}

function menuHeading({ model, setup, warnings }: StatusMenuDeps): string {
  const [warning] = warnings();
  if (warning !== undefined) return translate(warning.text);
  const chosen = model();
  return chosen ? vscode.l10n.t('Completions by {0}', chosen.name) : setupText(setup());
}

function statusItems(deps: StatusMenuDeps): readonly CommandItem[] {
  const { t } = vscode.l10n;
  return [
    ...(deps.model() ? [] : [...setupItems(deps.setup()), SEPARATOR]),
    ...problemItems(deps),
    ...warningItems(deps),
    ...(deps.model() ? [...switchItems(deps), SEPARATOR] : []),
    ...(deps.model() || deps.setup().kind !== 'none' ? providerItems() : []),
    commandItem(`$(json) ${t('Open svc.jsonc')}`, 'svc.config.open'),
    SEPARATOR,
    ...(deps.suggester.counts.requests === 0 ? [] : reportItems()),
    commandItem(`$(output) ${t('Show the log')}`, 'svc.log.show'),
  ];
}

/** Entries that can do something only if there is a provider. */
function providerItems(): readonly CommandItem[] {
  const { t } = vscode.l10n;
  return [
    commandItem(`$(sparkle) ${t('Choose the completion model…')}`, 'svc.completion.pickModel'),
    commandItem(`$(lightbulb-sparkle) ${t('Choose the model for next edits…')}`, 'svc.nextEdit.pickModel'),
    commandItem(`$(key) ${t('Set the key of a provider…')}`, 'svc.key.set'),
  ];
}

/** Entries for the current problem: its solution, then a new attempt. */
function problemItems(deps: StatusMenuDeps): readonly CommandItem[] {
  const { t } = vscode.l10n;
  const { state } = deps.suggester;
  const model = deps.model();
  if (state.kind !== 'problem' || !model) return [];
  const detail = problemText(state, deps).replaceAll('\n', ' · ');
  const again: CommandItem = { label: `$(refresh) ${t('Try again now')}`, run: () => tryAgain(deps) };
  const stop = commandItem(`$(debug-stop) ${t('Stop retrying: turn completions off')}`, 'svc.completion.toggle');
  const other = commandItem(`$(sparkle) ${t('Use another model…')}`, 'svc.completion.pickModel');
  const [first, ...rest] = state.needsUser ? [fix(state.error, model, deps), again] : [again, stop, other];
  return [...(first ? [{ ...first, detail }] : []), ...rest, SEPARATOR];
}

/** VS Code drops the suggestion of an editor without the focus, and this menu has it until it is closed. */
async function tryAgain({ suggester }: StatusMenuDeps): Promise<void> {
  await vscode.commands.executeCommand('workbench.action.focusActiveEditorGroup');
  suggester.reconsider();
}

/** The entry that most likely solves a problem that waiting does not. */
function fix(error: SvcError, model: Model, { providerName }: StatusMenuDeps): CommandItem {
  const { t } = vscode.l10n;
  const name = providerName(model.provider);
  if (model.endpoint.withheld !== undefined) {
    return commandItem(
      `$(shield) ${t('Decide whether to send the key of {0}…', name)}`,
      'svc.origin.review',
      model.provider,
    );
  }
  switch (error.errorType) {
    case 'authentication_required':
      return commandItem(`$(key) ${t('Set the key of {0}…', name)}`, 'svc.key.set', model.provider);
    case 'configuration_error':
    case 'invalid_path':
    case 'method_not_allowed':
    case 'upstream_invalid_response':
      return commandItem(`$(edit) ${t('Edit {0}…', name)}`, 'svc.provider.edit', model.provider);
    default:
      return commandItem(`$(sparkle) ${t('Use another model…')}`, 'svc.completion.pickModel');
  }
}

function warningItems({ warnings }: StatusMenuDeps): readonly CommandItem[] {
  return warnings().map(({ text }) => ({
    ...commandItem(`$(warning) ${vscode.l10n.t('Correct the completion model…')}`, 'svc.config.open'),
    detail: translate(text),
  }));
}

function switchItems({ on, enabled }: StatusMenuDeps): readonly CommandItem[] {
  const { t } = vscode.l10n;
  return [
    commandItem(
      enabled() ? `$(circle-slash) ${t('Turn completions off')}` : `$(check) ${t('Turn completions on')}`,
      'svc.completion.toggle',
    ),
    ...languageItems(),
    on.snoozing
      ? commandItem(`$(bell) ${t('End the snooze')}`, 'svc.completion.wake')
      : commandItem(`$(bell-slash) ${t('Snooze…')}`, 'svc.completion.snooze'),
  ];
}

function reportItems(): readonly CommandItem[] {
  const { t } = vscode.l10n;
  return [
    commandItem(`$(graph) ${t('Show requests, tokens and cost')}`, 'svc.completion.showCost'),
    commandItem(`$(eye) ${t('Show the last request')}`, 'svc.completion.showLastRequest'),
  ];
}

/** The toggle for the language of the active editor, with its current state. */
function languageItems(): readonly CommandItem[] {
  const { t } = vscode.l10n;
  const language = vscode.window.activeTextEditor?.document.languageId;
  if (language === undefined) return [];
  const languages = vscode.workspace.getConfiguration('svc.completion').get<Record<string, boolean>>('languages', {});
  const on = isLanguageEnabled(language, languages);
  return [
    {
      ...commandItem(
        on ? `$(code) ${t('Turn off in {0}', language)}` : `$(code) ${t('Turn on in {0}', language)}`,
        'svc.completion.toggleLanguage',
      ),
      description: on ? t('now on') : t('now off'),
    },
  ];
}
