import { until } from './until.ts';

const MINUTE_MS = 60_000;

/** Requests that were answered with 200, with their times. */
export class AllowedRequests {
  readonly #answered: { readonly sent: number; readonly ended: number }[] = [];

  /** Sends requests at the same time. @param send returns the status. */
  async send(requests: readonly (() => Promise<number>)[]): Promise<void> {
    await Promise.all(
      requests.map(async (send) => {
        const sent = performance.now();
        if ((await send()) === 200) this.#answered.push({ sent, ended: performance.now() });
      }),
    );
  }

  /** Sends them again and again until so many were allowed, and some times more. */
  async useUp(least: number, requests: readonly (() => Promise<number>)[]): Promise<void> {
    await until('the rate is used up', async () => {
      await this.send(requests);
      return this.count >= least || `${this.count} requests were allowed`;
    });
    for (let more = 0; more < 20; more += 1) await this.send(requests);
  }

  get count(): number {
    return this.#answered.length;
  }

  /** The most that were certainly counted in one minute, also if the machine is so slow that all took longer. */
  get mostInAMinute(): number {
    const within = (from: number) =>
      this.#answered.filter(({ sent, ended }) => sent >= from && ended < from + MINUTE_MS).length;
    return Math.max(0, ...this.#answered.map(({ sent }) => within(sent)));
  }
}
