import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { DEFAULT_COMPLETION_SETTINGS } from '../../src/completion/document/completion-settings.ts';
import { Suggester } from '../../src/completion/suggester.ts';
import { ours } from '../bench/typist/contestants.ts';
import { Oracle } from '../bench/typist/oracle.ts';
import { tasksOf } from '../bench/typist/truth.ts';
import { Typist } from '../bench/typist/typist.ts';
import { EditorFile } from './editor-harness.ts';
import { llamaSlots } from './llama-slots.ts';
import { VirtualClock } from './virtual-clock.ts';

const FOLDER = new URL('../bench/typist/fixtures/', import.meta.url);
const SEED = 20_250;

describe('completions by llama.cpp on this machine', () => {
  const files = readdirSync(FOLDER)
    .sort()
    .map((name) => readFileSync(new URL(name, FOLDER), 'utf8'));
  const tasks = files.flatMap((file) => tasksOf(file, 1).slice(0, 1));

  for (const [tokensPerSecond, policy, slots] of [
    [8, 'all', 1],
    [8, 'never', 1],
    [30, 'all', 1],
    [30, 'never', 1],
    [8, 'all', 2],
  ] as const) {
    it(`local speed: ${tokensPerSecond} tokens/s, slots: ${slots}, accepted: ${policy}: ghost text, and no request waits for another`, async () => {
      const clock = new VirtualClock();
      const options = { slots, tokensPerSecond, promptTokensPerSecond: 1_000 };
      const { fill, traffic } = llamaSlots(new Oracle(files, 4), clock, options);
      const engine = ours(fill, clock, {}, { slots, cost: { input: 0, output: 0 } });
      let shown = 0;
      for (const [index, task] of tasks.entries()) {
        const session = await new Typist(task, policy, engine, clock, SEED + index).run();
        shown += session.waits.length;
      }
      assert.ok(shown > 0, 'ghost text is shown');
      assert.equal(traffic.mostOpen, slots, JSON.stringify(traffic));
      // A closed connection frees its slot with the next token.
      assert.ok(traffic.tokensAfterClose <= traffic.cancelled, JSON.stringify(traffic));
    });
  }

  it('local speed: a request that fits the typed text is not replaced while the server computes its prompt', async () => {
    const clock = new VirtualClock();
    // About six seconds for a prompt of these files.
    const options = { slots: 1, tokensPerSecond: 8, promptTokensPerSecond: 60 };
    const { fill, traffic } = llamaSlots(new Oracle(files, 0), clock, options);
    const engine = ours(fill, clock, {}, { slots: 1, cost: { input: 0, output: 0 } });
    let shown = 0;
    for (const [index, task] of tasks.entries()) {
      const session = await new Typist(task, 'all', engine, clock, SEED + index).run();
      shown += session.waits.length;
    }
    assert.ok(shown > 0, JSON.stringify(traffic));
  });

  it('local speed: the prompt of a document is computed when it opens, once, and the first request finds it', async () => {
    const clock = new VirtualClock();
    const [file = ''] = files;
    const { fill, traffic } = llamaSlots(new Oracle(files, 0), clock, {
      slots: 1,
      tokensPerSecond: 8,
      promptTokensPerSecond: 100,
    });
    let known = false;
    const suggester = new Suggester({
      fill: () => fill,
      model: () => (known ? { ref: 'llamacpp/m', contextTokens: 8192, slots: 1 } : undefined),
      settings: () => DEFAULT_COMPLETION_SETTINGS,
      clock,
    });
    const editor = new EditorFile(`${file.slice(0, 2_000)}|${file.slice(2_000)}`);
    suggester.documentShown(editor.document, editor.position);
    await clock.pass(1_000);
    assert.equal(traffic.requests, 0);
    // The models are read after the start.
    known = true;
    suggester.reconsider();
    suggester.reconsider();
    await clock.pass(60_000);
    assert.equal(traffic.requests, 1);
    const computed = traffic.promptTokens;
    assert.ok(computed > 500, `${computed}`);
    assert.notEqual(suggester.state.kind, 'asking');
    assert.equal(suggester.counts.requests, 0);
    const signal = new AbortController().signal;
    void suggester.suggest({ document: editor.document, position: editor.position, trigger: 'invoke' }, signal);
    await clock.pass(60_000);
    assert.equal(traffic.requests, 2);
    assert.equal(traffic.promptTokens, computed, 'the whole prompt is in the slot');
    suggester.dispose();
  });

  it('local speed: a request ends the computation of a prompt in advance', async () => {
    const clock = new VirtualClock();
    const [file = ''] = files;
    const options = { slots: 1, tokensPerSecond: 8, promptTokensPerSecond: 20 };
    const { fill, traffic } = llamaSlots(new Oracle(files, 0), clock, options);
    const suggester = new Suggester({
      fill: () => fill,
      model: () => ({ ref: 'llamacpp/m', contextTokens: 8192, slots: 1 }),
      settings: () => DEFAULT_COMPLETION_SETTINGS,
      clock,
    });
    const editor = new EditorFile(`${file.slice(0, 2_000)}|${file.slice(2_000)}`);
    suggester.documentShown(editor.document, editor.position);
    await clock.pass(1_000);
    assert.equal(traffic.requests, 1);
    const signal = new AbortController().signal;
    void suggester.suggest({ document: editor.document, position: editor.position, trigger: 'invoke' }, signal);
    await clock.pass(100_000);
    assert.deepEqual([traffic.requests, traffic.mostOpen, traffic.cancelled], [2, 1, 1]);
    suggester.dispose();
  });
});
