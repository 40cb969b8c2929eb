import { CompletionTrimmer } from '../answer/completion-trimmer.ts';
import type { CachedAnswer, SuggestionCache } from '../cache/suggestion-cache.ts';
import type { CaretView } from '../document/caret-view.ts';
import type { Clock } from '../document/clock.ts';
import type { CompletionModel, CompletionSettings } from '../document/completion-settings.ts';
import type { DocumentText, Position } from '../document/document-text.ts';
import type { ContextSource, Snippet } from '../prompt/context.ts';
import { type ContextOptions, KeptContext } from '../prompt/kept-context.ts';
import { buildPrompt, type PromptRequest } from '../prompt/prompt-builder.ts';
import { promptBudget } from '../prompt/prompt-window.ts';
import { SecretRestorer } from '../prompt/redact.ts';
import type { SuggesterStateOwner } from '../suggester-state.ts';
import type { NotSent } from '../trigger/trigger.ts';
import { AdaptiveDebounce } from './adaptive-debounce.ts';
import { CircuitBreaker } from './circuit-breaker.ts';
import { type CompletionRequest, InFlightRequests, type RequestOutcome } from './in-flight.ts';
import { type LastRequest, RequestLog, type SentRequest } from './request-log.ts';
import { UsageBudget } from './usage-budget.ts';

export interface CompletionSenderDeps {
  readonly fill: (model: CompletionModel) => CompletionRequest;
  readonly settings: () => CompletionSettings;
  /** Why a file must not be sent (exclusion.ts); `undefined`: it may be sent. Takes a URI or a snippet's path. */
  readonly excluded?: (uriOrPath: string) => NotSent | undefined;
  readonly context?: ContextSource;
  /** Called with one line per request. */
  readonly log?: (line: string) => void;
}

/** How a request ended. `outdated`: it failed, but was sent before a key, the model or a setting changed. */
export type RequestEnd = 'answered' | 'failed' | 'outdated';

interface SendingEvents {
  readonly grew: (answer: CachedAnswer, uri: string) => void;
  readonly ended: (answer: CachedAnswer, uri: string, end: RequestEnd) => void;
}

type Place = Pick<CaretView, 'document' | 'position' | 'model' | 'request'>;

interface SendOptions {
  readonly reason: SentRequest['reason'];
  readonly temperature?: number;
  /** For speculation: the answer that must be accepted before this one applies. */
  readonly basis?: CachedAnswer;
}

