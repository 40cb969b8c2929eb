import { onAbort } from '../../base/concurrency.ts';

/** The engine's clock. Injected, so that tests and benchmarks can use virtual time. */
export interface Clock {
  /** Milliseconds. Only differences are meaningful. */
  now(): number;
  /** Calls `callback` after `ms`. The returned function cancels it. */
  after(ms: number, callback: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};

/** Resolves with true after `ms`, or with false as soon as `signal` fires. */
export function delay(clock: Clock, ms: number, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return Promise.resolve(false);
  if (ms <= 0) return Promise.resolve(true);
  return new Promise((resolve) => {
    const cancel = clock.after(ms, () => {
      remove();
      resolve(true);
    });
    const remove = onAbort(signal, () => {
      cancel();
      resolve(false);
    });
  });
}
