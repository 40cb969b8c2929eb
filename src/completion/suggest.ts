import type { GatewayError } from '../wire/errors.ts';
import { KeptContext, type Question, questionFor } from './asking.ts';
import { Circuit } from './circuit.ts';
import { type Clock, delay, systemClock } from './clock.ts';
import type { CompletionModel, CompletionSettings } from './completion-settings.ts';
import type { ContextSource } from './context.ts';
import { Dismissals } from './dismissal.ts';
import { type DocumentText, headOf, nextFilledLine, type Position, tailOf, withInsertion } from './document-text.ts';
import { fit } from './fit.ts';
import { type Counts, Governor } from './governor.ts';
import { type Fill, InFlight, type Landing } from './in-flight.ts';
import { languageOf } from './languages.ts';
import { acceptedBy, type Shown } from './on-screen.ts';
import { Pace } from './pace.ts';
import { startOf } from './place.ts';
import { Restoring } from './redact.ts';
import { RequestLog, type SentRequest } from './request-log.ts';
import { maySpeculate } from './speculation.ts';
import { Settling } from './stop.ts';
import type { DocumentChange, Suggestion, SuggestRequest } from './suggestion.ts';
import { type Answer, SuggestionCache } from './suggestion-cache.ts';
import { FilesOff, type Silence, silenceOf, worthAsking } from './trigger.ts';

export interface SuggesterPorts {
  readonly fill: (model: CompletionModel) => Fill;
  /** The model to ask now; `undefined`: none can fill holes. */
  readonly model: () => CompletionModel | undefined;
  readonly settings: () => CompletionSettings;
  /** Why a file must not be sent (exclusion.ts), `undefined`: it may. By uri, or by a snippet's path. */
  readonly excluded?: (uriOrPath: string) => string | undefined;
  readonly context?: ContextSource;
  /** Opens the connection ahead of the first request after a pause. */
  readonly warm?: () => void;
  /** One line a request. */
  readonly log?: (line: string) => void;
  readonly clock?: Clock;
}

/** What the status bar shows. */
export type SuggesterState =
  | { readonly kind: 'ready' }
  | { readonly kind: 'asking' }
  | { readonly kind: 'silent'; readonly why: Silence | 'excluded'; readonly detail?: string }
  | { readonly kind: 'no-model' }
  /** `retryInMs`: one request goes out then by itself. `needsPerson`: waiting alone won't help. */
  | {
      readonly kind: 'problem';
      readonly error: GatewayError;
      readonly retryInMs: number;
      readonly needsPerson: boolean;
    }
  | { readonly kind: 'budget-spent'; readonly roomInMs: number };

const NOTHING: readonly Suggestion[] = [];
/** At most one growth event in this time, the last one never lost. */
const GROWTH_MS = 80;
const ALTERNATIVE_TEMPERATURE = 0.8;

/** Where suggestions are looked for: the caret, or the caret as if the selected item were typed already. */
interface View {
  readonly request: SuggestRequest;
  readonly document: DocumentText;
  readonly position: Position;
  readonly model: CompletionModel;
  /** The item's text and what it replaces, put around every suggestion. */
  readonly item: { readonly text: string; readonly before: number; readonly after: number } | undefined;
}

interface Known {
  readonly shown: readonly Shown[];
  readonly awaited: readonly Answer[];
  /** There is an answer for this place, and it has nothing to show: asking again is no use. */
  readonly settled: boolean;
}

/**
 * The inline completion engine. One for the extension; no `vscode` in it. How a face calls it:
 *
 * - `provideInlineCompletionItems` -> `suggest(request, signal)`, `signal` from the cancellation
 *   token. What is known comes back in the same tick as an array; else a promise, `[]` when there is
 *   nothing or the signal fired. The request that was sent lives on: its answer serves later keys.
 *   Each item's range is the caret's line from `character - replaceBefore` to `character +
 *   replaceAfter`; its command calls `accepted(id)`. The first item is the one to show, the rest are
 *   the alternatives.
 * - `onDidChangeTextDocument` -> `documentChanged`, for every document, before the provider is
 *   asked. Partial acceptance is seen there.
 * - `onDidGrow` -> if the document is still the active one, run `editor.action.inlineSuggest.trigger`
 *   and pass `trigger: 'automatic'` for the request it causes. The first item then starts with what
 *   is on screen.
 * - Escape, wrapped by the face's own command -> `dismissed()`, then hide.
 * - A key, the model or the settings changed, or the person says "try again" -> `reconsider()`.
 */
