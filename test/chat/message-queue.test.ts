import assert from 'node:assert/strict';
import type { ChatSession } from '../../src/chat/session/session.ts';
import { messageText } from '../../src/chat/transcript.ts';
import { startUpstream, type Upstream } from '../upstream/upstream.ts';
import { scripted, sessionAt, toolNamed, whenPatch } from './test-session.ts';

describe('messages that wait while an answer is running', () => {
  let upstream: Upstream;
  beforeEach(async () => {
    upstream = await startUpstream();
  });
  afterEach(() => upstream.close());

  /** The messages of a request to the provider. */
  const sentBody = (to: Upstream, index: number) =>
    to.requests[index]?.body as { messages: { role: string; content: unknown }[] };
  const texts = (session: ChatSession) => session.messages.map((message) => `${message.role}: ${messageText(message)}`);

  it('message queue: a message is sent at the next tool boundary, before the model goes on', async () => {
    const gate = Promise.withResolvers<void>();
    const tool = toolNamed('look', {
      run: async () => {
        await gate.promise;
        return { output: 'seen' };
      },
    });
    const { session } = sessionAt(upstream, {}, { tools: () => [tool] });
    upstream.respond(
      scripted({ tools: [{ id: 'c1', name: 'look', arguments: ['{}'] }], finish: 'tool' }, { text: ['Both.'] }),
    );
    const sent = session.send({ text: 'First' });
    await whenPatch(session, (patch) => patch.type === 'tool' && patch.state.type === 'running');
    await session.send({ text: 'Second' });
    assert.deepEqual(
      session.queue.map(({ text }) => text),
      ['Second'],
    );
    gate.resolve();
    await sent;
    assert.deepEqual(texts(session), ['user: First', 'assistant: ', 'user: Second', 'assistant: Both.']);
    assert.deepEqual(session.queue, []);
    const { messages } = sentBody(upstream, 1);
    assert.deepEqual(
      messages.map(({ role }) => role),
      ['user', 'assistant', 'tool', 'user'],
    );
  });

  it('message queue: messages are sent one after the other at the end of an answer', async () => {
    const { session } = sessionAt(upstream);
    upstream.respond(scripted({ text: ['One'] }, { text: ['Two'] }, { text: ['Three'] }));
    const sent = session.send({ text: 'A' });
    await session.send({ text: 'B' });
    await session.send({ text: 'C' });
    await sent;
    assert.deepEqual(texts(session), [
      'user: A',
      'assistant: One',
      'user: B',
      'assistant: Two',
      'user: C',
      'assistant: Three',
    ]);
  });

  it('message queue: keeps its messages if the answer is stopped or fails', async () => {
    const { session } = sessionAt(upstream);
    const sent = session.send({ text: 'Hi [[scenario:stall-mid-stream]]' });
    await whenPatch(session, (patch) => patch.type === 'append');
    await session.send({ text: 'Later' });
    session.stop();
    await sent;
    assert.deepEqual(
      session.queue.map(({ text }) => text),
      ['Later'],
    );
    assert.equal(session.messages.length, 2);
  });

  it('message queue: “Send now” stops the answer, keeps its text and sends the message', async () => {
    const { session } = sessionAt(upstream);
    const sent = session.send({ text: 'Hi [[scenario:stall-mid-stream]]' });
    await whenPatch(session, (patch) => patch.type === 'append' && patch.text.includes('wörld'));
    await session.send({ text: 'Now [[scenario:text]]' });
    const [waiting] = session.queue;
    await session.sendNow(waiting?.id ?? '');
    await sent;
    assert.deepEqual(session.messages[1]?.ending, { type: 'stopped' });
    assert.deepEqual(texts(session).slice(2), ['user: Now [[scenario:text]]', 'assistant: Hello, wörld 👋.']);
    assert.deepEqual(session.queue, []);
  });

  it('message queue: a message can be taken out', async () => {
    const { session } = sessionAt(upstream);
    const sent = session.send({ text: 'Hi [[scenario:text]]' });
    await session.send({ text: 'Never' });
    const [waiting] = session.queue;
    assert.equal(session.takeQueued(waiting?.id ?? '')?.text, 'Never');
    await sent;
    assert.equal(session.messages.length, 2);
    assert.equal(session.takeQueued('unknown'), undefined);
  });

  it('expanded prompts: the model receives the prompt, the conversation shows the typed text', async () => {
    const { session } = sessionAt(upstream);
    upstream.respond(scripted({ text: ['Done'] }));
    await session.send({ text: '/explain it', prompt: 'Explain what this code does.\n\nit' });
    assert.deepEqual(texts(session), ['user: /explain it', 'assistant: Done']);
    assert.equal(session.transcript.title, '/explain it');
    const { messages } = sentBody(upstream, 0);
    assert.equal(messages[0]?.content, 'Explain what this code does.\n\nit');
  });

  it('title: follows an edited first message, but not if the user has named the conversation', async () => {
    const { session } = sessionAt(upstream);
    upstream.respond(scripted({ text: ['One'] }));
    await session.send({ text: 'Frist question' });
    const first = session.messages[0]?.id ?? '';
    await session.edit(first, { text: 'First question' });
    assert.equal(session.transcript.title, 'First question');
    session.rename('Mine');
    await session.edit(session.messages[0]?.id ?? '', { text: 'Another question' });
    assert.equal(session.transcript.title, 'Mine');
  });

  it('title: the model can name the conversation, also by itself after the first answer', async () => {
    const { session } = sessionAt(upstream, {}, { namedByModel: () => true });
    upstream.respond(
      scripted({ text: ['One'] }, { text: ['**“A parser for dates.”**\nMore text'] }, { text: ['Two'] }),
    );
    await session.send({ text: 'How do I read a date?' });
    assert.equal(session.transcript.title, 'A parser for dates');
    assert.match(JSON.stringify(sentBody(upstream, 1)), /user: How do I read a date\?.*assistant: One/);
    await session.send({ text: 'And a time?' });
    assert.equal(upstream.requests.length, 3);
  });

  it('title: a failed request for a name keeps the first message as the title', async () => {
    const { session } = sessionAt(upstream, {}, { namedByModel: () => true });
    await session.send({ text: 'Hi [[scenario:text]]' });
    upstream.respond((_request, response) => void response.writeHead(500).end());
    await assert.rejects(session.generateTitle());
    assert.notEqual(session.transcript.title, '');
  });

  it('plan mode: only reading tools are offered, and the model is told to answer with a plan', async () => {
    const tools = [toolNamed('look'), toolNamed('change', { changes: true })];
    const { session } = sessionAt(upstream, {}, { tools: () => tools, instructions: async () => 'Be brief.' });
    upstream.respond(
      scripted(
        { tools: [{ id: 'c1', name: 'change', arguments: ['{}'] }], finish: 'tool' },
        { text: ['1. Do it.'] },
        { text: ['Done.'] },
      ),
    );
    await session.send({ text: 'Add a parser', options: { plan: true } });
    await session.send({ text: 'Carry out the plan.' });
    const offered = upstream.requests.map(({ body }) =>
      (body as { tools: { function: { name: string } }[] }).tools.map((tool) => tool.function.name),
    );
    assert.deepEqual(offered, [['look'], ['look'], ['look', 'change']]);
    const systems = upstream.requests.map((_, index) => String(sentBody(upstream, index).messages[0]?.content));
    assert.match(systems[0] ?? '', /^Be brief\.\n\nPlan mode: change nothing/);
    assert.equal(systems[2], 'Be brief.');
    const [call] = session.messages[1]?.parts ?? [];
    assert.ok(call?.type === 'tool' && call.state.type === 'done' && call.state.failed, JSON.stringify(call));
  });
});
