import { mergeCounts } from '../accounting/metrics.ts';

/**
 * The metrics of all workers, in the primary: the last report of each, and the counts of those that have ended. So no
 * counter goes down while the primary lives, whether a worker ends, is killed, or is too busy to answer.
 */
export class MetricsKeeper {
  readonly #byWorker = new Map<number, string>();
  #ended: Promise<readonly string[]> = Promise.resolve([]);

  /** @param text the result of `Metrics.toJson` of a worker. */
  said(worker: number, text: string): void {
    this.#byWorker.set(worker, text);
  }

  /** A worker has ended, and all of its messages have arrived. */
  leave(worker: number): void {
    const last = this.#byWorker.get(worker);
    this.#byWorker.delete(worker);
    if (last !== undefined) this.#ended = this.#ended.then(async (before) => [await mergeCounts([...before, last])]);
  }

  async all(): Promise<readonly string[]> {
    return [...(await this.#ended), ...this.#byWorker.values()];
  }
}
