import { setTimeout } from 'node:timers/promises';

const LIMIT_MS = 120_000;
const LOOK_AGAIN_MS = 50;

/**
 * Waits for a state that reports no event, such as files that another process writes: a recursive watch on Linux can
 * miss files in new folders. The error contains the state that was seen last.
 *
 * @param pauseMs between two looks
 */
export async function waitUntil<T>(
  what: string,
  look: () => T | Promise<T>,
  holds: (state: T) => boolean,
  pauseMs = LOOK_AGAIN_MS,
): Promise<T> {
  const end = Date.now() + LIMIT_MS;
  for (;;) {
    const state = await look();
    if (holds(state)) return state;
    if (Date.now() > end) {
      const seen = typeof state === 'string' ? state : JSON.stringify(state, null, 2);
      throw new Error(`Waited ${LIMIT_MS / 1000} s for ${what}. Seen last:\n${seen}`);
    }
    await setTimeout(pauseMs);
  }
}
