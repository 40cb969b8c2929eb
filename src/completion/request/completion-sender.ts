import { CompletionTrimmer } from '../answer/completion-trimmer.ts';
import type { CachedAnswer, SuggestionCache } from '../cache/suggestion-cache.ts';
import type { CaretView } from '../document/caret-view.ts';
import type { Clock } from '../document/clock.ts';
import type { CompletionModel, CompletionSettings } from '../document/completion-settings.ts';
import type { ContextSource, Snippet } from '../prompt/context.ts';
import { buildPrompt, KeptContext, type PromptRequest } from '../prompt/prompt-builder.ts';
import { SecretRestorer } from '../prompt/redact.ts';
import type { SuggesterStateOwner } from '../suggester-state.ts';
import type { NotSent } from '../trigger/trigger.ts';
import { AdaptiveDebounce } from './adaptive-debounce.ts';
import { CircuitBreaker } from './circuit-breaker.ts';
import { type CompletionRequest, InFlightRequests, type RequestOutcome } from './in-flight.ts';
import { RequestLog, type SentRequest } from './request-log.ts';
import { UsageBudget } from './usage-budget.ts';

export interface CompletionSenderDeps {
  readonly fill: (model: CompletionModel) => CompletionRequest;
  readonly settings: () => CompletionSettings;
  /** Why a file must not be sent (exclusion.ts), `undefined`: it may. By uri, or by a snippet's path. */
  readonly excluded?: (uriOrPath: string) => NotSent | undefined;
  readonly context?: ContextSource;
  /** One line a request. */
  readonly log?: (line: string) => void;
}

interface SendingEvents {
  readonly grew: (answer: CachedAnswer, uri: string) => void;
  /** `failed`: there is no answer because of an error. */
  readonly landed: (answer: CachedAnswer, uri: string, failed: boolean) => void;
}

type Place = Pick<CaretView, 'document' | 'position' | 'model' | 'request'>;

interface Manner {
  readonly reason: SentRequest['reason'];
  readonly temperature?: number;
  /** The answer after whose acceptance this one starts. */
  readonly basis?: CachedAnswer;
}

/** Requests from the decision to send one until what became of it is counted, logged and kept. */
export class CompletionSender {
  readonly inFlight: InFlightRequests;
  readonly pace: AdaptiveDebounce;
  readonly governor: UsageBudget;
  readonly circuit: CircuitBreaker;
  readonly #log: RequestLog;
  readonly #deps: CompletionSenderDeps;
  readonly #clock: Clock;
  readonly #cache: SuggestionCache;
  readonly #state: SuggesterStateOwner;
  readonly #context: KeptContext;
  readonly #events: SendingEvents;

  constructor(
    deps: CompletionSenderDeps,
    clock: Clock,
    owners: { readonly cache: SuggestionCache; readonly state: SuggesterStateOwner },
    events: SendingEvents,
  ) {
    this.#deps = deps;
    this.#clock = clock;
    this.#cache = owners.cache;
    this.#state = owners.state;
    this.#events = events;
    this.inFlight = new InFlightRequests(clock);
    this.pace = new AdaptiveDebounce(clock);
    this.governor = new UsageBudget(clock);
    this.circuit = new CircuitBreaker(clock);
    this.#context = new KeptContext(clock, deps.context);
    this.#log = new RequestLog(deps.log);
  }

  get lastRequest(): SentRequest | undefined {
    return this.#log.last;
  }

  documentClosed(uri: string): void {
    this.#context.forget(uri);
    for (const flight of this.inFlight.flights) if (flight.uri === uri) flight.stop();
  }

  snippets({ document, position }: CaretView): Promise<readonly Snippet[]> {
    const excluded = (path: string): boolean => this.#deps.excluded?.(path) !== undefined;
    return this.#context.at(document, position, this.#deps.settings().context, excluded);
  }

