import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Checkpoints } from '../../src/chat/checkpoints/checkpoints.ts';
import { NO_RULES } from '../../src/chat/permissions/permission-rules.ts';
import { ChatSession } from '../../src/chat/session/session.ts';
import { textChange } from '../../src/chat/tools/file-change.ts';
import type { ChatTool } from '../../src/chat/tools/tools.ts';
import { messageText, type Part, type ToolState } from '../../src/chat/transcript.ts';
import { streamFrames } from '../upstream/answers.ts';
import { startUpstream, type Upstream } from '../upstream/upstream.ts';
import { scripted, sessionAt, toolNamed, whenPatch } from './test-session.ts';

const CALL = { id: 'call_1', name: 'weather', arguments: ['{"city":', '"Oslo"}'] };

describe('tools in a conversation', () => {
  let upstream: Upstream;
  beforeEach(async () => {
    upstream = await startUpstream(scripted({ text: ['Looking.'], tools: [CALL] }, { text: ['Rain.'] }));
  });
  afterEach(() => upstream.close());

  const held = (tool: ChatTool, more: Record<string, unknown> = {}) =>
    sessionAt(upstream, {}, { tools: () => [tool], ...more });
  const calls = (parts: readonly Part[] = []) => parts.filter((part) => part.type === 'tool');
  const waiting = ({ type, ...patch }: { type: string; state?: ToolState }) =>
    type === 'tool' && patch.state?.type === 'waiting';

  it('tools: a call that only reads runs without a question, and the model gets its result', async () => {
    const { session, patches } = held(toolNamed('weather'));
    await session.send({ text: 'Weather?' });
    const [call] = calls(session.messages.at(-1)?.parts);
    assert.deepEqual(call?.type === 'tool' && call.state, {
      type: 'done',
      output: 'weather of {"city":"Oslo"}',
      ms: 0,
    });
    assert.deepEqual(
      patches.flatMap((patch) => (patch.type === 'tool' ? patch.state.type : [])),
      ['running', 'done'],
    );
    const { messages } = (await upstream.request(1)).body;
    assert.ok(Array.isArray(messages));
    assert.deepEqual(
      messages.map(({ role }) => role),
      ['user', 'assistant', 'tool'],
    );
    assert.equal(messages[2].content, 'weather of {"city":"Oslo"}');
    assert.deepEqual(
      session.messages.at(-1)?.parts.map(({ type }) => type),
      ['text', 'tool', 'step', 'text'],
    );
  });

  it('tools: a call that changes something does not run before the user allows it', async () => {
    let ran = 0;
    const tool = toolNamed('weather', {
      requiredConfirmation: () => true,
      run: async () => ({ output: String(++ran) }),
    });
    const { session } = held(tool);
    const sent = session.send({ text: 'Weather?' });
    await whenPatch(session, waiting);
    assert.equal(ran, 0);
    session.decide('call_1', { type: 'once' });
    await sent;
    assert.equal(ran, 1);
  });

  it('tools: the model gets the reason of a denied call, which does not run', async () => {
    let ran = 0;
    const tool = toolNamed('weather', {
      requiredConfirmation: () => true,
      run: async () => ({ output: String(++ran) }),
    });
    const { session } = held(tool);
    const sent = session.send({ text: 'Weather?' });
    await whenPatch(session, waiting);
    session.decide('call_1', { type: 'deny', reason: 'I am indoors.' });
    await sent;
    assert.equal(ran, 0);
    assert.match(JSON.stringify((await upstream.request(1)).body), /did not allow this call\. Reason: I am indoors\./);
  });

  const DECISIONS: readonly ['once' | 'session' | 'always', asked: number, always: boolean][] = [
    ['once', 2, false],
    ['session', 1, false],
    ['always', 1, true],
  ];
  for (const [type, asked, always] of DECISIONS) {
    it(`tools: “${type}” asks again as often as it states`, async () => {
      upstream.respond(
        scripted(
          { tools: [CALL] },
          { tools: [{ ...CALL, id: 'call_2', arguments: ['{"city":"Rome"}'] }] },
          { text: ['Done.'] },
        ),
      );
      const allowed = new Set<string>();
      const rules = {
        rules: () => ({ ...NO_RULES, allow: [...allowed] }),
        allow: (added: readonly string[]) => added.forEach((rule) => void allowed.add(rule)),
      };
      const { session } = held(toolNamed('weather', { requiredConfirmation: () => true }), { rules });
      let times = 0;
      session.onPatch((patch) => {
        if (!waiting(patch)) return;
        times += 1;
        session.decide(`call_${times}`, { type });
      });
      await session.send({ text: 'Weather?' });
      assert.equal(times, asked);
      assert.deepEqual([...allowed], always ? ['tool:Test/weather'] : []);
    });
  }

  it('tools: stop ends a waiting call and a call that ignores the signal', async () => {
    const waits = toolNamed('weather', { requiredConfirmation: () => true });
    const hangs = toolNamed('weather', { run: () => new Promise(() => undefined) });
    for (const [tool, state] of [
      [waits, { type: 'stopped', unstarted: true }],
      [hangs, { type: 'stopped' }],
    ] as const) {
      upstream.respond(scripted({ tools: [CALL] }));
      const { session } = held(tool);
      const sent = session.send({ text: 'Weather?' });
      await whenPatch(session, ({ type }) => type === 'tool');
      session.stop();
      await sent;
      assert.deepEqual(session.messages.at(-1)?.ending, { type: 'stopped' });
      const [call] = calls(session.messages.at(-1)?.parts);
      assert.deepEqual(call?.type === 'tool' && call.state, state);
    }
  });

  describe('tools: no call remains open after the answer', () => {
    const states = (messages: readonly { readonly parts: readonly Part[] }[]) =>
      calls(messages.at(-1)?.parts).map((part) => part.type === 'tool' && part.state.type);

    it('tools: a call is closed if the answer is stopped while the call is received', async () => {
      const frames = streamFrames('chat', { tools: [CALL] });
      upstream.respond((_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(`${frames.slice(0, 3).join('\n\n')}\n\n`);
      });
      const { session } = held(toolNamed('weather'));
      const sent = session.send({ text: 'Weather?' });
      await whenPatch(session, ({ type }) => type === 'arguments');
      session.stop();
      await sent;
      assert.deepEqual(states(session.messages), ['stopped']);
    });

    it('tools: a call is closed if the output limit cuts it', async () => {
      upstream.respond(scripted({ tools: [CALL], finish: 'length' }));
      const { session } = held(toolNamed('weather'));
      await session.send({ text: 'Weather?' });
      assert.equal(session.messages.at(-1)?.ending?.type, 'finished');
      assert.deepEqual(states(session.messages), ['stopped']);
    });

    it('tools: calls of a repeating model are closed when it is stopped', async () => {
      upstream.respond(scripted({ tools: [CALL] }));
      const { session } = held(toolNamed('weather'));
      await session.send({ text: 'Weather?' });
      assert.deepEqual(states(session.messages), ['done', 'done', 'stopped']);
    });

    it('tools: a waiting call is closed after VS Code was killed', async () => {
      upstream.respond(scripted({ tools: [CALL] }));
      const { session } = held(toolNamed('weather', { requiredConfirmation: () => true }));
      const sent = session.send({ text: 'Weather?' });
      await whenPatch(session, waiting);
      const { transcript } = session;
      session.stop();
      await sent;
      const reopened = new ChatSession(
        { converse: async function* () {}, model: () => undefined, newId: () => 'x', now: () => 0 },
        { id: 'old', transcript },
      );
      assert.deepEqual(states(reopened.messages), ['waiting']);
      await reopened.closeOpenAnswers();
      assert.deepEqual(states(reopened.messages), ['stopped']);
    });
  });

  it('tools: after a reload, a call that was changing files says whether the change was made', async () => {
    const root = mkdtempSync(join(tmpdir(), 'svc-reload-'));
    let folder = '';
    const content = new Map([['b', 'old']]);
    const files = {
      read: async (path: string) => {
        const text = content.get(path);
        return text === undefined ? undefined : Buffer.from(text);
      },
      apply: async () => undefined,
    };
    let id = 0;
    const checkpoints = () => new Checkpoints({ folder, files, now: () => 0, newId: () => `e${++id}` });
    const never = new Promise<never>(() => undefined);
    const changing = (path: string): ChatTool => ({
      ...toolNamed('weather'),
      prepare: () => ({
        confirmation: false,
        action: { type: 'changes', changes: [textChange(path, content.get(path), 'new').change] },
        run: async () => {
          if (path === 'a') content.set('a', 'new');
          return never;
        },
      }),
    });
    for (const [path, type] of [
      ['a', 'done'],
      ['b', 'stopped'],
    ] as const) {
      folder = join(root, path);
      upstream.respond(scripted({ tools: [{ ...CALL, id: `call_${path}` }] }));
      const { session } = held(changing(path), { checkpoints });
      void session.send({ text: 'Weather?' });
      await whenPatch(session, (patch) => patch.type === 'tool' && patch.state.type === 'running');
      const journal = join(folder, 'journal.jsonl');
      while (!existsSync(journal) || !readFileSync(journal, 'utf8').includes('begin') || content.get('a') !== 'new')
        await new Promise(setImmediate);
      const { transcript } = session;
      const deps = { converse: async function* () {}, model: () => undefined, newId: () => 'x', now: () => 0 };
      const reopened = new ChatSession({ ...deps, checkpoints }, { id: 'old', transcript });
      await reopened.closeOpenAnswers();
      const [part] = calls(reopened.messages.at(-1)?.parts);
      assert.equal(part?.type === 'tool' && part.state.type, type);
      if (type === 'stopped') assert.deepEqual(part?.type === 'tool' && part.state, { type, unstarted: true });
      session.dispose();
    }
    rmSync(root, { recursive: true });
  });

  it('tools: after 60 steps the user is asked, and Continue goes on without a message', async () => {
    let city = 0;
    upstream.respond((request, response) => {
      city += 1;
      const script = city === 61 ? { text: ['Done.'] } : { tools: [{ ...CALL, arguments: [`{"city":"${city}"}`] }] };
      return scripted(script)(request, response);
    });
    const { session } = held(toolNamed('weather'));
    await session.send({ text: 'Weather?' });
    assert.deepEqual(session.messages.at(-1)?.ending, { type: 'paused', steps: 60 });
    assert.equal(calls(session.messages.at(-1)?.parts).length, 60);
    await session.continue();
    assert.deepEqual(
      session.messages.map(({ role }) => role),
      ['user', 'assistant', 'assistant'],
    );
    assert.deepEqual(session.messages.at(-1)?.parts, [{ type: 'text', text: 'Done.' }]);
  });

  it('tools: a message that was written during the 60th step is sent without a question', async () => {
    let requests = 0;
    upstream.respond((request, response) => {
      requests += 1;
      const script =
        requests > 60 ? { text: ['Yes.'] } : { tools: [{ ...CALL, arguments: [`{"city":"${requests}"}`] }] };
      return scripted(script)(request, response);
    });
    const tool = toolNamed('weather', {
      run: async () => {
        if (requests === 60) await session.send({ text: 'Still there?' });
        return { output: 'Sun' };
      },
    });
    const { session } = held(tool);
    await session.send({ text: 'Weather?' });
    assert.deepEqual(session.messages.slice(-2).map(messageText), ['Still there?', 'Yes.']);
    assert.deepEqual(session.queue, []);
  });

  it('tools: the model gets an error for a failed tool, an unknown tool and arguments that are no object', async () => {
    const failing = toolNamed('weather', { run: () => Promise.reject(new Error('No satellite.')) });
    const outputs: unknown[] = [];
    for (const [tool, args] of [
      [failing, '{}'],
      [toolNamed('other'), '{}'],
      [toolNamed('weather'), '[1'],
    ] as const) {
      upstream.respond(scripted({ tools: [{ ...CALL, arguments: [args] }] }, { text: ['Oh.'] }));
      const { session } = held(tool);
      await session.send({ text: 'Weather?' });
      const [call] = calls(session.messages.at(-1)?.parts);
      outputs.push(call?.type === 'tool' && call.state.type === 'done' && call.state.output);
    }
    assert.deepEqual(outputs, [
      'No satellite.',
      'There is no tool named weather. The tools are: other.',
      "The arguments are not a JSON object: Expected ',' or ']' after array element in JSON at position 2 (line 1 column 3). Send one JSON object and nothing else. Received: [1",
    ]);
  });

  it('tools: a call with another spelling and other types runs, and the user is asked about what will run', async () => {
    const inputs: unknown[] = [];
    const parameters = { type: 'object', properties: { city: { type: 'string' }, days: { type: 'number' } } };
    const weather = toolNamed('weather', {
      parameters,
      changes: true,
      requiredConfirmation: async (input) => {
        inputs.push(input);
        return true;
      },
    });
    const written = { ...CALL, name: 'functions.Weather', arguments: ['{"city":"Ulm","days":"3","more":null}'] };
    upstream.respond(scripted({ tools: [written] }, { text: ['Sun.'] }));
    const { session } = held(weather);
    session.onPatch((patch) => {
      if (patch.type === 'tool' && patch.state.type === 'waiting') session.decide('call_1', { type: 'once' });
    });
    await session.send({ text: 'Weather?' });
    const [call] = calls(session.messages.at(-1)?.parts);
    assert.equal(call?.type === 'tool' && call.name, 'weather');
    assert.deepEqual(inputs[0], { city: 'Ulm', days: 3, more: null });
    assert.deepEqual(inputs[1], inputs[0]);
    const { body } = await upstream.request(1);
    assert.match(JSON.stringify(body), /"name":"weather"/);
  });

  it('tools: a model that repeats the same call is stopped with a message', async () => {
    upstream.respond(scripted({ tools: [CALL] }));
    const { session } = held(toolNamed('weather'));
    await session.send({ text: 'Weather?' });
    assert.deepEqual(session.messages.at(-1)?.ending, { type: 'repeating', tool: 'weather' });
    assert.equal(upstream.requests.length, 3);
  });

  it('tools: a model that repeats several steps with the same answers is stopped, but not if an answer changes', async () => {
    const at = (city: string) => ({ tools: [{ ...CALL, arguments: [JSON.stringify({ city })] }] });
    const steps = ['Oslo', 'Ulm', 'Rome'].map(at);
    upstream.respond(scripted(...steps, ...steps, ...steps, { text: ['Enough.'] }));
    let days = 0;
    const same = held(toolNamed('weather')).session;
    await same.send({ text: 'Weather?' });
    assert.deepEqual(same.messages.at(-1)?.ending, { type: 'repeating', tool: 'weather' });
    assert.equal(upstream.requests.length, 7);
    upstream.forget();
    upstream.respond(scripted(...steps, ...steps, ...steps, { text: ['Enough.'] }));
    const changing = held(toolNamed('weather', { run: async () => ({ output: `Day ${days++}` }) })).session;
    await changing.send({ text: 'Weather?' });
    assert.equal(changing.messages.at(-1)?.ending?.type, 'finished');
    assert.equal(upstream.requests.length, 10);
  });

  it('tools: a model without tool support gets no tools', async () => {
    upstream.respond(scripted({ text: ['Hello.'] }));
    const { session } = sessionAt(upstream, { toolCall: false }, { tools: () => [toolNamed('weather')] });
    await session.send({ text: 'Hi' });
    assert.equal((await upstream.request(0)).body.tools, undefined);
  });
});
