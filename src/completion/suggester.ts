import type { Disposable } from '../base/disposable-store.ts';
import { Emitter } from '../base/emitter.ts';
import { type CacheLookup, lookUpCache } from './cache/cache-lookup.ts';
import { Dismissals } from './cache/dismissal.ts';
import { GrowthNotifier } from './cache/growth-notifier.ts';
import { type CachedAnswer, SuggestionCache } from './cache/suggestion-cache.ts';
import { type DisplayedSuggestion, displayedSuggestion, SuggestionDisplay } from './cache/suggestion-display.ts';
import { anchorAt } from './document/anchor.ts';
import { type CaretView, caretView } from './document/caret-view.ts';
import { type Clock, delay, systemClock } from './document/clock.ts';
import type { CompletionModel } from './document/completion-settings.ts';
import type { DocumentChange, Suggestion, SuggestRequest } from './document/suggestion.ts';
import { CompletionSender, type CompletionSenderDeps } from './request/completion-sender.ts';
import type { SentRequest } from './request/request-log.ts';
import type { UsageCounts } from './request/usage-budget.ts';
import { Speculation } from './speculation.ts';
import { type SuggesterState, SuggesterStateOwner } from './suggester-state.ts';
import { CompletionGate } from './trigger/completion-gate.ts';
import { canLift, isManualOnly, isWorthRequesting, type TriggerRefusal } from './trigger/trigger.ts';
import { TriggerClassifier } from './trigger/trigger-classifier.ts';

export interface SuggesterDeps extends CompletionSenderDeps {
  /** The model to ask now; `undefined`: none can fill holes. */
  readonly model: () => CompletionModel | undefined;
  /** Opens the connection: the one that was there is likely closed by now, and a request may be near. */
  readonly warm?: () => void;
  readonly clock?: Clock;
}

const NOTHING: readonly Suggestion[] = [];
const ALTERNATIVE_TEMPERATURE = 0.8;

/**
 * The inline completion engine. One for the extension; no `vscode` in it. How a face calls it:
 *
 * - `provideInlineCompletionItems` -> `suggest(request, signal)`, `signal` from the cancellation
 *   token. What is known comes back in the same tick as an array; else a promise, `[]` when there is
 *   nothing or the signal fired. The request that was sent lives on: its answer serves later keys.
 *   Each item's range is the caret's line from `character - replaceBefore` to `character +
 *   replaceAfter`. The first item is the one to show, the rest are the alternatives. One that `asksOn` has the editor
 *   ask again when it was accepted whole.
 * - The active editor changed -> `documentShown`.
 * - `onDidChangeTextDocument` -> `documentChanged`, for the document of the active editor (what a program writes into
 *   others is not a person's typing), before the provider is asked. Acceptance is seen there, whole or in part.
 * - `onDidGrow` -> if the document is still the active one, have the editor ask again and pass
 *   `trigger: 'grown'` for that. The first item then starts with what is on screen.
 * - `onDidReopen` -> likewise, with `automatic`: a place where it could not work may have an answer now.
 * - Escape, wrapped by the face's own command -> `dismissed()`, then hide.
 * - A key, the model or the settings changed, or the person says "try again" -> `reconsider()`.
 */
export class Suggester {
  readonly #deps: SuggesterDeps;
  readonly #clock: Clock;
  readonly #cache = new SuggestionCache();
  readonly #dismissals = new Dismissals();
  readonly #admission: CompletionGate;
  readonly #screen = new SuggestionDisplay();
  readonly #state = new SuggesterStateOwner();
  readonly #intent = new TriggerClassifier();
  readonly #growth: GrowthNotifier;
  readonly #sending: CompletionSender;
  readonly #speculation: Speculation;
  readonly #reopened = new Emitter<[uri: string]>();
  #view: CaretView | undefined;
  #shown: SuggestRequest['document'] | undefined;
  /** The document where the person's last wish came to nothing because it could not work. */
  #turnedAway: string | undefined;

