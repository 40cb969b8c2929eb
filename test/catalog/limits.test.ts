import assert from 'node:assert/strict';
import { outputCap, outputTokens, overflow, usableTokens } from '../../src/catalog/limits.ts';

const limited = (context: number, output: number, input?: number) => ({
  limit: input === undefined ? { context, output } : { context, output, input },
});
const cap = (value?: string) => ({ SVC_EXPERIMENTAL_OUTPUT_TOKEN_MAX: value });

describe('the output cap', () => {
  const cases: readonly [number, string | undefined, number][] = [
    [64_000, undefined, 32_000],
    [5_000, undefined, 5_000],
    [0, undefined, 32_000],
    [64_000, '50000', 50_000],
    [5_000, '50000', 5_000],
    [0, '64000', 64_000],
    [64_000, 'abc', 32_000],
    [64_000, '-5', 32_000],
    [64_000, '0', 32_000],
    [64_000, '1.5', 32_000],
    [64_000, '1e4', 32_000],
    [64_000, '', 32_000],
    [64_000, '99999999999999999999', 32_000],
  ];
  for (const [output, value, expected] of cases) {
    it(`output cap: ${expected} for a limit of ${output} and the variable ${value === undefined ? 'unset' : JSON.stringify(value)}`, () => {
      assert.equal(outputTokens(limited(100_000, output), outputCap(cap(value)).cap), expected);
    });
  }

  it('output cap: warns only of an invalid value of the variable', () => {
    assert.match(outputCap(cap('abc')).warning ?? '', /SVC_EXPERIMENTAL_OUTPUT_TOKEN_MAX/);
    assert.equal(outputCap(cap('')).warning, undefined);
    assert.equal(outputCap(cap('50000')).warning, undefined);
  });
});

describe('overflow', () => {
  // Each pair: the first number above the limit, and the last one within it.
  const cases: readonly [ReturnType<typeof limited>, number, string][] = [
    [limited(100_000, 20_000), 80_000, 'context less the answer'],
    [limited(100_000, 64_000), 68_000, 'context less the capped answer'],
    [limited(400_000, 5_000, 100_000), 95_000, 'input less the answer'],
    [limited(400_000, 64_000, 100_000), 80_000, 'input less at most 20,000'],
    [limited(0, 5_000, 100_000), 95_000, 'input alone'],
    [limited(32_000, 0), 24_000, 'a quarter of a window that the answer would take whole'],
    [limited(8_192, 8_192), 6_144, 'a quarter of a small window'],
    [limited(400_000, 64_000, 8_000), 6_000, 'a quarter of a small input'],
  ];
  for (const [model, first, name] of cases) {
    it(`overflow: starts at ${first}: ${name}`, () => {
      const output = outputTokens(model);
      assert.equal(overflow(model, first, output), true);
      assert.equal(overflow(model, first - 1, output), false);
    });
  }

  it('overflow: never starts without a known limit', () => {
    assert.equal(overflow(limited(0, 0), 10_000_000, 32_000), false);
    assert.equal(overflow(limited(0, 4_096, 0), 10_000_000, 4_096), false);
    assert.equal(usableTokens(limited(0, 0), 32_000), undefined);
  });
});
