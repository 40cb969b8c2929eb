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
 * @param most rounds
 */
export async function growth(
  small: () => unknown,
  large: () => unknown,
  measurable: number,
  most = ROUNDS.most,
): Promise<Growth> {
  let before = Number.POSITIVE_INFINITY;
  let after = Number.POSITIVE_INFINITY;
  const factor = () => after / Math.max(before, measurable);
  for (let round = 0; round < ROUNDS.least || (round < most && factor() >= SUPERLINEAR); round++) {
    after = Math.min(after, await processorTime(large));
    // Whatever the small input takes, the factor is below the bound.
    if (after < SUPERLINEAR * measurable) break;
    before = Math.min(before, await processorTime(small));
  }
  return { before, after, factor: factor(), superlinear: factor() >= SUPERLINEAR };
}

/**
 * Fails when the processor time of `run` grows faster than its input. `make` builds the input of a size; building is not
 * measured. A time that jumps once is that of memory: an input that no longer fits into the caches of a busy machine.
 * Superlinear time also grows to the next size.
 */
export async function assertLinear<T>(size: number, make: (size: number) => T, run: (input: T) => unknown) {
  const inputs = [make(size), make(size * 4)] as const;
  await run(inputs[0]);
  const first = await growthOf(run, ...inputs);
  if (!first.superlinear) return;
  const next = await growthOf(run, inputs[1], make(size * 16), ROUNDS.least);
  const tell = ({ before, after, factor }: Growth) =>
    `${factor.toFixed(1)} times as long (${before.toFixed(0)} ms, ${after.toFixed(0)} ms)`;
  assert.ok(!next.superlinear, `four times the input took ${tell(first)}, and four times that one ${tell(next)}`);
}

function growthOf<T>(run: (input: T) => unknown, small: T, large: T, most?: number): Promise<Growth> {
  return growth(
    () => run(small),
    () => run(large),
    20,
    most,
  );
}
