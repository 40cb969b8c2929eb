/** Time as the engine sees it, handed in so that a replay can run on its own clock. */
export interface Clock {
  /** Milliseconds; only differences mean anything. */
  now(): number;
  /** Calls back after `ms`; the returned function cancels. */
  after(ms: number, callback: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};

/** Resolves after `ms`, or at once when `signal` fires; tells whether the time went by. */
export function delay(clock: Clock, ms: number, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return Promise.resolve(false);
  if (ms <= 0) return Promise.resolve(true);
  return new Promise((resolve) => {
    const cancelled = (): void => {
      cancel();
      resolve(false);
    };
    const cancel = clock.after(ms, () => {
      signal.removeEventListener('abort', cancelled);
      resolve(true);
    });
    signal.addEventListener('abort', cancelled, { once: true });
  });
}
