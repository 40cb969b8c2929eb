import type { SuggestionCache } from './cache/suggestion-cache.ts';
import type { DisplayedSuggestion, SuggestionDisplay } from './cache/suggestion-display.ts';
import type { CaretView } from './document/caret-view.ts';
import type { Clock } from './document/clock.ts';
import type { CompletionModel, CompletionSettings } from './document/completion-settings.ts';
import { withInsertion } from './document/document-text.ts';
import type { CompletionSender } from './request/completion-sender.ts';

/** Speculation pays for itself if at least this share of recently generated text was accepted. */
const MIN_ACCEPTANCE = 0.6;

/**
 * Whether to send the request for the text after acceptance while a suggestion is still on display.
 * If the user accepts the suggestion, that request costs nothing extra, because it would follow
 * anyway. So if the model has a price, speculate only if the user accepts most suggestions.
 */
function maySpeculate(
  setting: CompletionSettings['speculation'],
  model: CompletionModel,
  level: 'normal' | 'slow' | 'stop',
  acceptance: number,
): boolean {
  if (setting === 'off' || level !== 'normal') return false;
  if (setting === 'on') return true;
  const free = model.cost !== undefined && model.cost.input === 0 && model.cost.output === 0;
  return free || acceptance >= MIN_ACCEPTANCE;
}

/** Requests the continuation of the suggestion on display, if that is complete and speculation is allowed. */
export class Speculation {
  readonly #sender: CompletionSender;
  readonly #cache: SuggestionCache;
  readonly #display: SuggestionDisplay;
  readonly #settings: () => CompletionSettings;
  readonly #clock: Clock;
  readonly #isWanted: (view: CaretView) => boolean;

  /** @param isWanted whether the document still has the text of a view, and completions are on. */
  constructor(
    clock: Clock,
    sender: CompletionSender,
    cache: SuggestionCache,
    display: SuggestionDisplay,
    settings: () => CompletionSettings,
    isWanted: (view: CaretView) => boolean,
  ) {
    this.#clock = clock;
    this.#sender = sender;
    this.#cache = cache;
    this.#display = display;
    this.#settings = settings;
    this.#isWanted = isWanted;
  }

  /** Deferred to a later tick, so that it does not delay showing the suggestion. */
  from(shown: DisplayedSuggestion, view: CaretView): void {
    this.#clock.after(0, () => this.#from(shown, view));
  }

  #from(shown: DisplayedSuggestion, view: CaretView): void {
    const isShown = (): boolean => this.#display.answer === shown.answer && this.#isWanted(view);
    if (!isShown()) return;
    if (!shown.answer.done || view.item !== undefined || !this.#isAllowed(view.model)) return;
    const { text, replaceBefore, replaceAfter } = shown;
    const after = withInsertion(view.document, shown.position, { text, before: replaceBefore, after: replaceAfter });
    const next = { ...after, model: view.model, request: view.request };
    const isKnown = (): boolean =>
      this.#cache.find(next.document, next.position, next.model.ref).some(({ answer }) => answer !== shown.answer);
    if (isKnown()) return;
    void this.#sender.snippets(view).then((snippets) => {
      if (!isShown() || isKnown()) return;
      this.#sender.send(next, snippets, { reason: 'speculation', basis: shown.answer });
    });
  }

  #isAllowed(model: CompletionModel): boolean {
    const { requests } = this.#sender;
    const { budget } = requests;
    const { speculation, budgetPerHour } = this.#settings();
    const level = budget.level(budgetPerHour);
    const isOpen = requests.circuitFor(model).open !== undefined;
    return !isOpen && maySpeculate(speculation, model, level, budget.acceptance());
  }
}
