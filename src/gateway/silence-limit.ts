import type { GatewayError } from '../wire/errors.ts';
import { SseDecoder } from '../wire/sse.ts';
import { timedOut } from './upstream-failures.ts';

export interface SilenceLimits {
  readonly provider: string;
  /** Milliseconds until the first byte of the body, and between those of one that is not streamed; false: no limit. */
  readonly timeout: number | false;
  /** Milliseconds between two events of a stream. */
  readonly chunkTimeout?: number | undefined;
}

const WHERE = {
  start: 'before its first byte',
  piece: 'in the middle of its answer',
  event: 'between two events',
} as const;

/**
 * Milliseconds between two looks: a limit is kept to within two of them. One timer looks at all, for a request that
 * set and ended one of its own, and each frame that set it back, paid more for it than for its log line.
 */
const LOOK_MS = 20;

/** How long an upstream may say nothing: until its first byte, between two pieces of it or two events of its stream. */
export class SilenceLimit {
  readonly #limits: SilenceLimits;
  readonly #exceeded: (error: GatewayError) => void;
  #awaited: keyof typeof WHERE = 'start';
  /** The milliseconds that count now; undefined: none do. */
  #limit: number | undefined;
  /** Milliseconds of `performance.now()`; undefined until the next look, from which the time counts. */
  #until: number | undefined;
  /** Its neighbours among those that are watched. */
  #before: SilenceLimit | undefined;
  #behind: SilenceLimit | undefined;

  /** Counts from now to the first byte. */
  constructor(limits: SilenceLimits, exceeded: (error: GatewayError) => void) {
    this.#limits = limits;
    this.#exceeded = exceeded;
    if (limits.timeout !== false) this.#start(limits.timeout);
  }

  stop(): void {
    if (this.#limit === undefined) return;
    this.#limit = undefined;
    if (this.#before) this.#before.#behind = this.#behind;
    else SilenceLimit.#first = this.#behind;
    if (this.#behind) this.#behind.#before = this.#before;
    this.#before = undefined;
    this.#behind = undefined;
  }

  /** Starts, or starts anew, the time until the next bytes of an answer that is not streamed. */
  expectPiece(): void {
    const { timeout } = this.#limits;
    this.#awaited = 'piece';
    if (timeout !== false) this.#start(timeout);
  }

  /** Starts the time between two events, anew when `frames` hold one: comments and pings are none. */
  expectEvent(frames: Buffer | undefined): void {
    const { chunkTimeout } = this.#limits;
    if (this.#awaited !== 'event') this.stop();
    this.#awaited = 'event';
    if (chunkTimeout === undefined) return;
    if (this.#limit === undefined || (frames !== undefined && holdsEvent(frames))) this.#start(chunkTimeout);
  }

  /** @param now milliseconds of `performance.now()`. */
  #look(now: number): void {
    if (this.#limit === undefined) return;
    this.#until ??= now + this.#limit;
    if (now < this.#until) return;
    const error = timedOut(this.#limits.provider, this.#limit, WHERE[this.#awaited]);
    this.stop();
    this.#exceeded(error);
  }

  #start(milliseconds: number): void {
    if (this.#limit === undefined) this.#watch();
    this.#limit = milliseconds;
    this.#until = undefined;
  }

  /**
   * Those that count, each with its neighbours. A `Set` leaves its tables behind as it grows and shrinks, and each
   * kept what it knew of from being collected: that cost the gateway more than the timers.
   */
  static #first: SilenceLimit | undefined;
  static #timer: NodeJS.Timeout | undefined;

  #watch(): void {
    this.#behind = SilenceLimit.#first;
    if (this.#behind) this.#behind.#before = this;
    SilenceLimit.#first = this;
    SilenceLimit.#timer ??= setInterval(SilenceLimit.#lookAtAll, LOOK_MS);
  }

  static #lookAtAll(): void {
    if (SilenceLimit.#first === undefined) {
      clearInterval(SilenceLimit.#timer);
      SilenceLimit.#timer = undefined;
    }
    const now = performance.now();
    for (let each = SilenceLimit.#first; each !== undefined; ) {
      // Looking at one may end it.
      const next: SilenceLimit | undefined = each.#behind;
      each.#look(now);
      each = next;
    }
  }
}

/** More than a comment or a ping is an event without a look at it. */
function holdsEvent(frames: Buffer): boolean {
  return frames.length > 256 || new SseDecoder().push(frames).some(({ event }) => event !== 'ping');
}
