import type { GatewayError } from '../wire/errors.ts';
import { SseDecoder } from '../wire/sse.ts';
import { timedOut } from './upstream-failures.ts';

export interface SilenceLimits {
  readonly provider: string;
  /** Milliseconds until the first byte of the body; false: no limit. */
  readonly timeout: number | false;
  /** Milliseconds between two events of a stream. */
  readonly chunkTimeout?: number | undefined;
}

/** How long an upstream may say nothing: until its first byte, then between two events of its stream. */
export class SilenceLimit {
  readonly #limits: SilenceLimits;
  readonly #exceeded: (error: GatewayError) => void;
  #timer: NodeJS.Timeout | undefined;

  /** Counts from now to the first byte. */
  constructor(limits: SilenceLimits, exceeded: (error: GatewayError) => void) {
    this.#limits = limits;
    this.#exceeded = exceeded;
    if (limits.timeout !== false) this.#start(limits.timeout, 'before its first byte');
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Starts the time between two events, anew when `frames` hold one: comments and pings are none. */
  expectEvent(frames: Buffer | undefined): void {
    const { chunkTimeout } = this.#limits;
    if (chunkTimeout === undefined) return;
    if (this.#timer === undefined) this.#start(chunkTimeout, 'between two events');
    else if (frames !== undefined && holdsEvent(frames)) this.#timer.refresh();
  }

  #start(milliseconds: number, where: string): void {
    // Beyond 2^31 ms a timer would fire at once.
    const wait = Math.min(milliseconds, 2 ** 31 - 1);
    this.#timer = setTimeout(() => this.#exceeded(timedOut(this.#limits.provider, milliseconds, where)), wait);
  }
}

/** More than a comment or a ping is an event without a look at it. */
function holdsEvent(frames: Buffer): boolean {
  return frames.length > 256 || new SseDecoder().push(frames).some(({ event }) => event !== 'ping');
}
