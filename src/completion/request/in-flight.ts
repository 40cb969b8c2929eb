import { asSvcError, type SvcError } from '../../wire/errors/svc-error.ts';
import type { Event, FinishReason, Usage } from '../../wire/event.ts';
import type { CompletionTrimmer } from '../answer/completion-trimmer.ts';
import type { CachedAnswer } from '../cache/suggestion-cache.ts';
import type { Clock } from '../document/clock.ts';
import type { SecretRestorer } from '../prompt/redact.ts';

/** A hole without its model, which the port is bound to. */
export interface SendFimRequest {
  readonly prefix: string;
  readonly suffix: string;
  /** 1 to 1000. */
  readonly maxTokens: number;
  readonly temperature?: number;
  readonly stop?: readonly string[];
}

/** Sends a hole and gives the answer as it streams. Stops the socket when `signal` fires. */
export type CompletionRequest = (fimRequest: SendFimRequest, signal: AbortSignal) => AsyncIterable<Event>;

/** What became of a request. */
export interface RequestOutcome {
  readonly error?: SvcError;
  /** It was stopped by us: contradicted, or enough had come. */
  readonly stopped: boolean;
  readonly usage?: Usage;
  /** Characters that came, before any trimming. */
  readonly received: number;
  /** Milliseconds since it was sent. */
  readonly firstText?: number;
  readonly total: number;
}

export interface InFlightRequest {
  readonly answer: CachedAnswer;
  /** The answer after whose acceptance this one starts; set for speculation. */
  readonly basis?: CachedAnswer;
  readonly uri: string;
  readonly sentAt: number;
  readonly stop: () => void;
}

interface Departure {
  readonly fill: CompletionRequest;
  readonly fimRequest: SendFimRequest;
  readonly uri: string;
  readonly answer: CachedAnswer;
  readonly basis?: CachedAnswer;
  readonly settling: CompletionTrimmer;
  readonly restoring: SecretRestorer;
  /** Called each time the answer's text has grown. */
  readonly grew: () => void;
  readonly landed: (landing: RequestOutcome) => void;
}

/** Requests on their way. Each one lives until it ends or is stopped, whatever the keys do meanwhile. */
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

  send(departure: Departure): void {
    const controller = new AbortController();
    const { answer, basis, uri } = departure;
    const flight: InFlightRequest = {
      answer,
      uri,
      sentAt: this.#clock.now(),
      stop: () => controller.abort(),
      ...(basis === undefined ? {} : { basis }),
    };
    this.#flights.add(flight);
    void this.#follow(departure, flight, controller);
  }

  /** Resolves at the next growth or landing of any request, or after `ms`; `false` if `signal` fired first. */
  change(ms: number, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false);
    return new Promise((resolve) => {
      const over = (): void => {
        this.#waiting.delete(over);
        cancel();
        signal.removeEventListener('abort', over);
        resolve(!signal.aborted);
      };
      const cancel = this.#clock.after(ms, over);
      signal.addEventListener('abort', over, { once: true });
      this.#waiting.add(over);
    });
  }

  stopAll(): void {
    for (const flight of this.#flights) flight.stop();
  }

  async #follow(departure: Departure, flight: InFlightRequest, controller: AbortController): Promise<void> {
    const { answer, settling, restoring } = departure;
    let usage: Usage | undefined;
    let reason: FinishReason = 'closed';
    let error: SvcError | undefined;
    let received = 0;
    let firstAt: number | undefined;
    const take = (text: string): void => {
      settling.push(text);
      this.#grow(departure);
    };
    try {
      for await (const event of departure.fill(departure.fimRequest, controller.signal)) {
        if (event.type === 'text') {
          firstAt ??= this.#clock.now();
          received += event.text.length;
          take(restoring.push(event.text));
        } else if (event.type === 'usage') usage = event.usage;
        else if (event.type === 'finish') reason = event.reason;
        else if (event.type === 'error') error = event.error;
        if (settling.enough || controller.signal.aborted) break;
      }
    } catch (thrown) {
      error = asSvcError(thrown);
    }
    const stopped = controller.signal.aborted || settling.enough;
    if (stopped) controller.abort();
    take(restoring.end());
    settling.end(!stopped && error === undefined && reason === 'stop');
    this.#flights.delete(flight);
    answer.done = true;
    this.#grow(departure, true);
    departure.landed({
      stopped,
      received,
      total: this.#clock.now() - flight.sentAt,
      ...(error === undefined || stopped ? {} : { error }),
      ...(usage === undefined ? {} : { usage }),
      ...(firstAt === undefined ? {} : { firstText: firstAt - flight.sentAt }),
    });
    this.#tell();
  }

  #grow({ answer, settling, grew }: Departure, over = false): void {
    if (settling.text.length === answer.text.length && !over) return;
    const grown = settling.text.length > answer.text.length;
    answer.text = settling.text;
    if (grown) grew();
    this.#tell();
  }

  #tell(): void {
    const waiting = this.#waiting;
    this.#waiting = new Set();
    for (const over of waiting) over();
  }
}
