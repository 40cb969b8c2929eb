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
import { type Position, textHead } from './document/document-text.ts';
import type { DocumentChange, Suggestion, SuggestRequest } from './document/suggestion.ts';
import type { Snippet } from './prompt/context.ts';
import type { OpenCircuit } from './request/circuit-breaker.ts';
import { CompletionSender, type CompletionSenderDeps, type RequestEnd } from './request/completion-sender.ts';
import type { SharedLimits } from './request/request-engine.ts';
import type { LastRequest } from './request/request-log.ts';
import type { UsageCounts } from './request/usage-budget.ts';
import { Speculation } from './speculation.ts';
import { type SuggesterState, SuggesterStateOwner } from './suggester-state.ts';
import { CompletionGate } from './trigger/completion-gate.ts';
import { Composition } from './trigger/composition.ts';
import { canLift, isManualOnly, isWorthRequesting, type TriggerRefusal } from './trigger/trigger.ts';
import { TriggerClassifier } from './trigger/trigger-classifier.ts';

export interface SuggesterDeps extends CompletionSenderDeps {
  /** The completion model for a language; `undefined`: no model can complete code. */
  readonly model: (languageId: string) => CompletionModel | undefined;
  /** The model of next edits, for which context is gathered too. */
  readonly editModel?: () => CompletionModel | undefined;
  /** See `NextEdits.restores`. */
  readonly restores?: (document: SuggestRequest['document'], position: Position, text: string) => boolean;
  /** Opens a connection: the previous one has probably been closed, and a request is likely. */
  readonly warm?: (model: CompletionModel) => void;
  readonly clock?: Clock;
}

const NOTHING: readonly Suggestion[] = [];
const ALTERNATIVE_TEMPERATURE = 0.8;
/** No request is sent for this long after an input method changed the text: it is probably half of a word. */
const COMPOSING_MS = 1_000;
/** Requests that are sent after failures without a key press. The pauses double, so these take about a minute. */
const MAX_RETRIES = 5;

/**
 * The inline completion engine. The extension has one instance. It does not depend on `vscode`. A front end calls it
 * like this:
 *
 * - `provideInlineCompletionItems` -> `suggest(request, signal)`, with `signal` from the cancellation token. Cached
 *   suggestions are returned in the same tick as an array, otherwise a promise. The result is `[]` if there is no
 *   suggestion or the signal fired. A request that was sent continues after that: its answer is used for later keys.
 *   Each item's range is the caret's line from `character - replaceBefore` to `character + replaceAfter`. The first
 *   item is to be shown, the others are alternatives. After an item with `requestAfterAccept` was accepted
 *   completely, the editor requests again.
 * - The active editor changed -> `documentShown`.
 * - The cursor rests, or another file changed -> `prepare`, so that the first request has context.
 * - `onDidChangeTextDocument` -> `documentChanged`, only for the document of the active editor (changes to other
 *   documents are not typing) and before `suggest`. It detects acceptance, complete or partial.
 * - `onDidGrow` -> if the document is still active, make the editor request again with `trigger: 'grown'`. The first
 *   item then starts with the text on screen.
 * - `onDidReopen` -> the same with `automatic`: a suggestion may be possible where it was not before.
 * - Escape, handled by the front end's own command -> `dismissed()`, then hide the suggestion.
 * - A key, the model or the settings changed, or the user requested a retry -> `reconsider()`.
 */
export class Suggester {
  readonly #deps: SuggesterDeps;
  readonly #clock: Clock;
  readonly #cache = new SuggestionCache();
  readonly #dismissals = new Dismissals();
  readonly #gate: CompletionGate;
  readonly #display = new SuggestionDisplay();
  readonly #state = new SuggesterStateOwner();
  readonly #classifier = new TriggerClassifier();
  readonly #composition = new Composition();
  readonly #growthNotifier: GrowthNotifier;
  readonly #sender: CompletionSender;
  readonly #speculation: Speculation;
  readonly #reopened = new Emitter<[uri: string]>();
  #view: CaretView | undefined;
  #lastChange: { readonly uri: string; readonly version: number } | undefined;
  #shown: SuggestRequest['document'] | undefined;
  /** Where the cursor was when the document was opened, until its prompt is computed in advance. */
  #shownAt: Position | undefined;
  /** The document where the last request of the user could not be served. */
  #blockedIn: string | undefined;
  /** The last request, if settings or the kind of file allow no suggestions. */
  #refused: SuggestRequest | undefined;
  /** Requests sent after failures since the user last edited. */
  #retries = 0;
  #cancelRetry: (() => void) | undefined;

