import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

/** Calls `look` until it returns true. @returns milliseconds. @throws if that takes too long, with `what`. */
export async function until(
  what: string,
  look: () => Promise<boolean> | boolean,
  milliseconds = 40_000,
): Promise<number> {
  const start = performance.now();
  while (!(await look())) {
    if (performance.now() - start > milliseconds) assert.fail(`not within ${milliseconds} ms: ${what}`);
    await sleep(10);
  }
  return performance.now() - start;
}
