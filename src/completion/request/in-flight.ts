import { asSvcError, type SvcError } from '../../wire/errors/svc-error.ts';
import type { Event, FinishReason, Usage } from '../../wire/event.ts';
import type { CompletionTrimmer } from '../answer/completion-trimmer.ts';
import type { CachedAnswer } from '../cache/suggestion-cache.ts';
import type { Clock } from '../document/clock.ts';
import type { SecretRestorer } from '../prompt/redact.ts';

/** A FIM request without the model, which `CompletionRequest` is bound to. */
export interface SendFimRequest {
  readonly prefix: string;
  readonly suffix: string;
  /** 1 to 1000. */
  readonly maxTokens: number;
  readonly temperature?: number;
  readonly stop?: readonly string[];
}

/** Sends a FIM request and yields the answer as it streams. Closes the connection when `signal` fires. */
export type CompletionRequest = (fimRequest: SendFimRequest, signal: AbortSignal) => AsyncIterable<Event>;

/** The outcome of a request. */
export interface RequestOutcome {
  readonly error?: SvcError;
  /** The engine stopped it: it contradicted the text, or enough was received. */
  readonly stopped: boolean;
  readonly usage?: Usage;
  /** Received characters, before trimming. */
  readonly received: number;
  /** Milliseconds since the request was sent. */
  readonly firstText?: number;
  readonly total: number;
}

export interface InFlightRequest {
  readonly answer: CachedAnswer;
  /** For speculation: the answer that must be accepted before this one applies. */
  readonly basis?: CachedAnswer;
  readonly uri: string;
  readonly sentAt: number;
  readonly stop: () => void;
}

interface SendParameters {
  readonly fill: CompletionRequest;
  readonly fimRequest: SendFimRequest;
  readonly uri: string;
  readonly answer: CachedAnswer;
  readonly basis?: CachedAnswer;
  readonly trimmer: CompletionTrimmer;
  readonly restorer: SecretRestorer;
  /** Called each time the answer's text grew. */
  readonly grew: () => void;
  readonly ended: (outcome: RequestOutcome) => void;
}

/** The running requests. Typing does not cancel them: each one runs until it ends or is stopped. */
export class InFlightRequests {
  readonly #clock: Clock;
  readonly #flights = new Set<InFlightRequest>();
  #waiting = new Set<() => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get flights(): ReadonlySet<InFlightRequest> {
    return this.#flights;
  }

  of(answer: CachedAnswer): InFlightRequest | undefined {
    for (const flight of this.#flights) if (flight.answer === answer) return flight;
    return undefined;
  }

  send(parameters: SendParameters): void {
    const controller = new AbortController();
    const { answer, basis, uri } = parameters;
    const flight: InFlightRequest = {
      answer,
      uri,
      sentAt: this.#clock.now(),
      stop: () => controller.abort(),
      ...(basis === undefined ? {} : { basis }),
    };
    this.#flights.add(flight);
    void this.#run(parameters, flight, controller);
  }

  /** Resolves when any request grows or ends, or after `ms`; with `false` if `signal` fired first. */
  change(ms: number, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false);
    return new Promise((resolve) => {
      const done = (): void => {
        this.#waiting.delete(done);
        cancel();
        signal.removeEventListener('abort', done);
        resolve(!signal.aborted);
      };
      const cancel = this.#clock.after(ms, done);
      signal.addEventListener('abort', done, { once: true });
      this.#waiting.add(done);
    });
  }

  stopAll(): void {
    for (const flight of this.#flights) flight.stop();
  }

  async #run(parameters: SendParameters, flight: InFlightRequest, controller: AbortController): Promise<void> {
    const { answer, trimmer, restorer } = parameters;
    let usage: Usage | undefined;
    let reason: FinishReason = 'closed';
    let error: SvcError | undefined;
    let received = 0;
    let firstAt: number | undefined;
    const addText = (text: string): void => {
      trimmer.push(text);
      this.#grow(parameters);
    };
    try {
      for await (const event of parameters.fill(parameters.fimRequest, controller.signal)) {
        if (event.type === 'text') {
          firstAt ??= this.#clock.now();
          received += event.text.length;
          addText(restorer.push(event.text));
        } else if (event.type === 'usage') usage = event.usage;
        else if (event.type === 'finish') reason = event.reason;
        else if (event.type === 'error') error = event.error;
        if (trimmer.enough || controller.signal.aborted) break;
      }
    } catch (thrown) {
      error = asSvcError(thrown);
    }
    const stopped = controller.signal.aborted || trimmer.enough;
    if (stopped) controller.abort();
    addText(restorer.end());
    trimmer.end(!stopped && error === undefined && reason === 'stop');
    this.#flights.delete(flight);
    answer.done = true;
    answer.cut = trimmer.cut;
    this.#grow(parameters, true);
    parameters.ended({
      stopped,
      received,
      total: this.#clock.now() - flight.sentAt,
      ...(error === undefined || stopped ? {} : { error }),
      ...(usage === undefined ? {} : { usage }),
      ...(firstAt === undefined ? {} : { firstText: firstAt - flight.sentAt }),
    });
    this.#notifyWaiting();
  }

  #grow({ answer, trimmer, grew }: SendParameters, done = false): void {
    if (trimmer.text.length === answer.text.length && !done) return;
    const grown = trimmer.text.length > answer.text.length;
    answer.text = trimmer.text;
    if (grown) grew();
    this.#notifyWaiting();
  }

  #notifyWaiting(): void {
    const waiting = this.#waiting;
    this.#waiting = new Set();
    for (const done of waiting) done();
  }
}
