import { setImmediate } from 'node:timers/promises';

/** Work that can be interrupted: it yields wherever other work may run. */
export type SlicedWork<T> = Generator<void, T>;

/** Runs the steps without a pause. */
export function runAtOnce<T>(steps: SlicedWork<T>): T {
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
}

/** Milliseconds of work per iteration of the event loop. Short enough not to delay typing in the same process. */
const SLICE_MS = 5;

/** Runs the steps and lets other work of the process run in between. */
export async function runInSlices<T>(steps: SlicedWork<T>): Promise<T> {
  let end = performance.now() + SLICE_MS;
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    if (performance.now() < end) continue;
    await setImmediate();
    end = performance.now() + SLICE_MS;
  }
}