  constructor(deps: SuggesterDeps) {
    this.#deps = deps;
    this.#clock = deps.clock ?? systemClock;
    this.#growth = new GrowthNotifier(this.#clock);
    this.#admission = new CompletionGate(deps);
    const owners = { cache: this.#cache, state: this.#state };
    this.#sending = new CompletionSender(deps, this.#clock, owners, {
      grew: (answer, uri) => {
        const onScreen = () => this.#screen.has(answer);
        if (onScreen()) this.#growth.grew(uri, onScreen);
      },
      landed: (answer, uri, failed) => this.#landed(answer, uri, failed),
    });
    this.#speculation = new Speculation(this.#clock, this.#sending, this.#cache, this.#screen, deps.settings);
  }

  dispose(): void {
    this.#sending.inFlight.stopAll();
    this.#growth.dispose();
    this.#state.dispose();
    this.#reopened.dispose();
    this.#cache.clear();
  }

  get state(): SuggesterState {
    return this.#state.current;
  }

  /** Requests, tokens, price and what was accepted since the start. */
  get counts(): UsageCounts {
    return this.#sending.governor.counts();
  }

  /** Median milliseconds to the first text of late; `undefined` before the first answer. */
  get latency(): number | undefined {
    return this.#sending.pace.measuredLatency;
  }

  /** The last request exactly as it went out. */
  get lastRequest(): SentRequest | undefined {
    return this.#sending.lastRequest;
  }

  /** The suggestion on screen has more text at its end now. */
  onDidGrow(listener: (uri: string) => void): Disposable {
    return this.#growth.onDidGrow(listener);
  }

  /** Nothing could be suggested in this document, and now it may. */
  onDidReopen(listener: (uri: string) => void): Disposable {
    return this.#reopened.event(listener);
  }

  onDidChangeState(listener: (state: SuggesterState) => void): Disposable {
    return this.#state.onDidChange(listener);
  }

  suggest(asked: SuggestRequest, signal: AbortSignal): readonly Suggestion[] | Promise<readonly Suggestion[]> {
    const request = { ...asked, trigger: this.#intent.of(asked) };
    const view = this.#viewOf(request);
    if (view === undefined) return NOTHING;
    const byHand = request.trigger === 'invoke';
    const start = anchorAt(view.document, view.position);
    if (byHand) this.#dismissals.lift(view.document.uri, start);
    const known = this.#known(view);
    if (!byHand && this.#dismissals.covers(view.document.uri, start)) {
      // What is on screen and was typed through to here from elsewhere stays: it isn't what was sent away.
      const current = this.#screen.answer;
      return this.#present(
        view,
        known.shown.filter(({ answer }) => answer === current),
      );
    }
    if (known.shown.length > (byHand ? 1 : 0)) return this.#present(view, known.shown);
    if (known.shown.length === 0) this.#present(view, []);
    return this.#mayAsk(view, known) ? this.#seek(view, signal) : NOTHING;
  }

  /** What is on screen was sent away, with its alternatives: it stays away. */
  dismissed(): void {
    const view = this.#view;
    if (view === undefined) return;
    const { shown, awaited } = this.#known(view);
    const answers = [...shown.map(({ answer }) => answer), ...awaited];
    this.#dismissals.add(view.document.uri, anchorAt(view.document, view.position), answers);
    this.#sending.pace.judged(false);
    this.#screen.put(undefined);
  }

  documentChanged(change: DocumentChange): void {
    this.#sending.pace.edited();
    if (change.uri === this.#shown?.uri) this.#warm();
    const { accepted, used } = this.#screen.changed(change);
    this.#intent.changed(change.uri, { undone: change.reason !== undefined, used });
    if (accepted === 0) return;
    this.#sending.governor.accepted(accepted);
    this.#sending.pace.judged(true);
  }

  /** A document is before the person now: what kept it silent in the one before says nothing of this one. */
  documentShown(document: SuggestRequest['document']): void {
    if (this.#state.current.kind === 'silent') this.#state.become({ kind: 'ready' });
    this.#shown = document;
    this.#warm();
  }

  documentClosed(uri: string): void {
    if (this.#view?.document.uri === uri) this.#view = undefined;
    if (this.#shown?.uri === uri) this.#shown = undefined;
    this.#sending.documentClosed(uri);
  }

  /** Something that kept it from working may have changed: tries again, at once where it was turned away last. */
  reconsider(): void {
    this.#sending.circuit.reset();
    this.#state.become({ kind: 'ready' });
    const uri = this.#turnedAway;
    this.#turnedAway = undefined;
    if (uri !== undefined) this.#reopened.fire(uri);
  }

  #viewOf(request: SuggestRequest): CaretView | undefined {
    this.#turnedAway = undefined;
    const { uri } = request.document;
    const why = this.#admission.silence(request);
    if (why !== undefined) {
      if (canLift(why)) this.#turnedAway = uri;
      return this.#silent(why);
    }
    const model = this.#deps.model();
    if (model === undefined) {
      this.#turnedAway = uri;
      this.#state.become({ kind: 'no-model' });
      return undefined;
    }
    const { kind } = this.#state.current;
    if (kind === 'silent' || kind === 'no-model') this.#state.become({ kind: 'ready' });
    return caretView(request, model);
  }

  #warm(): void {
    const { circuit, pace } = this.#sending;
    if (this.#shown === undefined || circuit.open !== undefined || !pace.cold) return;
    if (this.#deps.model() === undefined || !this.#admission.automatic(this.#shown)) return;
    pace.warmed();
    this.#deps.warm?.();
  }

  #silent(why: TriggerRefusal): undefined {
    this.#screen.put(undefined);
    this.#view = undefined;
    this.#state.become({ kind: 'silent', why });
    return undefined;
  }

  #known(view: CaretView): CacheLookup {
    return lookUpCache(view, { cache: this.#cache, dismissals: this.#dismissals }, this.#screen.answer);
  }

  /** Whether something may be sent or waited for, as far as that can be told in the tick of the key. */
  #mayAsk({ request }: CaretView, { awaited, settled }: CacheLookup): boolean {
    if (request.trigger === 'invoke') return true;
    if (awaited.length > 0) return true;
    if (request.trigger === 'grown') return false;
    if (isManualOnly(request, this.#deps.settings())) {
      this.#state.become({ kind: 'silent', why: 'by-hand-only' });
      return false;
    }
    return !settled && !this.#intent.undone && isWorthRequesting(request);
  }

  async #seek(view: CaretView, signal: AbortSignal): Promise<readonly Suggestion[]> {
    const { inFlight, pace } = this.#sending;
    let mayAsk = view.request.trigger !== 'grown';
    // By hand, where something is known already, the person wants to see another idea as well.
    const wanted = view.request.trigger === 'invoke' && this.#known(view).shown.length > 0 ? 2 : 1;
    for (;;) {
      const known = this.#known(view);
      if (known.shown.length >= wanted) return this.#present(view, known.shown);
      const waiting = known.awaited.map((answer) => inFlight.of(answer)).filter((flight) => flight !== undefined);
      const overdue = this.#clock.now() - pace.overdueAfter;
      if (waiting.length > 0 && !(mayAsk && waiting.every(({ sentAt }) => sentAt <= overdue))) {
        if (!(await inFlight.change(pace.overdueAfter, signal))) return NOTHING;
      } else if (mayAsk) {
        mayAsk = false;
        if (known.settled && view.request.trigger === 'automatic') return NOTHING;
        await this.#ask(view, signal, known.shown.length > 0);
        if (signal.aborted) return NOTHING;
      } else return this.#present(view, known.shown);
    }
  }

  /** Waits as the pace says and sends a request, unless memory has an answer by then. */
  async #ask(view: CaretView, signal: AbortSignal, alternative: boolean): Promise<void> {
    const { governor, inFlight, pace } = this.#sending;
    const settings = this.#deps.settings();
    const level = governor.level(settings.budgetPerHour);
    if (level === 'stop') {
      this.#state.become({ kind: 'budget-spent', roomInMs: governor.roomIn(settings.budgetPerHour) });
      return;
    }
    const byHand = view.request.trigger === 'invoke';
    const accepted = this.#screen.wasAccepted;
    const context = this.#sending.snippets(view);
    const wait = byHand || accepted ? 0 : pace.wait(settings.debounceFloor, level === 'slow');
    if (!(await delay(this.#clock, wait, signal))) return;
    const snippets = await context;
    if (signal.aborted) return;
    // Meanwhile an answer may have come that was on its way.
    const { shown, awaited } = this.#known(view);
    const overdue = this.#clock.now() - pace.overdueAfter;
    const coming = awaited.some((answer) => (inFlight.of(answer)?.sentAt ?? overdue) > overdue);
    if (!byHand && (shown.length > 0 || coming)) return;
    const reason = byHand ? 'invoke' : 'typing';
    const manner = { reason, ...(alternative ? { temperature: ALTERNATIVE_TEMPERATURE } : {}) } as const;
    if (!this.#sending.send(view, snippets, manner)) this.#turnedAway = view.document.uri;
  }

  #landed(answer: CachedAnswer, uri: string, failed: boolean): void {
    if (failed) this.#turnedAway = uri;
    if (!this.#screen.has(answer) || this.#view === undefined) return;
    // What came last may not be on screen yet; asking ahead must start behind it.
    const [whole] = this.#known(this.#view).shown;
    if (whole?.answer === answer) this.#speculation.from(whole, this.#view);
  }

  #present(view: CaretView, known: readonly DisplayedSuggestion[]): readonly Suggestion[] {
    this.#view = view;
    const [first] = known;
    if (first === undefined) {
      if (!this.#screen.wasAccepted) this.#screen.put(undefined);
      return NOTHING;
    }
    if (this.#screen.answer !== first.answer) {
      this.#sending.governor.showed();
      this.#growth.began();
    }
    if (!first.answer.seen) this.#sending.pace.judged(true);
    this.#screen.put(first);
    for (const { answer } of known) answer.seen = true;
    this.#speculation.from(first, view);
    return known.map((shown) => displayedSuggestion(shown, view, this.#intent.asksOn));
  }
}
