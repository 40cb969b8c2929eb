/** Runs asynchronous work one after the other, in the order of the calls. */
export class SerialQueue {
  #last: Promise<unknown> = Promise.resolve();

  /** Resolves or rejects as `work` does. If it fails, the work after it runs all the same. */
  run<T>(work: () => T | Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }
}

/**
 * Work that is repeated when something changed, but runs only once at a time. Calls while it runs share one further run,
 * which begins afterwards and so sees all changes until then.
 */
export class CoalescedRun<T = void> {
  readonly #work: () => Promise<T>;
  readonly #most: number;
  readonly #running = new Set<Promise<T>>();
  #again: Promise<T> | undefined;

  /** @param most runs at the same time. Calls beyond share one further run. */
  constructor(work: () => Promise<T>, most = 1) {
    this.#work = work;
    this.#most = most;
  }

  /** Resolves or rejects as the run that begins with this call or after it. */
  run(): Promise<T> {
    if (this.#running.size < this.#most && this.#again === undefined) return this.#start();
    this.#again ??= Promise.race(this.#running)
      .catch(() => undefined)
      .then(() => {
        this.#again = undefined;
        return this.#start();
      });
    return this.#again;
  }

  #start(): Promise<T> {
    const run = this.#work().finally(() => this.#running.delete(run));
    this.#running.add(run);
    return run;
  }
}

/** A timer that fires at the earliest of the times for which it was started. It does not keep the process alive. */
export class EarliestTimer {
  readonly #fire: () => void;
  #timer: NodeJS.Timeout | undefined;
  /** Of the monotonic clock. */
  #at = Number.POSITIVE_INFINITY;

  constructor(fire: () => void) {
    this.#fire = fire;
  }

  /** @param delayMs from now. Nothing changes if the timer fires before anyway. */
  start(delayMs: number): void {
    const at = performance.now() + delayMs;
    if (at >= this.#at) return;
    clearTimeout(this.#timer);
    this.#at = at;
    this.#timer = setTimeout(() => {
      this.#at = Number.POSITIVE_INFINITY;
      this.#fire();
    }, delayMs).unref();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#at = Number.POSITIVE_INFINITY;
  }
}

/**
 * Calls `stop` once when the signal fires, or at once if it has fired.
 *
 * @returns a function that removes the listener.
 */
export function onAbort(signal: AbortSignal, stop: () => void): () => void {
  if (signal.aborted) stop();
  else signal.addEventListener('abort', stop, { once: true });
  return () => signal.removeEventListener('abort', stop);
}

/** Resolves when the signal fires, or at once if it has fired. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    onAbort(signal, () => resolve());
  });
}
