import type { SuggestionCache } from './cache/suggestion-cache.ts';
import type { DisplayedSuggestion, SuggestionDisplay } from './cache/suggestion-display.ts';
import type { CaretView } from './document/caret-view.ts';
import type { Clock } from './document/clock.ts';
import type { CompletionModel, CompletionSettings } from './document/completion-settings.ts';
import { withInsertion } from './document/document-text.ts';
import type { CompletionSender } from './request/completion-sender.ts';

/** Share of generated text accepted of late from which on asking ahead pays for itself. */
const PAYS_FROM = 0.6;

/**
 * Whether the request for the state after acceptance may go out while a suggestion is on screen.
 * When it is accepted, that request costs nothing extra: it would have been sent anyway. So where
 * it has a price, it goes out only to a person who accepts most of what they get.
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
  return free || acceptance >= PAYS_FROM;
}

/** Asks for what comes after the suggestion on screen, when that is whole and asking ahead is allowed. */
export class Speculation {
  readonly #sending: CompletionSender;
  readonly #cache: SuggestionCache;
  readonly #screen: SuggestionDisplay;
  readonly #settings: () => CompletionSettings;

  readonly #clock: Clock;

  constructor(
    clock: Clock,
    sending: CompletionSender,
    cache: SuggestionCache,
    screen: SuggestionDisplay,
    settings: () => CompletionSettings,
  ) {
    this.#clock = clock;
    this.#sending = sending;
    this.#cache = cache;
    this.#screen = screen;
    this.#settings = settings;
  }

  /** Later than the tick it is called in: the suggestion on screen comes first. */
  from(shown: DisplayedSuggestion, view: CaretView): void {
    this.#clock.after(0, () => this.#from(shown, view));
  }

  #from(shown: DisplayedSuggestion, view: CaretView): void {
    if (this.#screen.answer !== shown.answer) return;
    if (!shown.answer.done || view.item !== undefined || !this.#isAllowed(view.model)) return;
    const after = withInsertion(view.document, shown.position, { text: shown.text, after: shown.replaceAfter });
    const next = { ...after, model: view.model, request: view.request };
    const isKnown = (): boolean =>
      this.#cache.find(next.document, next.position, next.model.ref).some(({ answer }) => answer !== shown.answer);
    if (isKnown()) return;
    void this.#sending.snippets(view).then((snippets) => {
      if (this.#screen.answer !== shown.answer || isKnown()) return;
      this.#sending.send(next, snippets, { reason: 'speculation', basis: shown.answer });
    });
  }

  #isAllowed(model: CompletionModel): boolean {
    const { governor, circuit } = this.#sending;
    const { speculation, budgetPerHour } = this.#settings();
    const level = governor.level(budgetPerHour);
    return circuit.open === undefined && maySpeculate(speculation, model, level, governor.acceptance());
  }
}
