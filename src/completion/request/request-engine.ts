import { defined } from '../../base/json.ts';
import { asSvcError, type SvcError } from '../../wire/errors/svc-error.ts';
import type { Event } from '../../wire/event.ts';
import { type FoldedAnswer, foldEvents } from '../../wire/fold.ts';
import type { Clock } from '../document/clock.ts';
import type { CompletionModel } from '../document/completion-settings.ts';
import { CircuitBreaker, type OpenCircuit } from './circuit-breaker.ts';
import { type LastRequest, RequestLog, type SentEditRequest, type SentRequest } from './request-log.ts';
import { UsageBudget } from './usage-budget.ts';

/** Shared by the engines of completions and next edits. */
export interface SharedLimits {
  readonly budget: UsageBudget;
  /** The circuit breaker of completions, for a model of the same provider. */
  readonly circuit: (ref: string) => CircuitBreaker | undefined;
  /** The number of completions that run with a model. */
  readonly running: (ref: string) => number;
}

/** A request to a model, and the functions that receive its answer. */
export interface ModelRequest {
  /** The document for which the answer is. */
  readonly uri: string;
  readonly model: CompletionModel;
  /** As it is logged. */
  readonly sent: SentRequest | SentEditRequest;
  /** Length of the prompt. Tokens are estimated from it if the provider reports none. */
  readonly characters: number;
  /** Sends the request and yields the answer as it streams. Closes the connection when `signal` fires. */
  readonly send: (signal: AbortSignal) => AsyncIterable<Event>;
  /**
   * Called with each piece of the answer's text.
   *
   * @param length characters received so far, with this piece.
   * @returns true if enough was received: the rest is not read.
   */
  readonly received: (text: string, length: number) => boolean;
  readonly ended: (outcome: RequestOutcome) => void;
}

export interface RequestOutcome {
  readonly answer: Omit<FoldedAnswer, 'error'>;
  /** Absent if the request was stopped. */
  readonly error?: SvcError;
  /** The engine stopped it: it contradicted the text, or enough was received. */
  readonly stopped: boolean;
  /** Received characters. */
  readonly received: number;
  /** Milliseconds since the request was sent. */
  readonly firstText?: number;
  readonly total: number;
  /** It was sent before a key, the model or a setting changed. */
  readonly outdated: boolean;
}

export interface RunningRequest<R extends ModelRequest> {
  readonly request: R;
  readonly sentAt: number;
  readonly stop: () => void;
  readonly stopped: boolean;
}

/**
 * Sends requests to models. Counts their cost, logs them, and reports their outcome to the circuit breaker. Typing does
 * not cancel them: each one runs until it ends or is stopped.
 */
export class RequestEngine<R extends ModelRequest> {
  readonly budget: UsageBudget;
  readonly #clock: Clock;
  readonly #log: RequestLog<R['sent']>;
  readonly #limits: SharedLimits | undefined;
  readonly #running = new Set<RunningRequest<R>>();
  /** By model, without those that share one with completions. */
  readonly #circuits = new Map<string, CircuitBreaker>();

  /** @param log is called with one line per request. */
  constructor(clock: Clock, log?: (line: string) => void, limits?: SharedLimits) {
    this.#clock = clock;
    this.#log = new RequestLog(log);
    this.#limits = limits;
    this.budget = limits?.budget ?? new UsageBudget(clock);
  }

  get running(): ReadonlySet<RunningRequest<R>> {
    return this.#running;
  }

  /** The last request exactly as it was sent. */
  get lastRequest(): LastRequest<R['sent']> | undefined {
    return this.#log.last;
  }

