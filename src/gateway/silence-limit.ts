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
  #timer: NodeJS.Timeout | undefined;

  /** Counts from now to the first byte. */
  constructor(limits: SilenceLimits, exceeded: (error: GatewayError) => void) {
    this.#limits = limits;
    this.#exceeded = exceeded;
    if (limits.timeout !== false) this.#start(limits.timeout);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Starts, or starts anew, the time until the next bytes of an answer that is not streamed. */
  expectPiece(): void {
    const { timeout } = this.#limits;
    if (timeout === false) return;
    this.#awaited = 'piece';
    if (this.#timer === undefined) this.#start(timeout);
    else this.#timer.refresh();
  }

  /** Starts the time between two events, anew when `frames` hold one: comments and pings are none. */
  expectEvent(frames: Buffer | undefined): void {
    const { chunkTimeout } = this.#limits;
    if (this.#awaited !== 'event') this.stop();
    this.#awaited = 'event';
    if (chunkTimeout === undefined) return;
    if (this.#timer === undefined) this.#start(chunkTimeout);
    else if (frames !== undefined && holdsEvent(frames)) this.#timer.refresh();
  }

  #start(milliseconds: number): void {
    const exceeded = () => this.#exceeded(timedOut(this.#limits.provider, milliseconds, WHERE[this.#awaited]));
    // Beyond 2^31 ms a timer would fire at once.
    this.#timer = setTimeout(exceeded, Math.min(milliseconds, 2 ** 31 - 1));
  }
}

/** More than a comment or a ping is an event without a look at it. */
function holdsEvent(frames: Buffer): boolean {
  return frames.length > 256 || new SseDecoder().push(frames).some(({ event }) => event !== 'ping');
}
