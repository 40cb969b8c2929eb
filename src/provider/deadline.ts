import { GatewayError, type MessageText, msg } from '../wire/errors.ts';

/**
 * The time limits of one attempt and the signal that ends it: the caller's own signal, the time to
 * the first byte, then the time between events. `dispose` leaves no timer and no listener.
 */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal;
  readonly #stop = (): void => this.#controller.abort(this.#outer.reason);
  #timer: NodeJS.Timeout | undefined;

  constructor(outer: AbortSignal, timeout: number | false) {
    this.#outer = outer;
    if (outer.aborted) this.#stop();
    else outer.addEventListener('abort', this.#stop, { once: true });
    if (timeout !== false && timeout > 0)
      this.#arm(timeout, msg('The provider did not answer within {0}.', seconds(timeout)));
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The first byte of the body is there. */
  answered(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** From now on, this long between events. */
  expectEvents(chunkTimeout: number): void {
    this.answered();
    this.#arm(chunkTimeout, msg('The provider sent nothing for {0}.', seconds(chunkTimeout)));
  }

  /** An event came. */
  progress(): void {
    this.#timer?.refresh();
  }

  abort(): void {
    this.#controller.abort(new DOMException('No longer needed.', 'AbortError'));
  }

  dispose(): void {
    this.answered();
    this.#outer.removeEventListener('abort', this.#stop);
  }

  #arm(ms: number, message: MessageText): void {
    // Beyond 2^31 ms setTimeout would fire at once.
    this.#timer = setTimeout(() => this.#controller.abort(timedOut(message)), Math.min(ms, 2 ** 31 - 1));
  }
}

function timedOut(message: MessageText): GatewayError {
  return new GatewayError({
    errorType: 'upstream_timeout',
    message,
    retryable: true,
    action: msg('Try again, or raise `timeout` or `chunkTimeout` of this provider.'),
  });
}

function seconds(ms: number): string {
  return ms < 1000 ? `${ms} ms` : `${Math.round(ms / 100) / 10} s`;
}
