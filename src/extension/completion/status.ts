import * as vscode from 'vscode';
import { DisposableStore } from '../../base/disposable-store.ts';
import type { Model } from '../../catalog/model.ts';
import type { Suggester } from '../../completion/suggester.ts';
import type { SuggesterState } from '../../completion/suggester-state.ts';
import type { TriggerRefusal } from '../../completion/trigger/trigger.ts';
import { errorText } from '../error-text.ts';
import type { CompletionSwitch } from './switch.ts';

export interface CompletionStatusDeps {
  readonly suggester: Suggester;
  readonly model: () => Model | undefined;
  readonly simulated: (model: Model) => boolean;
  readonly enabled: () => boolean;
  readonly on: CompletionSwitch;
  /** Fires when the model or a setting changed. */
  readonly onDidChange: vscode.Event<void>;
}

/** Shows the state of completions in the status bar, so that no message interrupts typing. */
export class CompletionStatus implements vscode.Disposable {
  readonly #deps: CompletionStatusDeps;
  readonly #item: vscode.StatusBarItem;
  readonly #language: vscode.LanguageStatusItem;
  readonly #disposables = new DisposableStore();

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
    const view = this.#view(this.#deps.suggester.state);
    this.#item.text = view.text;
    this.#item.tooltip = [view.tooltip, ...this.#figures()].join('\n');
    this.#item.accessibilityInformation = { label: view.label };
    this.#language.text = this.#deps.model()?.name ?? vscode.l10n.t('No completion model');
    this.#language.detail = view.tooltip;
    this.#language.severity = view.warning
      ? vscode.LanguageStatusSeverity.Warning
      : vscode.LanguageStatusSeverity.Information;
    this.#language.command = { command: 'svc.completion.menu', title: vscode.l10n.t('Options') };
    this.#item.backgroundColor = view.warning ? new vscode.ThemeColor('statusBarItem.warningBackground') : undefined;
  }

  #figures(): string[] {
    const { latency, counts } = this.#deps.suggester;
    const { requests, cost, acceptedCharacters } = counts;
    if (requests === 0) return [];
    const wait = latency === undefined ? [] : [vscode.l10n.t('{0} ms', Math.round(latency))];
    const money = cost === undefined ? [] : [`$${cost.toFixed(4)}`];
    const { t } = vscode.l10n;
    return [
      [t('{0} requests', requests), t('{0} characters accepted', acceptedCharacters), ...wait, ...money].join(' · '),
    ];
  }

  #view(state: SuggesterState) {
    const model = this.#deps.model();
    const mark = model && this.#deps.simulated(model) ? ` ${vscode.l10n.t('simulated')}` : '';
    const named = model ? `${model.name}${mark}` : vscode.l10n.t('no model');
    if (!this.#deps.enabled()) return plain('$(circle-slash) Svc', vscode.l10n.t('Completions are off.'));
    if (this.#deps.on.snoozing) {
      const minutes = Math.ceil(this.#deps.on.remaining / 60_000);
      return plain('$(bell-slash) Svc', vscode.l10n.t('Completions are snoozed for {0} more minutes.', minutes));
    }
    switch (state.kind) {
      case 'asking':
        return plain(`$(loading~spin) Svc${mark}`, vscode.l10n.t('Waiting for {0}', named));
      case 'no-model':
        return plain(
          '$(plug) Svc',
          vscode.l10n.t('No model that can complete code is set up. Select to see the options.'),
        );
      case 'problem': {
        return { ...plain('$(warning) Svc', errorText(state.error)), warning: true };
      }
      case 'budget-spent':
        return { ...plain('$(credit-card) Svc', vscode.l10n.t('The budget of this hour is spent.')), warning: true };
      case 'silent':
        return plain(`$(sparkle) Svc${mark}`, vscode.l10n.t('No completions here: {0}', describeRefusal(state.why)));
      case 'ready':
        return plain(`$(sparkle) Svc${mark}`, vscode.l10n.t('Completions by {0}', named));
    }
  }
}

function describeRefusal(why: TriggerRefusal): string {
  const { t } = vscode.l10n;
  switch (why) {
    case 'off':
      return t('they are off.');
    case 'language-off':
      return t('they are off for this language.');
    case 'file-off':
      return t('the setting svc.completion.disabledGlobs excludes this file.');
    case 'exclude-setting':
      return t('the setting svc.completion.exclude excludes this file.');
    case 'gitignored':
      return t('a .gitignore file excludes this file.');
    case 'secret-kind':
      return t('files of this kind may contain secrets.');
    case 'outside':
      return t('the file is outside the workspace.');
    case 'unknown-yet':
      return t('the .gitignore files are still being read.');
    case 'several-carets':
      return t('there are several carets.');
    case 'selection':
      return t('text is selected.');
    case 'output':
      return t('they are not available in this kind of document.');
    case 'manual-only':
      return t('they are shown only on request.');
  }
}

function plain(text: string, tooltip: string) {
  return { text, tooltip, label: `Svc: ${tooltip}`, warning: false };
}
