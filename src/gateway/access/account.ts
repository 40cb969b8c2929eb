import { RateWindow } from './rate-window.ts';

/** What one key may still use. Lives as long as the process; the key's limits may change meanwhile. */
export class Account {
  /** USD; absent: no budget. */
  budget: number | undefined;
  /** Requests a minute; absent: no limit. */
  rpm: number | undefined;
  readonly window = new RateWindow();
  /** USD as the state says it. */
  #stored = 0;
  /** USD since then, not yet in the state. */
  #pending = 0;

  /** USD spent on the gateway's own credentials. */
  get spent(): number {
    return this.#stored + this.#pending;
  }

  spend(cost: number): void {
    this.#pending += cost;
  }

  /** `cost` of what is pending has been stored. */
  stored(cost: number): void {
    this.#pending = Math.max(0, this.#pending - cost);
    this.#stored += cost;
  }

  /** The state was read anew. */
  restore(stored: number): void {
    this.#stored = stored;
  }
}
