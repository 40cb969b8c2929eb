/**
 * Collects the work of one iteration of the event loop (complete requests, complete answers) and runs it after all
 * sockets have been read. Code and data then stay in the processor's caches, and consecutive writes wake the reader once.
 * 64 requests together cost a third less than 64 one after another, with 40 % of the cache misses (docs/performance.md).
 */
export class TickBatch {
  readonly #busy: () => boolean;
  #work: (() => void)[] = [];

  /** @param busy true while more than one request is active. Otherwise there is nothing to wait for. */
  constructor(busy: () => boolean) {
    this.#busy = busy;
  }

  /** Calls `work` after this iteration's reads, in the order of the calls; immediately if no other request is active. */
  later(work: () => void): void {
    if (this.#work.length === 0 && !this.#busy()) return work();
    if (this.#work.push(work) === 1) setImmediate(this.#run);
  }

  readonly #run = (): void => {
    const work = this.#work;
    this.#work = [];
    let begun = 0;
    try {
      for (const each of work) {
        begun += 1;
        each();
      }
    } finally {
      // If one throws, those after it still run.
      const left = work.slice(begun);
      if (left.length > 0 && this.#work.unshift(...left) === left.length) setImmediate(this.#run);
    }
  };
}
