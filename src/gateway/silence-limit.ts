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

/** How long an upstream may say nothing: until its first byte, between two pieces of it or two events of its stream. */
export class SilenceLimit {
  readonly #limits: SilenceLimits;
  readonly #exceeded: (error: GatewayError) => void;
  #awaited: keyof typeof WHERE = 'start';
  /** The milliseconds that count now; undefined: none do. */
  #limit: number | undefined;
  /** Milliseconds of `performance.now()`; undefined until the next look, from which the time counts. */
  #until: number | undefined;

  /** Counts from now to the first byte. */
  constructor(limits: SilenceLimits, exceeded: (error: GatewayError) => void) {
    this.#limits = limits;
    this.#exceeded = exceeded;
    if (limits.timeout !== false) this.#start(limits.timeout);
  }

  stop(): void {
    this.#limit = undefined;
    WATCHED.delete(this);
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
  look(now: number): void {
    if (this.#limit === undefined) return;
    this.#until ??= now + this.#limit;
    if (now < this.#until) return;
    const error = timedOut(this.#limits.provider, this.#limit, WHERE[this.#awaited]);
    this.stop();
    this.#exceeded(error);
  }

  #start(milliseconds: number): void {
    if (this.#limit === undefined) watch(this);
    this.#limit = milliseconds;
    this.#until = undefined;
  }
}

/**
 * Milliseconds between two looks: a limit is kept to within two of them. One timer looks at all, for a request that
 * set and ended one of its own, and each frame that set it back, paid more for it than for its log line.
 */
const LOOK_MS = 20;
const WATCHED = new Set<SilenceLimit>();
let timer: NodeJS.Timeout | undefined;

function watch(limit: SilenceLimit): void {
  WATCHED.add(limit);
  timer ??= setInterval(lookAtAll, LOOK_MS);
}

function lookAtAll(): void {
  if (WATCHED.size === 0) {
    clearInterval(timer);
    timer = undefined;
  }
  const now = performance.now();
  for (const limit of WATCHED) limit.look(now);
}

/** More than a comment or a ping is an event without a look at it. */
function holdsEvent(frames: Buffer): boolean {
  return frames.length > 256 || new SseDecoder().push(frames).some(({ event }) => event !== 'ping');
}