export class Suggester {
  readonly #ports: SuggesterPorts;
  readonly #clock: Clock;
  readonly #cache = new SuggestionCache();
  readonly #inFlight: InFlight;
  readonly #pace: Pace;
  readonly #governor: Governor;
  readonly #circuit: Circuit;
  readonly #dismissals = new Dismissals();
  readonly #filesOff = new FilesOff();
  readonly #context: KeptContext;
  readonly #log: RequestLog;
  readonly #growth = new Set<(uri: string) => void>();
  readonly #states = new Set<(state: SuggesterState) => void>();
  #shown: Shown | undefined;
  #view: View | undefined;
  #state: SuggesterState = { kind: 'ready' };
  #grewAt = Number.NEGATIVE_INFINITY;
  #cancelGrowth: (() => void) | undefined;
  #byUndo = false;

  constructor(ports: SuggesterPorts) {
    this.#ports = ports;
    this.#clock = ports.clock ?? systemClock;
    this.#inFlight = new InFlight(this.#clock);
    this.#pace = new Pace(this.#clock);
    this.#governor = new Governor(this.#clock);
    this.#circuit = new Circuit(this.#clock);
    this.#context = new KeptContext(this.#clock, ports.context);
    this.#log = new RequestLog(ports.log);
  }

  dispose(): void {
    this.#cancelGrowth?.();
    this.#inFlight.stopAll();
    this.#growth.clear();
    this.#states.clear();
    this.#cache.clear();
  }

  get state(): SuggesterState {
    return this.#state;
  }

  /** Requests, tokens, price and what was accepted since the start. */
  get counts(): Counts {
    return this.#governor.counts();
  }

  /** The last request exactly as it went out. */
  get lastRequest(): SentRequest | undefined {
    return this.#log.last;
  }

  /** The suggestion on screen has more text at its end now. Returns what unsubscribes. */
  onDidGrow(listener: (uri: string) => void): () => void {
    this.#growth.add(listener);
    return () => this.#growth.delete(listener);
  }

  onDidChangeState(listener: (state: SuggesterState) => void): () => void {
    this.#states.add(listener);
    return () => this.#states.delete(listener);
  }

