import * as vscode from 'vscode';
import { DisposableStore } from '../../base/disposable-store.ts';
import type { Model } from '../../catalog/model.ts';
import type { ModelSetup } from '../../catalog/model-setup.ts';
import type { Suggester } from '../../completion/suggester.ts';
import type { SuggesterState } from '../../completion/suggester-state.ts';
import { retryMessage } from '../../wire/errors/retry-message.ts';
import type { SvcError } from '../../wire/errors/svc-error.ts';
import { errorText, translate } from '../error-text.ts';
import { setupText } from '../setup/setup-menu.ts';
import { describeRefusal, usageLine } from './status-text.ts';
import type { CompletionSwitch } from './switch.ts';

export interface CompletionStatusDeps {
  readonly suggester: Suggester;
  readonly model: () => Model | undefined;
  readonly setup: () => ModelSetup;
  /** Problems of the configured completion model, such as a name that does not exist. */
  readonly warnings: () => readonly SvcError[];
  readonly simulated: (model: Model) => boolean;
  /** The display name of a provider. */
  readonly providerName: (id: string) => string;
  readonly enabled: () => boolean;
  readonly on: CompletionSwitch;
  /** The next edit on screen, in a sentence. */
  readonly nextEdit: () => string | undefined;
  /** Fires when the model or a setting changed. */
  readonly onDidChange: vscode.Event<void>;
}

export type CompletionProblem = Extract<SuggesterState, { kind: 'problem' }>;

/** Shows the state of completions in the status bar, so that no message interrupts typing. */
export class CompletionStatus implements vscode.Disposable {
  readonly #deps: CompletionStatusDeps;
  readonly #item: vscode.StatusBarItem;
  readonly #language: vscode.LanguageStatusItem;
  readonly #disposables = new DisposableStore();
  /** Draws the remaining seconds of a wait. */
  #countdown: NodeJS.Timeout | undefined;

  constructor(deps: CompletionStatusDeps) {
    this.#deps = deps;
    this.#item = vscode.window.createStatusBarItem('svc.completion', vscode.StatusBarAlignment.Right, 100);
    this.#item.name = vscode.l10n.t('Svc Completions');
    this.#item.command = 'svc.completion.menu';
    this.#language = vscode.languages.createLanguageStatusItem('svc.completion', { pattern: '**' });
    this.#language.name = vscode.l10n.t('Svc Completions');
    const draw = () => this.#draw();
    this.#disposables.add(
      this.#item,
      this.#language,
      new vscode.Disposable(() => clearTimeout(this.#countdown)),
      deps.suggester.onDidChangeState(draw),
      deps.onDidChange(draw),
      deps.on.onDidChange(draw),
    );
    draw();
    this.#item.show();
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  #draw(): void {
    const { suggester } = this.#deps;
    const view = this.#withNextEdit(this.#view(suggester.state));
    this.#item.text = view.text;
    this.#item.tooltip = [view.tooltip, usageLine(suggester.counts, suggester.latency)].filter(Boolean).join('\n');
    this.#item.accessibilityInformation = { label: `Svc: ${view.tooltip}` };
    this.#language.text = this.#deps.model()?.name ?? vscode.l10n.t('No completion model');
    this.#language.detail = view.tooltip;
    this.#language.severity = view.warning
      ? vscode.LanguageStatusSeverity.Warning
      : vscode.LanguageStatusSeverity.Information;
    this.#language.command = { command: 'svc.completion.menu', title: vscode.l10n.t('Options') };
    this.#item.backgroundColor = view.warning ? new vscode.ThemeColor('statusBarItem.warningBackground') : undefined;
    this.#drawAgain(suggester.state);
  }

  #drawAgain(state: SuggesterState): void {
    clearTimeout(this.#countdown);
    if (state.kind !== 'problem' || !this.#deps.suggester.retryInMs) return;
    this.#countdown = setTimeout(() => this.#draw(), 1000);
  }

  #view(state: SuggesterState): View {
    const model = this.#deps.model();
    if (!model && this.#deps.setup().kind !== 'ready') return setupView(this.#deps.setup());
    if (!this.#deps.enabled()) return plain('$(circle-slash) Svc', vscode.l10n.t('Completions are off.'));
    if (this.#deps.on.snoozing) {
      const minutes = Math.ceil(this.#deps.on.remaining / 60_000);
      return plain('$(bell-slash) Svc', vscode.l10n.t('Completions are snoozed for {0} more minutes.', minutes));
    }
    const [problem] = this.#deps.warnings();
    const warning = problem && translate(problem.text);
    if (!model)
      return { ...plain('$(plug) Svc', warning ?? selectable({ kind: 'ready' })), warning: warning !== undefined };
    const view = this.#stateView(state, model);
    return warning === undefined || view.warning
      ? view
      : { text: '$(warning) Svc', tooltip: `${warning}\n${view.tooltip}`, warning: true };
  }

  /** The icon changes and not the width, so that the other items do not move. */
  #withNextEdit(view: View): View {
    const edit = this.#deps.nextEdit();
    if (edit === undefined) return view;
    const text = view.warning ? view.text : view.text.replace('$(sparkle)', '$(arrow-circle-right)');
    return { ...view, text, tooltip: `${edit}\n${view.tooltip}` };
  }

  #stateView(state: SuggesterState, model: Model): View {
    const mark = this.#deps.simulated(model) ? ` ${vscode.l10n.t('simulated')}` : '';
    const named = `${model.name}${mark}`;
    const idle = `$(sparkle) Svc${mark}`;
    switch (state.kind) {
      case 'asking':
        return plain(`$(loading~spin) Svc${mark}`, vscode.l10n.t('Waiting for {0}', named));
      case 'no-model':
        return plain('$(plug) Svc', selectable({ kind: 'ready' }));
      case 'problem':
        return { ...plain('$(warning) Svc', problemText(state, this.#deps)), warning: true };
      case 'budget-spent':
        return { ...plain('$(credit-card) Svc', vscode.l10n.t('The budget of this hour is spent.')), warning: true };
      case 'silent':
        return plain(idle, vscode.l10n.t('No completions here: {0}', describeRefusal(state.why)));
      case 'ready':
        return plain(idle, vscode.l10n.t('Completions by {0}', named));
    }
  }
}

interface View {
  readonly text: string;
  readonly tooltip: string;
  readonly warning: boolean;
}

function setupView(setup: ModelSetup): View {
  if (setup.kind === 'loading') return plain('$(sparkle) Svc', setupText(setup));
  // Another item shows that the key is withheld: origin-question.ts.
  if (setup.kind === 'withheld') return plain('$(shield) Svc', selectable(setup));
  return plain(`$(plug) ${vscode.l10n.t('Set up Svc')}`, selectable(setup));
}

function selectable(setup: ModelSetup): string {
  return `${setupText(setup)} ${vscode.l10n.t('Select to see the options.')}`;
}

function plain(text: string, tooltip: string): View {
  return { text, tooltip, warning: false };
}

/** The failure, its provider, and the time of the next request. */
export function problemText(
  { error }: CompletionProblem,
  { suggester, providerName }: Pick<CompletionStatusDeps, 'suggester' | 'providerName'>,
): string {
  const name = error.provider === undefined ? undefined : providerName(error.provider);
  const text = errorText(error, name);
  const message = name === undefined || text.includes(name) ? text : `${name}: ${text}`;
  const wait = suggester.retryInMs;
  return wait ? `${translate(retryMessage(error, Math.ceil(wait / 1000)))}\n${message}` : message;
}