  constructor(deps: SuggesterDeps) {
    this.#deps = deps;
    this.#clock = deps.clock ?? systemClock;
    this.#growthNotifier = new GrowthNotifier(this.#clock);
    this.#gate = new CompletionGate(deps);
    const owners = { cache: this.#cache, state: this.#state };
    this.#sender = new CompletionSender(deps, this.#clock, owners, {
      grew: (answer, uri) => {
        const onScreen = () => this.#display.has(answer);
        if (onScreen()) this.#growthNotifier.grew(uri, onScreen);
      },
      ended: (answer, uri, end) => this.#handleEnd(answer, uri, end),
    });
    const isWanted = (view: CaretView) => this.#isCurrent(view) && !this.#isRefused(view);
    this.#speculation = new Speculation(this.#clock, this.#sender, this.#cache, this.#display, deps.settings, isWanted);
  }

  dispose(): void {
    this.#cancelRetry?.();
    this.#sender.requests.stop();
    this.#sender.stopWarming();
    this.#growthNotifier.dispose();
    this.#state.dispose();
    this.#reopened.dispose();
    this.#cache.clear();
  }

  get state(): SuggesterState {
    return this.#state.current;
  }

  /** Shared with next edits. */
  get limits(): SharedLimits {
    const { requests } = this.#sender;
    const provider = (ref: string | undefined) => ref?.slice(0, ref.indexOf('/'));
    const circuit = (ref: string) => {
      const model = this.#model();
      return model !== undefined && provider(ref) === provider(model.ref) ? requests.circuitFor(model) : undefined;
    };
    const running = (ref: string) => [...requests.running].filter(({ request }) => request.model.ref === ref).length;
    return { budget: requests.budget, circuit, running };
  }

  /** The reference of the model for the shown document; of the fallback while it is used. */
  get usedModel(): string | undefined {
    const model = this.#model();
    return model && this.#sender.requests.usable(model).ref;
  }

  /** @param document absent: the one that is shown. */
  #model(document = this.#shown): CompletionModel | undefined {
    return this.#deps.model(document?.languageId ?? '');
  }

  /** Why there are no requests for the shown document. */
  get #open(): OpenCircuit | undefined {
    const model = this.#model();
    const { requests } = this.#sender;
    return model && requests.circuitFor(requests.usable(model)).open;
  }

  /** Milliseconds until a failed request is sent again; `undefined`: not before the user edits or solves the problem. */
  get retryInMs(): number | undefined {
    const open = this.#open;
    if (open === undefined || open.needsUser || this.#retries >= MAX_RETRIES) return undefined;
    return Math.max(0, open.until - this.#clock.now());
  }

  /** Requests, tokens, cost and accepted characters since the start. */
  get counts(): UsageCounts {
    return this.#sender.requests.budget.counts();
  }

  /** Median time to the first text of recent requests in milliseconds; `undefined` before the first answer. */
  get latency(): number | undefined {
    return this.#sender.debounce.measuredLatency;
  }

  /** The last request exactly as it was sent. */
  get lastRequest(): LastRequest | undefined {
    return this.#sender.requests.lastRequest;
  }

  /** Fires when the suggestion on screen has more text. */
  onDidGrow(listener: (uri: string) => void): Disposable {
    return this.#growthNotifier.onDidGrow(listener);
  }

  /** Fires when suggestions in this document may be possible again. */
  onDidReopen(listener: (uri: string) => void): Disposable {
    return this.#reopened.event(listener);
  }

  onDidChangeState(listener: (state: SuggesterState) => void): Disposable {
    return this.#state.onDidChange(listener);
  }

  suggest(editorRequest: SuggestRequest, signal: AbortSignal): readonly Suggestion[] | Promise<readonly Suggestion[]> {
    const request = { ...editorRequest, trigger: this.#classifier.of(editorRequest) };
    const view = this.#createView(request);
    if (view === undefined) return NOTHING;
    const manual = request.trigger === 'invoke';
    const start = anchorAt(view.document, view.position);
    if (manual) this.#dismissals.lift(view.document.uri, start);
    const known = this.#lookUp(view);
    if (!manual && this.#dismissals.covers(view.document.uri, start)) {
      // The user typed along a suggestion from outside the dismissed range: it was not dismissed, so keep it.
      const current = this.#display.answer;
      return this.#present(
        view,
        known.shown.filter(({ answer }) => answer === current),
      );
    }
    if (known.shown.length > (manual ? 1 : 0)) return this.#present(view, known.shown);
    if (known.shown.length === 0) this.#present(view, []);
    return this.#mayRequest(view, known) ? this.#findOrRequest(view, signal) : NOTHING;
  }

  /** The user dismissed the suggestion on screen. It and its alternatives are not shown again. */
  dismissed(): void {
    const view = this.#view;
    if (view === undefined) return;
    const { shown, awaited } = this.#lookUp(view);
    const answers = [...shown.map(({ answer }) => answer), ...awaited];
    this.#dismissals.add(view.document.uri, anchorAt(view.document, view.position), answers);
    this.#sender.debounce.judged(false);
    this.#display.put(undefined);
  }

  /** @param version of the document after the change. @returns the characters of suggestions that it accepted. */
  documentChanged(change: DocumentChange, version: number): number {
    this.#retries = 0;
    this.#lastChange = { uri: change.uri, version };
    this.#sender.debounce.edited();
    this.#shownAt = undefined;
    this.#composition.changed(change);
    if (change.uri === this.#shown?.uri) this.#warm();
    const { accepted, used } = this.#display.changed(change);
    this.#classifier.changed(change.uri, { undone: change.reason !== undefined, used });
    if (accepted === 0) return 0;
    this.#sender.requests.budget.recordAccepted(accepted);
    this.#sender.debounce.judged(true);
    return accepted;
  }

  /** The active document changed: the reason for no suggestions in the previous one does not apply. */
  documentShown(document: SuggestRequest['document'], position?: Position): void {
    // VS Code may report the editor after the first request in it, which was refused then.
    const isRefused = this.#refused?.document.uri === document.uri;
    if (this.#state.current.kind === 'silent' && !isRefused) this.#state.become({ kind: 'ready' });
    this.#shown = document;
    this.#shownAt = position;
    this.#warm();
    this.#warmPrompt();
  }

  /** The cursor rests, or a file of the project changed: gathers context for the next request. */
  prepare(document: SuggestRequest['document'], position: Position): void {
    const model = this.#model(document) ?? this.#deps.editModel?.();
    if (model === undefined || !this.#gate.admits(document)) return;
    this.#sender.prepare(document, position, model);
  }

  /** The context of a document, for next edits. */
  knownContext(uri: string): readonly Snippet[] {
    return this.#sender.knownContext(uri);
  }

  documentClosed(uri: string): void {
    if (this.#view?.document.uri === uri) this.#view = undefined;
    if (this.#shown?.uri === uri) this.#shown = undefined;
    if (this.#lastChange?.uri === uri) this.#lastChange = undefined;
    this.#sender.documentClosed(uri);
  }

  /** The problem may be solved: tries again, at once in the document where the last request was not served. */
  reconsider(): void {
    this.#cancelRetry?.();
    this.#sender.requests.reset();
    this.#tryAgain();
  }

  #tryAgain(): void {
    // Otherwise the state would be wrong if the editor does not ask again, for example while it shows a list.
    const silent = this.#state.current.kind === 'silent' && this.#refused;
    const why = silent ? this.#gate.silence(silent) : undefined;
    if (why !== undefined) {
      this.#state.become({ kind: 'silent', why });
      return;
    }
    this.#state.become({ kind: 'ready' });
    this.#warmPrompt();
    this.#reopen();
  }

  /**
   * Slots of the model's server were taken by a chat, which has them at once, or are free again; or it began or ended to
   * load the model. A request of the user waits there, and what is computed in advance waits for the load.
   */
  serverChanged(): void {
    const { current } = this.#state;
    const model = this.#model();
    const why = model && busyReason(model);
    if (model !== undefined && why !== undefined) {
      this.#sender.requests.stopModel(model.ref, ({ sent }) => sent.reason !== 'invoke');
      if (why === 'chat-first') this.#sender.stopWarming();
      else if (current.kind === 'ready' || current.kind === 'silent') this.#state.become({ kind: 'silent', why });
    } else if (current.kind === 'silent' && (current.why === 'chat-first' || current.why === 'model-loads')) {
      // A load may have failed: that solves no problem of earlier requests.
      this.#tryAgain();
    }
  }

  #reopen(): void {
    const uri = this.#blockedIn;
    this.#blockedIn = undefined;
    if (uri !== undefined) this.#reopened.fire(uri);
  }

  /** Sends the request again when the pause after a failure ends. */
  #retryLater(): void {
    this.#cancelRetry?.();
    const wait = this.retryInMs;
    if (wait === undefined) return;
    this.#cancelRetry = this.#clock.after(wait, () => {
      this.#retries++;
      this.#reopen();
    });
  }

  #createView(request: SuggestRequest): CaretView | undefined {
    this.#blockedIn = undefined;
    this.#refused = undefined;
    const { uri } = request.document;
    const why = this.#gate.silence(request);
    if (why !== undefined) {
      this.#refused = request;
      if (canLift(why)) this.#blockedIn = uri;
      return this.#silent(why);
    }
    const model = this.#model(request.document);
    if (model === undefined) {
      this.#blockedIn = uri;
      this.#state.become({ kind: 'no-model' });
      return undefined;
    }
    // Now, because the editor cancels the request when a menu opens, in which the user solves the problem.
    if (this.#sender.requests.circuitFor(model).open !== undefined) this.#blockedIn = uri;
    const { kind } = this.#state.current;
    if (kind === 'silent' || kind === 'no-model') this.#state.become({ kind: 'ready' });
    return caretView(request, model);
  }

  /** True if the user has turned completions off since the view was made. */
  #isRefused({ request }: CaretView): boolean {
    const why = this.#gate.silence(request);
    if (why !== undefined && canLift(why)) this.#blockedIn = request.document.uri;
    return why !== undefined || isManualOnly(request, this.#deps.settings());
  }

  #warm(): void {
    const { debounce } = this.#sender;
    if (this.#shown === undefined || this.#open !== undefined || !debounce.cold) return;
    const model = this.#model();
    if (model === undefined || !this.#gate.automatic(this.#shown)) return;
    debounce.warmed();
    this.#deps.warm?.(model);
  }

  /** Once a document, as soon as the model and the rules for its file are known. */
  #warmPrompt(): void {
    const [document, position] = [this.#shown, this.#shownAt];
    const model = document && this.#model(document);
    if (!document || !position || !model || !this.#gate.automatic(document)) return;
    this.#shownAt = undefined;
    void this.#sender.warm(caretView({ document, position, trigger: 'automatic' }, model));
  }

  #silent(why: TriggerRefusal): undefined {
    this.#display.put(undefined);
    this.#view = undefined;
    this.#state.become({ kind: 'silent', why });
    return undefined;
  }

  #lookUp(view: CaretView): CacheLookup {
    const { document, position } = view;
    const restores = (text: string) => this.#deps.restores?.(document, position, text) === true;
    return lookUpCache(view, { cache: this.#cache, dismissals: this.#dismissals, restores }, this.#display.answer);
  }

  /** True if a request may be sent or waited for, as far as can be decided synchronously. */
  #mayRequest({ request, model }: CaretView, { awaited, settled }: CacheLookup): boolean {
    if (request.trigger === 'invoke') return true;
    if (awaited.length > 0) return true;
    if (request.trigger === 'grown') return false;
    const busy = busyReason(this.#sender.requests.usable(model));
    if (busy !== undefined) {
      this.#blockedIn = request.document.uri;
      this.#state.become({ kind: 'silent', why: busy });
      return false;
    }
    if (isManualOnly(request, this.#deps.settings())) {
      this.#state.become({ kind: 'silent', why: 'manual-only' });
      return false;
    }
    return !settled && !this.#classifier.undone && isWorthRequesting(request);
  }

  async #findOrRequest(view: CaretView, signal: AbortSignal): Promise<readonly Suggestion[]> {
    const { debounce } = this.#sender;
    let mayRequest = view.request.trigger !== 'grown';
    // A manual request where a suggestion is known already is a request for an alternative.
    const wanted = view.request.trigger === 'invoke' && this.#lookUp(view).shown.length > 0 ? 2 : 1;
    for (;;) {
      const known = this.#lookUp(view);
      if (known.shown.length >= wanted) return this.#present(view, known.shown);
      const waiting = known.awaited.flatMap((answer) => this.#sender.requestFor(answer) ?? []);
      const overdue = this.#clock.now() - debounce.overdueAfter;
      if (waiting.length > 0 && !(mayRequest && waiting.every(({ sentAt }) => sentAt <= overdue))) {
        if (!(await this.#sender.change(debounce.overdueAfter, signal))) return NOTHING;
      } else if (mayRequest) {
        mayRequest = false;
        if (known.settled && view.request.trigger === 'automatic') return NOTHING;
        await this.#request(view, signal, known.shown.length > 0);
        if (signal.aborted) return NOTHING;
      } else return this.#present(view, known.shown);
    }
  }

  /** Waits for the debounce time and sends a request, unless the cache has an answer by then. */
  async #request(view: CaretView, signal: AbortSignal, alternative: boolean): Promise<void> {
    const { debounce } = this.#sender;
    const { budget } = this.#sender.requests;
    const settings = this.#deps.settings();
    const level = budget.level(settings.budgetPerHour);
    if (level === 'stop') {
      this.#state.become({ kind: 'budget-spent', availableInMs: budget.waitMs(settings.budgetPerHour) });
      return;
    }
    const manual = view.request.trigger === 'invoke';
    const accepted = this.#display.wasAccepted;
    const context = this.#sender.snippets(view);
    const composing = this.#composition.isOpen(textHead(view.document, view.position));
    const floor = Math.max(settings.debounceFloor, composing ? COMPOSING_MS : 0);
    const wait = manual || accepted ? 0 : debounce.wait(floor, level === 'slow');
    if (!(await delay(this.#clock, wait, signal))) return;
    const snippets = await context;
    if (signal.aborted || this.#isRefused(view)) return;
    if (this.#model(view.document)?.ref !== view.model.ref) {
      // The model changed or was removed while the context was read.
      this.#blockedIn = view.document.uri;
      this.#reopen();
      return;
    }
    // An earlier request may have been answered in the meantime.
    const { shown, awaited } = this.#lookUp(view);
    const overdue = this.#clock.now() - debounce.overdueAfter;
    const coming = awaited.some((answer) => (this.#sender.requestFor(answer)?.sentAt ?? overdue) > overdue);
    if (!manual && (shown.length > 0 || coming)) return;
    const reason = manual ? 'invoke' : 'typing';
    const options = { reason, ...(alternative ? { temperature: ALTERNATIVE_TEMPERATURE } : {}) } as const;
    this.#blockedIn = this.#sender.send(view, snippets, options) ? undefined : view.document.uri;
  }

  #handleEnd(answer: CachedAnswer, uri: string, end: RequestEnd): void {
    if (end !== 'answered') this.#blockedIn = uri;
    if (end === 'failed' && this.#open === undefined) this.#reopen();
    else if (end === 'failed') this.#retryLater();
    else if (end === 'outdated') this.#reopen();
    const { requests } = this.#sender;
    // The request began the load, which ended it.
    if (this.#model()?.loading && answer.text === '' && requests.running.size === 0) {
      this.#blockedIn = uri;
      this.#state.become({ kind: 'silent', why: 'model-loads' });
    }
    const view = this.#view;
    if (!this.#display.has(answer) || view === undefined || !this.#isCurrent(view)) return;
    // The last piece may not be on screen yet. Speculation must start after the complete text.
    const [whole] = this.#lookUp(view).shown;
    if (whole?.answer === answer) this.#speculation.from(whole, view);
  }

  /** Whether the document has not changed since the view was made. */
  #isCurrent({ document: { uri, version } }: CaretView): boolean {
    const change = this.#lastChange;
    return change?.uri !== uri || change.version <= version;
  }

  #present(view: CaretView, known: readonly DisplayedSuggestion[]): readonly Suggestion[] {
    this.#view = view;
    const [first] = known;
    if (first === undefined) {
      if (!this.#display.wasAccepted) this.#display.put(undefined);
      return NOTHING;
    }
    if (this.#display.answer !== first.answer) {
      this.#sender.requests.budget.recordShown();
      this.#growthNotifier.began();
    }
    if (!first.answer.seen) this.#sender.debounce.judged(true);
    this.#display.put(first);
    for (const { answer } of known) answer.seen = true;
    this.#speculation.from(first, view);
    return known.map((shown) => displayedSuggestion(shown, view, this.#classifier.continues));
  }
}

/** Why the model's server has no room for automatic requests. */
function busyReason({ slots, loading }: CompletionModel): 'chat-first' | 'model-loads' | undefined {
  if (loading) return 'model-loads';
  return slots === 0 ? 'chat-first' : undefined;
}
