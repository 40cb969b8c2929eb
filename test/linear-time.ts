import assert from 'node:assert/strict';

/** Processor time in milliseconds that a run takes. */
async function processorTime(run: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** Measurements below this number of milliseconds are too inaccurate. */
const MEASURABLE = 20;

/** Each size is measured so often at least, and so often at most while the two sizes look superlinear. */
const ROUNDS = { least: 3, most: 12 };

/**
 * Fails when the processor time of `run` grows faster than its input: four times the input may take at most eight times
 * as long (linear: 4, quadratic: 16). `make` builds the input of a size; building is not measured. The least time of
 * each size counts, because a busy machine and the garbage collector only ever add time.
 */
export async function assertLinear<T>(size: number, make: (size: number) => T, run: (input: T) => unknown) {
  const small = make(size);
  const large = make(size * 4);
  await run(small);
  let before = Number.POSITIVE_INFINITY;
  let after = Number.POSITIVE_INFINITY;
  const growth = () => after / Math.max(before, MEASURABLE);
  for (let round = 0; round < ROUNDS.least || (round < ROUNDS.most && growth() >= 8); round++) {
    before = Math.min(before, await processorTime(() => run(small)));
    after = Math.min(after, await processorTime(() => run(large)));
  }
  assert.ok(
    growth() < 8,
    `four times the input took ${growth().toFixed(1)} times as long (${before.toFixed(0)} ms, ${after.toFixed(0)} ms)`,
  );
}