  /** Sends a request, unless a secret is being written there or asking fails of late: `false` for the latter. */
  send(place: Place, snippets: readonly Snippet[], manner: Manner): boolean {
    const { document, position, model, request } = place;
    const question = buildPrompt(document, position, snippets, {
      model,
      maxLines: this.#deps.settings().maxLines,
      ...(request.indentation === undefined ? {} : { indentation: request.indentation }),
      ...(manner.temperature === undefined ? {} : { temperature: manner.temperature }),
    });
    if (question === undefined) return true;
    if (!this.circuit.admits()) return false;
    if (manner.basis === undefined) this.#stopContradicted(place);
    const sent: SentRequest = {
      model: model.ref,
      fimRequest: question.fimRequest,
      context: question.context,
      masked: question.secrets.size,
      reason: manner.reason,
    };
    this.#log.sent(sent);
    this.governor.sent();
    this.pace.sent();
    this.#state.become({ kind: 'asking' });
    this.#depart(place, question, sent, manner.basis);
    return true;
  }

  #depart(
    { document, position, model }: Place,
    question: PromptRequest,
    sent: SentRequest,
    basis: CachedAnswer | undefined,
  ): void {
    const answer = this.#cache.open(document, position, model.ref);
    const { uri } = document;
    this.inFlight.send({
      fill: this.#deps.fill(model),
      fimRequest: question.fimRequest,
      uri,
      answer,
      settling: new CompletionTrimmer(question.site),
      restoring: new SecretRestorer(question.secrets),
      grew: () => {
        this.#cache.grew(answer);
        this.#events.grew(answer, uri);
      },
      landed: (landing) => {
        this.#landed(answer, sent, model, landing);
        this.#events.landed(answer, uri, landing.error !== undefined);
      },
      ...(basis === undefined ? {} : { basis }),
    });
  }

  #landed(answer: CachedAnswer, sent: SentRequest, model: CompletionModel, landing: RequestOutcome): void {
    const { error, received, stopped } = landing;
    if (landing.firstText !== undefined) this.pace.answered(landing.firstText);
    this.#account(sent, model, landing);
    if (error !== undefined) {
      this.governor.failed();
      this.circuit.failed(error);
      // A place that failed isn't a place without an answer.
      if (answer.text === '') this.#cache.delete(answer);
    } else if (received > 0 || !stopped) this.circuit.succeeded();
    else this.circuit.stopped();
    if (answer.text === '' && stopped && received === 0) this.#cache.delete(answer);
    this.#settleState();
  }

  #account(sent: SentRequest, model: CompletionModel, landing: RequestOutcome): void {
    const { error, usage, received, stopped, firstText } = landing;
    const asked = sent.fimRequest.prefix.length + sent.fimRequest.suffix.length;
    const cost = error === undefined ? this.governor.landed(model, usage, asked, received) : undefined;
    this.#log.ended(sent, {
      result: error !== undefined ? 'failed' : stopped ? 'stopped' : 'answered',
      total: landing.total,
      characters: received,
      ...(firstText === undefined ? {} : { firstText }),
      ...(usage === undefined ? {} : { outputTokens: usage.output }),
      ...(cost === undefined ? {} : { cost }),
      ...(error === undefined ? {} : { problem: `${error.status} ${error.errorType}` }),
    });
  }

  #settleState(): void {
    const open = this.circuit.open;
    if (open !== undefined) {
      const retryInMs = Math.max(0, open.until - this.#clock.now());
      this.#state.become({ kind: 'problem', error: open.error, retryInMs, needsPerson: open.needsPerson });
    } else if (this.inFlight.flights.size === 0) this.#state.become({ kind: 'ready' });
  }

  /** Requests that what was typed speaks against are stopped when another one goes out instead. */
  #stopContradicted({ document, position, model }: Place): void {
    const agreeing = new Set(this.#cache.find(document, position, model.ref).map(({ answer }) => answer));
    for (const flight of this.inFlight.flights) {
      if (flight.uri !== document.uri || agreeing.has(flight.answer)) continue;
      if (flight.basis !== undefined && agreeing.has(flight.basis)) continue;
      flight.stop();
      this.pace.judged(flight.answer.seen);
    }
  }
}
