import type { SvcError } from '../wire/errors/svc-error.ts';
import { fellSilent, notAnswered } from '../wire/errors/upstream-errors.ts';
import { SseDecoder } from '../wire/stream/sse.ts';

export interface TimeLimitSettings {
  /** Milliseconds until the first byte, and between two chunks of a body that is not streamed; false for no limit. */
  readonly timeout: number | false;
  /** Milliseconds between two events of a stream. */
  readonly chunkTimeout?: number | undefined;
}

/**
 * Milliseconds between two checks. Limits are accurate to two checks. One timer checks all requests, because a timer
 * for each request, restarted by each frame, costs more than the request's log line.
 */
const CHECK_MS = 20;

/** Limits the silence of an upstream: until the first byte, between two chunks of a body or two events of a stream. */
export class TimeLimits {
  readonly #settings: TimeLimitSettings;
  readonly #exceeded: (error: SvcError) => void;
  #awaited: 'start' | 'piece' | 'event' = 'start';
  /** The current limit in milliseconds; undefined for none. */
  #limit: number | undefined;
  /** Milliseconds of `performance.now()`. Undefined until the next check, which starts the time. */
  #until: number | undefined;
  /** The neighbours in the list of active limits. */
  #previous: TimeLimits | undefined;
  #next: TimeLimits | undefined;

  /** Starts the time until the first byte. */
  constructor(settings: TimeLimitSettings, exceeded: (error: SvcError) => void) {
    this.#settings = settings;
    this.#exceeded = exceeded;
    this.#startTimeout();
  }

  stop(): void {
    if (this.#limit === undefined) return;
    this.#limit = undefined;
    if (this.#previous) this.#previous.#next = this.#next;
    else TimeLimits.#first = this.#next;
    if (this.#next) this.#next.#previous = this.#previous;
    this.#previous = undefined;
    this.#next = undefined;
  }

  /** Starts or restarts the time until the next bytes of an answer that is not streamed. */
  expectPiece(): void {
    this.#awaited = 'piece';
    this.#startTimeout();
  }

  /** Starts the time between two events. Restarts it if `frames` has an event other than comments and pings. */
  expectEvent(frames?: Buffer): void {
    const { chunkTimeout } = this.#settings;
    if (this.#awaited !== 'event') this.stop();
    this.#awaited = 'event';
    if (chunkTimeout === undefined) return;
    if (this.#limit === undefined || (frames !== undefined && hasEvent(frames))) this.#start(chunkTimeout);
  }

  /** Restarts the time between two events. */
  eventCame(): void {
    if (this.#awaited === 'event' && this.#limit !== undefined) this.#until = undefined;
  }

  #startTimeout(): void {
    const { timeout } = this.#settings;
    if (timeout !== false && timeout > 0) this.#start(timeout);
  }

  /** @param now milliseconds of `performance.now()`. */
  #check(now: number): void {
    if (this.#limit === undefined) return;
    this.#until ??= now + this.#limit;
    if (now < this.#until) return;
    const error = this.#awaited === 'start' ? notAnswered(this.#limit) : fellSilent(this.#limit);
    this.stop();
    this.#exceeded(error);
  }

  #start(milliseconds: number): void {
    if (this.#limit === undefined) this.#watch();
    this.#limit = milliseconds;
    this.#until = undefined;
  }

  /**
   * A linked list of the active limits. A `Set` replaces its tables as it grows and shrinks, and old tables kept their
   * limits from being garbage-collected. That cost the gateway more than the timers.
   */
  static #first: TimeLimits | undefined;
  static #timer: NodeJS.Timeout | undefined;

  #watch(): void {
    this.#next = TimeLimits.#first;
    if (this.#next) this.#next.#previous = this;
    TimeLimits.#first = this;
    TimeLimits.#timer ??= setInterval(TimeLimits.#checkAll, CHECK_MS);
  }

  static #checkAll(): void {
    if (TimeLimits.#first === undefined) {
      clearInterval(TimeLimits.#timer);
      TimeLimits.#timer = undefined;
    }
    const now = performance.now();
    for (let each = TimeLimits.#first; each !== undefined; ) {
      // The check may remove it from the list.
      const next: TimeLimits | undefined = each.#next;
      each.#check(now);
      each = next;
    }
  }
}

/** Bytes that are longer than a comment or a ping contain an event and are not parsed. */
function hasEvent(frames: Buffer): boolean {
  return frames.length > 256 || new SseDecoder().push(frames).some(({ event }) => event !== 'ping');
}

/**
 * The time limits of one attempt as a signal, which also fires with the caller's signal. `dispose` removes the listener
 * and stops the limits.
 */
export class Deadline {
  readonly limits: TimeLimits;
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal;
  readonly #stop = (): void => this.#controller.abort(this.#outer.reason);

  constructor(outer: AbortSignal, settings: TimeLimitSettings) {
    this.#outer = outer;
    this.limits = new TimeLimits(settings, (error) => this.#controller.abort(error));
    if (outer.aborted) this.#stop();
    else outer.addEventListener('abort', this.#stop, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  abort(): void {
    this.#controller.abort(new DOMException('No longer needed.', 'AbortError'));
  }

  dispose(): void {
    this.limits.stop();
    this.#outer.removeEventListener('abort', this.#stop);
  }
}