  circuitFor({ ref }: CompletionModel): CircuitBreaker {
    const known = this.#limits?.circuit(ref) ?? this.#circuits.get(ref);
    if (known !== undefined) return known;
    const circuit = new CircuitBreaker(this.#clock);
    this.#circuits.set(ref, circuit);
    return circuit;
  }

  /** The model of the next request: the fallback while requests of the model fail. */
  usable(model: CompletionModel): CompletionModel {
    return model.fallback !== undefined && this.circuitFor(model).waits ? model.fallback : model;
  }

  /** Why requests of a model fail, which does not share its circuit breaker. */
  get open(): OpenCircuit | undefined {
    for (const { open } of this.#circuits.values()) if (open !== undefined) return open;
    return undefined;
  }

  /** The user changed something (a key, the model) or requested a retry. */
  reset(): void {
    for (const circuit of this.#circuits.values()) circuit.reset();
  }

  /** The circuit breaker must have admitted the request. */
  send(request: R): void {
    const controller = new AbortController();
    const running = {
      request,
      sentAt: this.#clock.now(),
      stop: () => controller.abort(),
      get stopped() {
        return controller.signal.aborted;
      },
    };
    this.#log.sent(request.sent);
    this.budget.recordRequest();
    this.#running.add(running);
    void this.#run(running, controller);
  }

  /**
   * Stops the oldest requests of a model whose server has no free slot, as far as they may be stopped.
   *
   * @returns whether a request can be sent.
   */
  makeRoom(model: CompletionModel, mayStop: (request: R) => boolean): boolean {
    const excess = Math.max(0, 1 - this.freeSlots(model));
    const stoppable = this.#ofModel(model.ref)
      .filter(({ request }) => mayStop(request))
      .slice(0, excess);
    for (const { stop } of stoppable) stop();
    return stoppable.length === excess;
  }

  /** The slots of a model's server that these requests leave. */
  freeSlots({ ref, slots = Number.POSITIVE_INFINITY }: CompletionModel): number {
    return slots - this.#ofModel(ref).length;
  }

  #ofModel(ref: string): readonly RunningRequest<R>[] {
    return [...this.#running].filter(({ request, stopped }) => request.model.ref === ref && !stopped);
  }

  /** Stops the requests of a model, as far as they may be stopped. */
  stopModel(ref: string, mayStop: (request: R) => boolean): void {
    for (const { request, stop } of this.#running) if (request.model.ref === ref && mayStop(request)) stop();
  }

  /** Stops the requests of a document, or all. */
  stop(uri?: string): void {
    for (const { request, stop } of this.#running) if (uri === undefined || request.uri === uri) stop();
  }

  async #run(running: RunningRequest<R>, controller: AbortController): Promise<void> {
    const { request, sentAt } = running;
    const { signal } = controller;
    const circuit = this.circuitFor(request.model);
    const { resets } = circuit;
    const events: Event[] = [];
    let received = 0;
    let firstAt: number | undefined;
    let enough = false;
    try {
      for await (const event of request.send(signal)) {
        events.push(event);
        if (event.type === 'text') {
          firstAt ??= this.#clock.now();
          received += event.text.length;
          enough = request.received(event.text, received);
        }
        // Leaving the loop closes the connection.
        if (enough || signal.aborted) break;
      }
    } catch (thrown) {
      events.push({ type: 'error', error: asSvcError(thrown) });
    }
    const stopped = enough || signal.aborted;
    if (stopped) controller.abort();
    const { error, ...answer } = foldEvents(events);
    const outcome: RequestOutcome = {
      answer,
      stopped,
      received,
      total: this.#clock.now() - sentAt,
      outdated: resets !== circuit.resets,
      ...(error === undefined || stopped ? {} : { error }),
      ...(firstAt === undefined ? {} : { firstText: firstAt - sentAt }),
    };
    this.#running.delete(running);
    this.#recordUsage(request, outcome);
    if (!outcome.outdated) reportOutcome(circuit, outcome);
    request.ended(outcome);
  }

  #recordUsage({ model, sent, characters }: R, outcome: RequestOutcome): void {
    const { answer, error, received, stopped, firstText, total } = outcome;
    const { usage } = answer;
    if (error !== undefined) this.budget.recordFailure();
    const cost = error === undefined ? this.budget.recordAnswer(model, usage, characters, received) : undefined;
    this.#log.ended(sent, {
      result: error !== undefined ? 'failed' : stopped ? 'stopped' : 'answered',
      total,
      characters: received,
      ...defined({ firstText }),
      ...(usage === undefined ? {} : { outputTokens: usage.output }),
      ...defined({ cost }),
      ...(error === undefined ? {} : { problem: `${error.status} ${error.errorType}` }),
    });
  }
}

function reportOutcome(circuit: CircuitBreaker, { error, received, stopped }: RequestOutcome): void {
  if (error !== undefined) circuit.failed(error);
  else if (stopped && received === 0) circuit.stopped();
  else circuit.succeeded();
}
