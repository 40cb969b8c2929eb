import assert from 'node:assert/strict';
import { textChange } from '../../src/chat/tools/file-change.ts';
import { ToolRunner, type ToolRunnerDeps } from '../../src/chat/tools/tool-runner.ts';
import type { ChatTool, PreparedCall, ToolInput } from '../../src/chat/tools/tools.ts';
import type { ToolState } from '../../src/chat/transcript.ts';
import { toolNamed } from './test-session.ts';

/** Tools on one text: `write` replaces it, `look` returns it. A write of `from` fails unless it is the text. */
function start(inputs: readonly ToolInput[]) {
  let text = 'a';
  const log: string[] = [];
  const states = new Map<number, ToolState['type'][]>();
  const stop = new AbortController();
  const write = toolNamed('write', {
    changes: true,
    requiredConfirmation: async ({ from }) => {
      if (from !== undefined && from !== text) throw new Error(`The text is ${text}.`);
      return true;
    },
    run: async ({ to }) => {
      text = String(to);
      log.push(`write ${text}`);
      return { output: '' };
    },
  });
  const look = toolNamed('look', {
    run: async () => {
      log.push(`look ${text}`);
      return { output: text };
    },
  });
  const runner = new ToolRunner({
    now: () => 0,
    tools: () => [write, look],
    patch: (patch) => {
      if (patch.type === 'tool') states.set(patch.part, [...(states.get(patch.part) ?? []), patch.state.type]);
    },
  });
  const calls = inputs.map((input, part) => {
    return { part, id: `c${part}`, name: String(input.tool ?? 'write'), text: JSON.stringify(input) };
  });
  const ended = runner.run('m', calls, stop.signal);
  const waiting = () => [...states].flatMap(([part, all]) => (all.at(-1) === 'waiting' ? [part] : []));
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  return { runner, ended, log, states, stop, waiting, settled };
}

describe('decisions about several tool calls', () => {
  it('tool calls: wait for decisions together and run in the order of the model', async () => {
    const { runner, ended, log, waiting, settled, states } = start([{ to: 'b' }, { tool: 'look' }, { to: 'c' }]);
    await settled();
    assert.deepEqual(waiting(), [0, 2]);
    runner.decide('c2', { type: 'once' });
    await settled();
    assert.deepEqual(states.get(2), ['waiting', 'allowed']);
    assert.deepEqual(log, []);
    runner.decide('c0', { type: 'once' });
    await ended;
    assert.deepEqual(log, ['write b', 'look b', 'write c']);
  });

  it('tool calls: a call that depends on one before it is decided when it can be checked', async () => {
    const { runner, ended, log, waiting, settled } = start([
      { from: 'a', to: 'b' },
      { from: 'b', to: 'c' },
    ]);
    await settled();
    assert.deepEqual(waiting(), [0]);
    runner.decide('c0', { type: 'once' });
    await settled();
    assert.deepEqual(waiting(), [1]);
    runner.decide('c1', { type: 'once' });
    await ended;
    assert.deepEqual(log, ['write b', 'write c']);
  });

  it('tool calls: a permission for the conversation also answers the calls that wait', async () => {
    const { runner, ended, log } = start([{ to: 'b' }, { to: 'c' }, { to: 'd' }]);
    await new Promise((resolve) => setImmediate(resolve));
    runner.decide('c1', { type: 'session' });
    await ended;
    assert.deepEqual(log, ['write b', 'write c', 'write d']);
  });

  it('tool calls: a denied call does not stop the others', async () => {
    const { runner, ended, log, settled, states } = start([{ to: 'b' }, { to: 'c' }]);
    await settled();
    runner.decide('c0', { type: 'deny', reason: '' });
    runner.decide('c1', { type: 'once' });
    await ended;
    assert.deepEqual(log, ['write c']);
    assert.equal(states.get(0)?.at(-1), 'denied');
  });

  it('tool calls: a second decision about the same call changes nothing', async () => {
    const { runner, ended, log, settled } = start([{ to: 'b' }]);
    await settled();
    runner.decide('c0', { type: 'once' });
    runner.decide('c0', { type: 'once' });
    await ended;
    runner.decide('c0', { type: 'once' });
    assert.deepEqual(log, ['write b']);
  });

  it('tool calls: stop ends all waiting calls, and an allowed one does not run', async () => {
    const { runner, ended, log, settled, stop, states } = start([{ to: 'b' }, { to: 'c' }]);
    await settled();
    runner.decide('c1', { type: 'once' });
    stop.abort();
    await ended;
    assert.deepEqual(log, []);
    assert.deepEqual([states.get(0)?.at(-1), states.get(1)?.at(-1)], ['stopped', 'stopped']);
  });
});

