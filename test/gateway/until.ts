import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect, isDeepStrictEqual } from 'node:util';

/**
 * Calls `check` until it returns true. Anything else that it returns is what it saw. @returns milliseconds. @throws if
 * that takes too long, with `what` and what was seen last.
 */
export async function until(
  what: string,
  check: () => unknown | Promise<unknown>,
  milliseconds = 60_000,
): Promise<number> {
  const start = performance.now();
  for (;;) {
    const seen = await check();
    if (seen === true) return performance.now() - start;
    if (performance.now() - start > milliseconds) {
      const shown = typeof seen === 'string' ? seen : inspect(seen);
      assert.fail(`not within ${milliseconds} ms: ${what}; seen last: ${shown}`);
    }
    await sleep(10);
  }
}

/** Calls `read` until it returns a value that is equal to the expected one. As `until`. */
export function untilEqual<T>(
  what: string,
  read: () => T | Promise<T>,
  expected: T,
  milliseconds?: number,
): Promise<number> {
  const check = async () => {
    const seen = await read();
    return isDeepStrictEqual(seen, expected) || `${inspect(seen)} instead of ${inspect(expected)}`;
  };
  return until(what, check, milliseconds);
}
