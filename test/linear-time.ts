import assert from 'node:assert/strict';

/** Processor time in milliseconds that a run takes. */
async function processorTime(run: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** The least of some runs: a busy machine and the garbage collector only ever add time. */
async function leastTime(run: () => unknown): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 3; round++) least = Math.min(least, await processorTime(run));
  return least;
}

/** Measurements below this number of milliseconds are too inaccurate. */
const MEASURABLE = 20;

/**
 * Fails when the processor time of `run` grows faster than its input: four times the input may take at most eight times
 * as long (linear: 4, quadratic: 16). `make` builds the input of a size; building is not measured.
 */
export async function assertLinear<T>(size: number, make: (size: number) => T, run: (input: T) => unknown) {
  const small = make(size);
  const large = make(size * 4);
  await run(small);
  const before = Math.max(await leastTime(() => run(small)), MEASURABLE);
  const after = await leastTime(() => run(large));
  assert.ok(
    after / before < 8,
    `four times the input took ${(after / before).toFixed(1)} times as long (${before.toFixed(0)} ms, ${after.toFixed(0)} ms)`,
  );
}
