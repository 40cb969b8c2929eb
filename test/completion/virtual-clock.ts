import type { Clock } from '../../src/completion/document/clock.ts';

/** A clock that advances on request only, runs timers in order and settles promises in between. */
export class VirtualClock implements Clock {
  #now = 0;
  #timers: { at: number; order: number; callback: () => void }[] = [];
  #order = 0;

  now(): number {
    return this.#now;
  }

  after(ms: number, callback: () => void): () => void {
    const timer = { at: this.#now + Math.max(0, ms), order: this.#order++, callback };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.after(ms, resolve);
    });
  }

  async pass(ms: number): Promise<void> {
    const until = this.#now + ms;
    await ready();
    for (;;) {
      const [next] = this.#timers.sort((a, b) => a.at - b.at || a.order - b.order);
      if (next === undefined || next.at > until) break;
      this.#timers.shift();
      this.#now = next.at;
      next.callback();
      await ready();
    }
    this.#now = until;
  }
}

/** Lets every promise that can settle do so. */
export function ready(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
