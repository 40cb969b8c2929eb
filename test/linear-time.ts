import assert from 'node:assert/strict';

/** Processor time in milliseconds that a run takes. */
export async function processorTime(run: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** Linear time grows by 4 for four times the input, quadratic time by 16. */
const SUPERLINEAR = 8;

/** Each size is measured so often at least, and so often at most while the two sizes look superlinear. */
const ROUNDS = { least: 3, most: 12 };

export interface Growth {
  /** Least processor time for the small and the large input, in milliseconds. */
  readonly before: number;
  readonly after: number;
  readonly factor: number;
  readonly superlinear: boolean;
}

/**
 * How the processor time grows from an input to one that is four times as large. The least time of each counts, because
 * a busy machine and the garbage collector only ever add time. Both are measured in turn, so that the machine is equally
 * busy for both.
 * @param measurable milliseconds: shorter times are too inaccurate and count as this.
 */
export async function growth(small: () => unknown, large: () => unknown, measurable: number): Promise<Growth> {
  let before = Number.POSITIVE_INFINITY;
  let after = Number.POSITIVE_INFINITY;
  const factor = () => after / Math.max(before, measurable);
  for (let round = 0; round < ROUNDS.least || (round < ROUNDS.most && factor() >= SUPERLINEAR); round++) {
    after = Math.min(after, await processorTime(large));
    // Whatever the small input takes, the factor is below the bound.
    if (after < SUPERLINEAR * measurable) break;
    before = Math.min(before, await processorTime(small));
  }
  return { before, after, factor: factor(), superlinear: factor() >= SUPERLINEAR };
}

/**
 * Fails when the processor time of `run` grows faster than its input. `make` builds the input of a size; building is not
 * measured.
 */
export async function assertLinear<T>(size: number, make: (size: number) => T, run: (input: T) => unknown) {
  const small = make(size);
  const large = make(size * 4);
  await run(small);
  const { before, after, factor, superlinear } = await growth(
    () => run(small),
    () => run(large),
    20,
  );
  const times = `${before.toFixed(0)} ms, ${after.toFixed(0)} ms`;
  assert.ok(!superlinear, `four times the input took ${factor.toFixed(1)} times as long (${times})`);
}
