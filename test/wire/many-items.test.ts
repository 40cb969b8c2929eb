import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { COMPILE_CACHE } from '../compile-cache.ts';

/** Kilobytes of the stack, a quarter of the usual one, and more items than it holds as arguments of one call. */
const STACK = 240;
const ITEMS = 31_000;

describe('more items than the stack holds', () => {
  const run = (...args: string[]) =>
    promisify(execFile)(process.execPath, [`--stack-size=${STACK}`, ...args], {
      env: { ...process.env, NODE_COMPILE_CACHE: COMPILE_CACHE },
    });
  const program = join(import.meta.dirname, 'many-items.ts');

  it('items: are more than the stack of the test holds', () =>
    assert.rejects(run('-e', `[].push(...Array(${ITEMS}).fill(1))`), /Maximum call stack size exceeded/));

  it('request: may have more items than the stack holds, in each format', () => run(program, 'request', String(ITEMS)));

  it('answer: one event may have more items than the stack holds, in each format', () =>
    run(program, 'answer', String(ITEMS)));
});