/** Runs calls of one tool. */
function startTool(tool: ChatTool, calls: number, checkpoints?: ToolRunnerDeps['checkpoints']) {
  const states = new Map<number, ToolState>();
  const stop = new AbortController();
  const asked = Promise.withResolvers<void>();
  const runner = new ToolRunner({
    now: () => 0,
    tools: () => [tool],
    patch: (patch) => {
      if (patch.type !== 'tool') return;
      states.set(patch.part, patch.state);
      if (patch.state.type === 'waiting') asked.resolve();
    },
    ...(checkpoints && { checkpoints }),
  });
  const parts = Array.from({ length: calls }, (_, part) => ({ part, id: `c${part}`, name: tool.name, text: '' }));
  const ended = runner.run('m', parts, stop.signal);
  return { runner, ended, states, stop, asked: asked.promise };
}

describe('stop of tool calls', () => {
  const UNSTARTED: ToolState = { type: 'stopped', unstarted: true };
  const never = new Promise<never>(() => undefined);
  const { change } = textChange('a', 'old', 'new');
  const changing = (run: PreparedCall['run']): ChatTool => ({
    ...toolNamed('write', { changes: true }),
    prepare: () => ({ confirmation: false, action: { type: 'changes', changes: [change] }, run }),
  });

  for (const calls of [1, 2]) {
    it(`tool calls: stop ends the check of ${calls === 1 ? 'a call' : 'several calls'} that does not end`, async () => {
      const checking = Promise.withResolvers<void>();
      const prepare = () => {
        checking.resolve();
        return never;
      };
      const { ended, states, stop } = startTool(toolNamed('write', { prepare }), calls);
      await checking.promise;
      stop.abort();
      await ended;
      assert.deepEqual([...states.values()], Array(calls).fill(UNSTARTED));
    });
  }

  it('tool calls: stop ends the check after the approval that does not end', async () => {
    const again = Promise.withResolvers<void>();
    let checks = 0;
    const prepare = (): PreparedCall | Promise<PreparedCall> => {
      checks += 1;
      if (checks === 1) return { confirmation: true, run: () => never };
      again.resolve();
      return never;
    };
    const { runner, ended, states, stop, asked } = startTool(toolNamed('write', { prepare }), 1);
    await asked;
    runner.decide('c0', { type: 'once' });
    await again.promise;
    stop.abort();
    await ended;
    assert.deepEqual(states.get(0), UNSTARTED);
  });

  it('tool calls: a change that has not begun when the answer is stopped is not made', async () => {
    const [keeping, kept] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let [changed, result]: [boolean, Promise<unknown>] = [false, never];
    const tool = changing(async () => {
      changed = true;
      return { output: '' };
    });
    const { ended, states, stop } = startTool(tool, 1, {
      record: async (_source, _changes, apply) => {
        keeping.resolve();
        await kept.promise;
        const applied = apply();
        result = applied;
        return applied;
      },
    });
    await keeping.promise;
    stop.abort();
    await ended;
    assert.deepEqual(states.get(0), UNSTARTED);
    kept.resolve();
    await new Promise(setImmediate);
    await assert.rejects(result, { name: 'AbortError' });
    assert.equal(changed, false);
  });

  it('tool calls: the end of an output is waited for after the change was recorded', async () => {
    const log: string[] = [];
    const followUp = async () => {
      log.push('followed up');
      return ' One problem.';
    };
    const { ended, states } = startTool(
      changing(async () => ({ output: 'Changed.', followUp })),
      1,
      {
        record: async (_source, _changes, apply) => {
          const outcome = await apply();
          await new Promise(setImmediate);
          log.push('recorded');
          return outcome;
        },
      },
    );
    await ended;
    assert.deepEqual(log, ['recorded', 'followed up']);
    assert.deepEqual(states.get(0), { type: 'done', output: 'Changed. One problem.', ms: 0 });
  });

  it('tool calls: the card gets what a call did if that is more than what was shown', async () => {
    const shown = { type: 'changes', changes: [textChange('a', '1', '2').change] } as const;
    const made = { type: 'changes', changes: [textChange('a', '1', '2\n3').change] } as const;
    const patches: string[] = [];
    const tool = toolNamed('write', {
      prepare: async () => ({ confirmation: false, action: shown, run: async () => ({ output: '', action: made }) }),
    });
    const runner = new ToolRunner({
      now: () => 0,
      tools: () => [tool],
      patch: (patch) => {
        if (patch.type === 'action') patches.push(patch.action === made ? 'made' : 'shown');
        if (patch.type === 'tool') patches.push(patch.state.type);
      },
    });
    await runner.run('m', [{ part: 0, id: 'c', name: 'write', text: '{}' }], new AbortController().signal);
    assert.deepEqual(patches, ['shown', 'running', 'made', 'done']);
  });
});