  suggest(request: SuggestRequest, signal: AbortSignal): readonly Suggestion[] | Promise<readonly Suggestion[]> {
    const view = this.#viewOf(request);
    if (view === undefined) return NOTHING;
    const byHand = request.trigger === 'invoke';
    const start = startOf(view.document, view.position);
    if (byHand) this.#dismissals.lift(view.document.uri, start);
    const known = this.#known(view);
    if (!byHand && this.#dismissals.covers(view.document.uri, start)) {
      // What is on screen and was typed through to here from elsewhere stays: it isn't what was sent away.
      const current = this.#shown?.answer;
      return this.#present(
        view,
        known.shown.filter(({ answer }) => answer === current),
      );
    }
    if (known.shown.length > (byHand ? 1 : 0)) return this.#present(view, known.shown);
    if (known.shown.length === 0) this.#present(view, []);
    if (!byHand && known.awaited.length === 0 && (known.settled || this.#byUndo || !worthAsking(request)))
      return NOTHING;
    return this.#seek(view, signal);
  }

  /** All of a suggestion was accepted. */
  accepted(id: number): void {
    const shown = this.#shown;
    if (shown?.answer.id !== id || shown.accepted) return;
    this.#governor.accepted(shown.text.length);
    this.#pace.judged(true);
    this.#shown = { ...shown, accepted: true };
  }

  /** What is on screen was sent away, with its alternatives: it stays away. */
  dismissed(): void {
    const view = this.#view;
    if (view === undefined) return;
    const { shown, awaited } = this.#known(view);
    const answers = [...shown.map(({ answer }) => answer), ...awaited];
    this.#dismissals.add(view.document.uri, startOf(view.document, view.position), answers);
    this.#pace.judged(false);
    this.#shown = undefined;
  }

  documentChanged(change: DocumentChange): void {
    this.#byUndo = change.reason !== undefined;
    if (this.#pace.edited() && this.#circuit.open === undefined) this.#ports.warm?.();
    const shown = this.#shown;
    if (shown === undefined) return;
    const accepted = acceptedBy(change, shown);
    if (accepted === 0) {
      if (shown.accepted && change.uri === shown.uri) this.#shown = undefined;
      return;
    }
    if (!shown.accepted) {
      this.#governor.accepted(accepted);
      this.#pace.judged(true);
    }
    // The whole of it: the command that follows must not count it again.
    this.#shown =
      accepted === shown.text.length ? { ...shown, accepted: true } : { ...shown, text: shown.text.slice(accepted) };
  }

  documentClosed(uri: string): void {
    this.#context.forget(uri);
    if (this.#view?.document.uri === uri) this.#view = undefined;
    for (const flight of this.#inFlight.flights) if (flight.uri === uri) flight.stop();
  }

  /** Something that kept it from working may have changed: tries again at the next occasion. */
  reconsider(): void {
    this.#circuit.reset();
    this.#become({ kind: 'ready' });
  }

  #viewOf(request: SuggestRequest): View | undefined {
    const settings = this.#ports.settings();
    const why = silenceOf(request, settings);
    if (why !== undefined) return this.#silent(why);
    if (this.#filesOff.holds(request.document, settings.disabledGlobs)) return this.#silent('file-off');
    const excluded = this.#ports.excluded?.(request.document.uri);
    if (excluded !== undefined) return this.#silent('excluded', excluded);
    const model = this.#ports.model();
    if (model === undefined) {
      this.#become({ kind: 'no-model' });
      return undefined;
    }
    if (this.#state.kind === 'silent' || this.#state.kind === 'no-model') this.#become({ kind: 'ready' });
    const { document, position, selectedCompletion: item } = request;
    if (item === undefined) return { request, document, position, model, item: undefined };
    const before = position.character - item.startCharacter;
    const after = item.endCharacter - position.character;
    return {
      request,
      model,
      ...withInsertion(document, position, { text: item.text, before, after }),
      item: { text: item.text, before, after },
    };
  }

  #silent(why: Silence | 'excluded', detail?: string): undefined {
    this.#shown = undefined;
    this.#view = undefined;
    this.#become({ kind: 'silent', why, ...(detail === undefined ? {} : { detail }) });
    return undefined;
  }

  /** What memory has for a caret: the suggestion on screen first, then the newest. */
  #known({ document, position, model }: View): Known {
    const shown: Shown[] = [];
    const awaited: Answer[] = [];
    let settled = false;
    const around = {
      language: languageOf(document.languageId),
      head: headOf(document, position),
      tail: tailOf(document, position),
      below: nextFilledLine(document, position.line),
    };
    const current = this.#shown?.answer;
    const matches = this.#cache.find(document, position, model.ref);
    // What is on screen comes first, before an answer that says the same could take its place.
    matches.sort((a, b) => Number(b.answer === current) - Number(a.answer === current));
    for (const match of matches) {
      const { answer } = match;
      if (this.#dismissals.holds(answer)) continue;
      if (match.kind === 'awaited') awaited.push(answer);
      else if (match.kind === 'indenting') settled = true;
      else {
        const fitted = fit(match.rest, around);
        if (fitted !== undefined && !shown.some(({ text }) => text === fitted.text)) {
          shown.push({ answer, uri: document.uri, position, accepted: false, ...fitted });
        } else if (!answer.done) awaited.push(answer);
        else if (match.rest === answer.text || match.rest !== '') settled = true;
      }
    }
    return { shown, awaited, settled };
  }

  async #seek(view: View, signal: AbortSignal): Promise<readonly Suggestion[]> {
    let mayAsk = true;
    // By hand, where something is known already, the person wants to see another idea as well.
    const wanted = view.request.trigger === 'invoke' && this.#known(view).shown.length > 0 ? 2 : 1;
    for (;;) {
      const known = this.#known(view);
      if (known.shown.length >= wanted) return this.#present(view, known.shown);
      const waiting = known.awaited.map((answer) => this.#inFlight.of(answer)).filter((flight) => flight !== undefined);
      const overdue = this.#clock.now() - this.#pace.overdueAfter;
      if (waiting.length > 0 && !(mayAsk && waiting.every(({ sentAt }) => sentAt <= overdue))) {
        if (!(await this.#inFlight.change(this.#pace.overdueAfter, signal))) return NOTHING;
      } else if (mayAsk) {
        mayAsk = false;
        if (known.settled && view.request.trigger === 'automatic') return NOTHING;
        await this.#ask(view, signal, known.shown.length > 0);
        if (signal.aborted) return NOTHING;
      } else return this.#present(view, known.shown);
    }
  }

  /** Waits as the pace says and sends a request, unless memory has an answer by then. */
  async #ask(view: View, signal: AbortSignal, alternative: boolean): Promise<void> {
    const settings = this.#ports.settings();
    const level = this.#governor.level(settings.budgetPerHour);
    if (level === 'stop') {
      this.#become({ kind: 'budget-spent', roomInMs: this.#governor.roomIn(settings.budgetPerHour) });
      return;
    }
    const byHand = view.request.trigger === 'invoke';
    const accepted = this.#shown?.accepted === true;
    const context = this.#snippets(view);
    const wait = byHand || accepted ? 0 : this.#pace.wait(settings.debounceFloor, level === 'slow');
    if (!(await delay(this.#clock, wait, signal))) return;
    const snippets = await context;
    if (signal.aborted) return;
    // Meanwhile an answer may have come that was on its way.
    const { shown, awaited } = this.#known(view);
    const overdue = this.#clock.now() - this.#pace.overdueAfter;
    const coming = awaited.some((answer) => (this.#inFlight.of(answer)?.sentAt ?? overdue) > overdue);
    if (!byHand && (shown.length > 0 || coming)) return;
    const reason = byHand ? 'invoke' : 'typing';
    this.#send(view, snippets, reason, alternative ? ALTERNATIVE_TEMPERATURE : undefined);
  }

  #snippets({ document, position }: View): ReturnType<KeptContext['at']> {
    const excluded = (path: string): boolean => this.#ports.excluded?.(path) !== undefined;
    return this.#context.at(document, position, this.#ports.settings().context, excluded);
  }

  #send(
    view: Pick<View, 'document' | 'position' | 'model' | 'request'>,
    snippets: Awaited<ReturnType<KeptContext['at']>>,
    reason: SentRequest['reason'],
    temperature?: number,
    basis?: Answer,
  ): Answer | undefined {
    const { document, position, model, request } = view;
    const question = questionFor(document, position, snippets, {
      model,
      maxLines: this.#ports.settings().maxLines,
      ...(request.indentation === undefined ? {} : { indentation: request.indentation }),
      ...(temperature === undefined ? {} : { temperature }),
    });
    if (question === undefined || !this.#circuit.admits()) return undefined;
    if (basis === undefined) this.#stopContradicted(view);
    const answer = this.#cache.open(document, position, model.ref);
    const sent: SentRequest = {
      model: model.ref,
      hole: question.hole,
      context: question.context,
      masked: question.secrets.size,
      reason,
    };
    this.#log.sent(sent);
    this.#governor.sent();
    this.#pace.sent();
    this.#become({ kind: 'asking' });
    this.#depart(answer, question, sent, model, document.uri, basis);
    return answer;
  }

  #depart(
    answer: Answer,
    question: Question,
    sent: SentRequest,
    model: CompletionModel,
    uri: string,
    basis: Answer | undefined,
  ): void {
    this.#inFlight.send({
      fill: this.#ports.fill(model),
      hole: question.hole,
      uri,
      answer,
      settling: new Settling(question.site),
      restoring: new Restoring(question.secrets),
      grew: () => {
        this.#cache.grew(answer);
        if (this.#shown?.answer === answer && !this.#shown.accepted) this.#grow(uri);
      },
      landed: (landing) => this.#landed(answer, sent, model, landing),
      ...(basis === undefined ? {} : { basis }),
    });
  }

  #landed(answer: Answer, sent: SentRequest, model: CompletionModel, landing: Landing): void {
    const { error, usage, received, stopped } = landing;
    const asked = sent.hole.prefix.length + sent.hole.suffix.length;
    const cost = error === undefined ? this.#governor.landed(model, usage, asked, received) : undefined;
    if (landing.firstText !== undefined) this.#pace.answered(landing.firstText);
    this.#log.ended(sent, {
      result: error !== undefined ? 'failed' : stopped ? 'stopped' : 'answered',
      total: landing.total,
      characters: received,
      ...(landing.firstText === undefined ? {} : { firstText: landing.firstText }),
      ...(usage === undefined ? {} : { outputTokens: usage.output }),
      ...(cost === undefined ? {} : { cost }),
      ...(error === undefined ? {} : { problem: `${error.status} ${error.errorType}` }),
    });
    if (error !== undefined) {
      this.#governor.failed();
      this.#circuit.failed(error);
      // A place that failed isn't a place without an answer.
      if (answer.text === '') this.#cache.delete(answer);
    } else if (received > 0 || !stopped) this.#circuit.succeeded();
    else this.#circuit.stopped();
    if (answer.text === '' && stopped && received === 0) this.#cache.delete(answer);
    this.#settleState();
    if (this.#shown?.answer === answer && !this.#shown.accepted && this.#view !== undefined) {
      // What came last may not be on screen yet; asking ahead must start behind it.
      const [whole] = this.#known(this.#view).shown;
      if (whole?.answer === answer) this.#speculate(whole);
    }
  }

  #settleState(): void {
    const open = this.#circuit.open;
    if (open !== undefined) {
      const retryInMs = Math.max(0, open.until - this.#clock.now());
      this.#become({ kind: 'problem', error: open.error, retryInMs, needsPerson: open.needsPerson });
    } else if (this.#inFlight.flights.size === 0) this.#become({ kind: 'ready' });
  }

  /** Requests that what was typed speaks against are stopped when another one goes out instead. */
  #stopContradicted(view: Pick<View, 'document' | 'position' | 'model'>): void {
    const agreeing = new Set(
      this.#cache.find(view.document, view.position, view.model.ref).map(({ answer }) => answer),
    );
    for (const flight of this.#inFlight.flights) {
      if (flight.uri !== view.document.uri || agreeing.has(flight.answer)) continue;
      if (flight.basis !== undefined && agreeing.has(flight.basis)) continue;
      flight.stop();
      this.#pace.judged(flight.answer.seen);
    }
  }

  #present(view: View, known: readonly Shown[]): readonly Suggestion[] {
    this.#view = view;
    const [first] = known;
    if (first === undefined) {
      if (this.#shown?.accepted !== true) this.#shown = undefined;
      return NOTHING;
    }
    if (this.#shown?.answer !== first.answer) this.#governor.showed();
    if (!first.answer.seen) this.#pace.judged(true);
    this.#shown = first;
    for (const { answer } of known) answer.seen = true;
    this.#speculate(first);
    const { item } = view;
    const crlf = view.document.eol === '\r\n';
    return known.map(({ answer, text, replaceAfter }) => {
      const whole = (item?.text ?? '') + text;
      return {
        id: answer.id,
        insertText: crlf ? whole.replaceAll('\n', '\r\n') : whole,
        replaceBefore: item?.before ?? 0,
        replaceAfter: replaceAfter + (item?.after ?? 0),
        growing: !answer.done,
      };
    });
  }

  /** Asks for what comes after the suggestion on screen, when that is whole and asking ahead is allowed. */
  #speculate(shown: Shown): void {
    const view = this.#view;
    if (!shown.answer.done || view === undefined || view.item !== undefined) return;
    const settings = this.#ports.settings();
    const level = this.#governor.level(settings.budgetPerHour);
    if (!maySpeculate(settings.speculation, view.model, level, this.#governor.acceptance())) return;
    if (this.#circuit.open !== undefined) return;
    const after = withInsertion(view.document, shown.position, { text: shown.text, after: shown.replaceAfter });
    const next = { ...after, model: view.model, request: view.request };
    const isKnown = (): boolean =>
      this.#cache.find(next.document, next.position, next.model.ref).some(({ answer }) => answer !== shown.answer);
    if (isKnown()) return;
    void this.#snippets(view).then((snippets) => {
      if (this.#shown?.answer !== shown.answer || isKnown()) return;
      this.#send(next, snippets, 'speculation', undefined, shown.answer);
    });
  }

  #grow(uri: string): void {
    if (this.#cancelGrowth !== undefined) return;
    const wait = Math.max(0, this.#grewAt + GROWTH_MS - this.#clock.now());
    this.#cancelGrowth = this.#clock.after(wait, () => {
      this.#cancelGrowth = undefined;
      this.#grewAt = this.#clock.now();
      for (const listener of this.#growth) listener(uri);
    });
  }

  #become(state: SuggesterState): void {
    const before = this.#state;
    this.#state = state;
    const same = before.kind === state.kind && state.kind !== 'problem' && state.kind !== 'silent';
    if (!same) for (const listener of this.#states) listener(state);
  }
}
