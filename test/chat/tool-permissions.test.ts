import assert from 'node:assert/strict';
import type { Caution } from '../../src/chat/tools/caution.ts';
import { ToolRunner } from '../../src/chat/tools/tool-runner.ts';
import type { ToolDecision } from '../../src/chat/tools/tools.ts';
import type { Patch, ToolState } from '../../src/chat/transcript.ts';
import { toolNamed } from './test-session.ts';

const call = (part: number, name: string) => ({ part, id: `call_${part}`, name, text: '{}' });

/** Runs tool calls that need approval; `decide` answers each question. Returns the questions and the states of the calls. */
async function run(names: readonly string[], decide: (name: string) => ToolDecision | 'stop', output = 'done') {
  const ran: string[] = [];
  const asked: string[] = [];
  const patches: Patch[] = [];
  const controller = new AbortController();
  const run = (name: string) => async () => {
    ran.push(name);
    return { output };
  };
  const tools = ['write', 'delete'].map((name) =>
    toolNamed(name, { requiredConfirmation: () => true, run: run(name) }),
  );
  tools.push(toolNamed('read', { requiredConfirmation: () => false, run: run('read') }));
  const runner = new ToolRunner({
    now: () => 0,
    tools: () => tools,
    patch: (patch) => {
      patches.push(patch);
      if (patch.type !== 'tool' || patch.state.type !== 'waiting') return;
      const name = names[patch.part] ?? '';
      asked.push(name);
      const decision = decide(name);
      if (decision === 'stop') controller.abort();
      else runner.decide(`call_${patch.part}`, decision);
    },
  });
  await runner.run(
    'm',
    names.map((name, part) => call(part, name)),
    controller.signal,
  );
  return { ran, asked, states: patches.flatMap((patch) => (patch.type === 'tool' ? [patch.state] : [])) };
}

describe('tool permissions', () => {
  it('tool permission: for the conversation is valid for that tool only', async () => {
    const { asked, ran } = await run(['write', 'write', 'delete', 'write'], () => ({ type: 'session' }));
    assert.deepEqual(asked, ['write', 'delete']);
    assert.deepEqual(ran, ['write', 'write', 'delete', 'write']);
  });

  it('tool permission: “once” is valid once', async () => {
    assert.deepEqual((await run(['write', 'write'], () => ({ type: 'once' }))).asked, ['write', 'write']);
  });

  it('tool permission: after Stop no further call runs, not even one without a question', async () => {
    const { ran, states } = await run(['write', 'read', 'delete'], () => 'stop');
    assert.deepEqual(ran, []);
    assert.deepEqual(
      states.map(({ type }) => type),
      ['waiting', 'stopped', 'stopped', 'stopped'],
    );
  });

  it('tool output: a long output loses its middle, with a note', async () => {
    const { states } = await run(['read'], () => 'stop', 'x'.repeat(70_000));
    const last = states.at(-1);
    assert.equal(last?.type, 'done');
    const output = last?.type === 'done' ? last.output : '';
    assert.match(output, /^x{30000}\n\[… 10,000 characters left out …\]\nx{30000}$/);
  });

  for (const type of ['session', 'always'] as const) {
    it(`tool permission: “${type}” does not cover calls that always need approval`, async () => {
      const stored = new Set<string>(['Test/write']);
      const asked: (Caution | undefined)[] = [];
      let ran = 0;
      const caution = { kind: 'secret', path: '.env' } as const;
      const tool = toolNamed('write', {
        requiredConfirmation: async ({ path }) => (path === '.env' ? caution : true),
        run: async () => ({ output: String(++ran) }),
      });
      const runner: ToolRunner = new ToolRunner({
        now: () => 0,
        tools: () => [tool],
        permissions: { has: (key) => stored.has(key), add: (key) => void stored.add(key) },
        patch: (patch) => {
          if (patch.type !== 'tool' || patch.state.type !== 'waiting') return;
          asked.push(patch.state.caution);
          runner.decide(`call_${patch.part}`, { type });
        },
      });
      const calls = ['.env', 'a.ts', '.env'].map((path, part) => ({
        ...call(part, 'write'),
        text: JSON.stringify({ path }),
      }));
      await runner.run('m', calls, new AbortController().signal);
      assert.deepEqual([asked, ran], [[caution, caution], 3]);
    });
  }

  it('tool permission: is not valid if the file changed after it was shown', async () => {
    let path = 'a.ts';
    const states: ToolState[] = [];
    let ran = 0;
    const tool = toolNamed('write', {
      requiredConfirmation: () => (path === 'a.ts' ? true : { kind: 'git', path }),
      run: async () => ({ output: String(++ran) }),
    });
    const runner: ToolRunner = new ToolRunner({
      now: () => 0,
      tools: () => [tool],
      patch: (patch) => {
        if (patch.type !== 'tool') return;
        states.push(patch.state);
        if (patch.state.type !== 'waiting') return;
        path = '.git/config';
        runner.decide('call_0', { type: 'once' });
      },
    });
    await runner.run('m', [call(0, 'write')], new AbortController().signal);
    const last = states.at(-1);
    assert.match(last?.type === 'done' ? last.output : '', /has changed since it was shown/);
    assert.equal(ran, 0);
  });

  it('tool permission: is not requested for a call that cannot run', async () => {
    const states: ToolState[] = [];
    const asks = async () => {
      throw new Error('It is not inside the workspace.');
    };
    const runner = new ToolRunner({
      now: () => 0,
      tools: () => [toolNamed('write', { requiredConfirmation: asks })],
      patch: (patch) => void (patch.type === 'tool' && states.push(patch.state)),
    });
    await runner.run('m', [call(0, 'write')], new AbortController().signal);
    assert.deepEqual(states, [{ type: 'done', failed: true, output: 'It is not inside the workspace.' }]);
  });
});