/** Sends requests, and counts, logs and caches their outcome. */
export class CompletionSender {
  readonly inFlight: InFlightRequests;
  readonly debounce: AdaptiveDebounce;
  readonly budget: UsageBudget;
  readonly circuit: CircuitBreaker;
  readonly #log: RequestLog<SentRequest>;
  readonly #deps: CompletionSenderDeps;
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
    this.#cache = owners.cache;
    this.#state = owners.state;
    this.#events = events;
    this.inFlight = new InFlightRequests(clock);
    this.debounce = new AdaptiveDebounce(clock);
    this.budget = new UsageBudget(clock);
    this.circuit = new CircuitBreaker(clock);
    this.#context = new KeptContext(clock, deps.context);
    this.#log = new RequestLog(deps.log);
  }

  get lastRequest(): LastRequest | undefined {
    return this.#log.last;
  }

  documentClosed(uri: string): void {
    this.#context.forget(uri);
    for (const flight of this.inFlight.flights) if (flight.uri === uri) flight.stop();
  }

  snippets({ document, position, model }: CaretView): Promise<readonly Snippet[]> {
    return this.#context.at(document, position, this.#contextOptions(model));
  }

  /** Gathers context for a request that is likely. */
  prepare(document: DocumentText, position: Position, model: CompletionModel): void {
    this.#context.prepare(document, position, this.#contextOptions(model));
  }

  #contextOptions(model: CompletionModel): ContextOptions {
    return {
      wanted: this.#deps.settings().context,
      excluded: (path) => this.#deps.excluded?.(path) !== undefined,
      room: promptBudget(model).context,
    };
  }

  /** Sends a request, unless the caret is inside a secret. Returns false if the circuit breaker is open. */
  send(place: Place, snippets: readonly Snippet[], options: SendOptions): boolean {
    const { document, position, model, request } = place;
    const prompt = buildPrompt(document, position, snippets, {
      model,
      maxLines: this.#deps.settings().maxLines,
      ...(request.indentation === undefined ? {} : { indentation: request.indentation }),
      ...(options.temperature === undefined ? {} : { temperature: options.temperature }),
    });
    if (prompt === undefined) return true;
    if (!this.circuit.admits()) {
      // A next edit may have failed.
      if (this.#state.current.kind !== 'problem') this.#updateState();
      return false;
    }
    if (options.basis === undefined) this.#stopContradicted(place);
    const sent: SentRequest = {
      kind: 'fim',
      model: model.ref,
      languageId: document.languageId,
      fimRequest: prompt.fimRequest,
      context: prompt.context,
      masked: prompt.secrets.size,
      reason: options.reason,
    };
    this.#log.sent(sent);
    this.budget.recordRequest();
    this.debounce.sent();
    this.#state.become({ kind: 'asking' });
    this.#start(place, prompt, sent, options.basis);
    return true;
  }

  #start(
    { document, position, model }: Place,
    prompt: PromptRequest,
    sent: SentRequest,
    basis: CachedAnswer | undefined,
  ): void {
    const answer = this.#cache.open(document, position, model.ref);
    const { uri } = document;
    const { resets } = this.circuit;
    this.inFlight.send({
      fill: this.#deps.fill(model),
      fimRequest: prompt.fimRequest,
      uri,
      answer,
      trimmer: new CompletionTrimmer(prompt.site),
      restorer: new SecretRestorer(prompt.secrets),
      grew: () => {
        this.#cache.grew(answer);
        this.#events.grew(answer, uri);
      },
      ended: (outcome) => {
        const current = resets === this.circuit.resets;
        this.#handleOutcome(answer, sent, model, outcome, current);
        const failed = current ? 'failed' : 'outdated';
        this.#events.ended(answer, uri, outcome.error === undefined ? 'answered' : failed);
      },
      ...(basis === undefined ? {} : { basis }),
    });
  }

  /** @param current whether nothing was reset since the request was sent. */
  #handleOutcome(
    answer: CachedAnswer,
    sent: SentRequest,
    model: CompletionModel,
    outcome: RequestOutcome,
    current: boolean,
  ): void {
    const { error, received, stopped } = outcome;
    if (outcome.firstText !== undefined) this.debounce.answered(outcome.firstText);
    this.#recordUsage(sent, model, outcome);
    if (error !== undefined) {
      this.budget.recordFailure();
      if (current) this.circuit.failed(error);
      // Do not cache a failure as an empty answer.
      if (answer.text === '') this.#cache.delete(answer);
    } else if (current) {
      if (received > 0 || !stopped) this.circuit.succeeded();
      else this.circuit.stopped();
    }
    if (answer.text === '' && stopped && received === 0) this.#cache.delete(answer);
    this.#updateState();
  }

  #recordUsage(sent: SentRequest, model: CompletionModel, outcome: RequestOutcome): void {
    const { error, usage, received, stopped, firstText } = outcome;
    const sentCharacters = sent.fimRequest.prefix.length + sent.fimRequest.suffix.length;
    const cost = error === undefined ? this.budget.recordAnswer(model, usage, sentCharacters, received) : undefined;
    this.#log.ended(sent, {
      result: error !== undefined ? 'failed' : stopped ? 'stopped' : 'answered',
      total: outcome.total,
      characters: received,
      ...(firstText === undefined ? {} : { firstText }),
      ...(usage === undefined ? {} : { outputTokens: usage.output }),
      ...(cost === undefined ? {} : { cost }),
      ...(error === undefined ? {} : { problem: `${error.status} ${error.errorType}` }),
    });
  }

  #updateState(): void {
    const open = this.circuit.open;
    if (open !== undefined) {
      this.#state.become({ kind: 'problem', error: open.error, needsUser: open.needsUser });
    } else if (this.inFlight.flights.size === 0) this.#state.become({ kind: 'ready' });
  }

  /** Stops requests whose answers contradict the typed text, when another request replaces them. */
  #stopContradicted({ document, position, model }: Place): void {
    const agreeing = new Set(this.#cache.find(document, position, model.ref).map(({ answer }) => answer));
    for (const flight of this.inFlight.flights) {
      if (flight.uri !== document.uri || agreeing.has(flight.answer)) continue;
      if (flight.basis !== undefined && agreeing.has(flight.basis)) continue;
      flight.stop();
      this.debounce.judged(flight.answer.seen);
    }
  }
}
