import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { ours } from '../bench/typist/contestants.ts';
import { Oracle } from '../bench/typist/oracle.ts';
import { tasksOf } from '../bench/typist/truth.ts';
import { Typist } from '../bench/typist/typist.ts';
import { llamaSlots } from './llama-slots.ts';
import { VirtualClock } from './virtual-clock.ts';

const FOLDER = new URL('../bench/typist/fixtures/', import.meta.url);
const SEED = 20_250;

describe('completions by llama.cpp on this machine', () => {
  const files = readdirSync(FOLDER)
    .sort()
    .map((name) => readFileSync(new URL(name, FOLDER), 'utf8'));
  const tasks = files.flatMap((file) => tasksOf(file, 1).slice(0, 1));

  for (const [tokensPerSecond, policy] of [
    [8, 'all'],
    [8, 'never'],
    [30, 'all'],
    [30, 'never'],
  ] as const) {
    it(`local speed: ${tokensPerSecond} tokens/s with one slot, accepted: ${policy}: ghost text, and no request waits for another`, async () => {
      const clock = new VirtualClock();
      const options = { slots: 1, tokensPerSecond, promptTokensPerSecond: 1_000 };
      const { fill, traffic } = llamaSlots(new Oracle(files, 4), clock, options);
      const engine = ours(fill, clock, {}, { slots: 1, cost: { input: 0, output: 0 } });
      let shown = 0;
      for (const [index, task] of tasks.entries()) {
        const session = await new Typist(task, policy, engine, clock, SEED + index).run();
        shown += session.waits.length;
      }
      assert.ok(shown > 0, 'ghost text is shown');
      assert.equal(traffic.mostOpen, 1, JSON.stringify(traffic));
      // A closed connection frees its slot with the next token.
      assert.ok(traffic.tokensAfterClose <= traffic.cancelled, JSON.stringify(traffic));
    });
  }
});
