import assert from 'node:assert/strict';
import { messageText } from '../../src/chat/transcript.ts';
import { startUpstream, type Upstream } from '../upstream/upstream.ts';
import { scripted, sessionAt, toolNamed } from './test-session.ts';

describe('compaction', () => {
  let upstream: Upstream;
  beforeEach(async () => {
    upstream = await startUpstream();
  });
  afterEach(() => upstream.close());

  const bodies = () => upstream.requests.map(({ body }) => JSON.stringify(body));

  it('compaction: summarizes a history that exceeds the window, and shows the summary', async () => {
    const { session } = sessionAt(upstream, { limit: { context: 1000, output: 200 } });
    upstream.respond(
      scripted(
        { text: ['A long one'], usage: { input: 700, output: 200 } },
        { text: ['It was about apples.'] },
        { text: ['Second'] },
      ),
    );
    await session.send({ text: 'About apples' });
    await session.send({ text: 'And pears?' });
    assert.deepEqual(
      session.messages.map(({ role }) => role),
      ['user', 'assistant', 'user', 'summary', 'assistant'],
    );
    const [, summary, answer] = bodies();
    assert.match(summary ?? '', /Summarize the conversation/);
    assert.match(summary ?? '', /About apples/);
    assert.doesNotMatch(summary ?? '', /And pears/);
    assert.match(answer ?? '', /It was about apples\..*And pears\?/);
    assert.doesNotMatch(answer ?? '', /A long one/);
    assert.equal(session.messages.map(messageText)[0], 'About apples', 'the original stays in the transcript');
  });

  it('compaction: what an answer adds around the summary is not sent', async () => {
    const { session } = sessionAt(upstream);
    upstream.respond(
      scripted({ text: ['x'] }, { text: ['Here is the summary:\n\n```markdown\nApples.\n```'] }, { text: ['y'] }),
    );
    await session.send({ text: 'One' });
    await session.compact();
    await session.send({ text: 'Two' });
    assert.match(bodies()[2] ?? '', /Summary of the conversation so far:\\n\\nApples\.["\\]/);
  });

  it('compaction: uses limit.input if it is set', async () => {
    const { session } = sessionAt(upstream, { limit: { context: 1_000_000, output: 100, input: 800 } });
    upstream.respond(scripted({ text: ['x'], usage: { input: 690, output: 20 } }, { text: ['Sum.'] }, { text: ['y'] }));
    await session.send({ text: 'One' });
    await session.send({ text: 'Two' });
    assert.equal(session.messages.filter(({ role }) => role === 'summary').length, 1);
  });

  it('compaction: never starts automatically without a known limit', async () => {
    const { session } = sessionAt(upstream, { limit: { context: 0, output: 0 } });
    upstream.respond(scripted({ text: ['x'], usage: { input: 5_000_000, output: 100 } }));
    await session.send({ text: 'One' });
    await session.send({ text: 'Two' });
    assert.equal(session.messages.filter(({ role }) => role === 'summary').length, 0);
  });

  it('compaction: counts from the summary, so that it does not start again immediately', async () => {
    const { session } = sessionAt(upstream, { limit: { context: 1000, output: 200 } });
    upstream.respond(
      scripted(
        { text: ['x'], usage: { input: 700, output: 200 } },
        { text: ['Sum.'], usage: { input: 900, output: 50 } },
        { text: ['y'], usage: { input: 100, output: 10 } },
      ),
    );
    for (const text of ['One', 'Two', 'Three', 'Four']) await session.send({ text });
    assert.equal(session.messages.filter(({ role }) => role === 'summary').length, 1);
  });

  it('compaction: can start between the steps of an answer with tool calls', async () => {
    const call = { id: 'call_1', name: 'look', arguments: ['{}'] };
    const { session } = sessionAt(
      upstream,
      { limit: { context: 1000, output: 200 } },
      { tools: () => [toolNamed('look')] },
    );
    upstream.respond(
      scripted({ tools: [call], usage: { input: 700, output: 200 } }, { text: ['Looked.'] }, { text: ['Done.'] }),
    );
    await session.send({ text: 'Look' });
    assert.deepEqual(
      session.messages.map(({ role }) => role),
      ['user', 'assistant', 'summary', 'assistant'],
    );
    assert.match(bodies()[1] ?? '', /Tool look/);
    assert.equal(session.messages.map(messageText).at(-1), 'Done.');
  });

  it('compaction: counts the results of the last calls, which came after the usage', async () => {
    const tools = () => [toolNamed('look', { run: async () => ({ output: 'word '.repeat(3000) }) })];
    const { session } = sessionAt(upstream, { limit: { context: 3000, output: 200 } }, { tools });
    const call = { id: 'call_1', name: 'look', arguments: ['{}'] };
    upstream.respond(
      scripted({ tools: [call], usage: { input: 2300, output: 20 } }, { text: ['Looked.'] }, { text: ['Done.'] }),
    );
    await session.send({ text: 'Look' });
    assert.deepEqual(
      session.messages.map(({ role }) => role),
      ['user', 'assistant', 'summary', 'assistant'],
    );
  });

  it('compaction: a failure is shown, keeps the question and sends no further request', async () => {
    const { session } = sessionAt(upstream, { limit: { context: 1000, output: 200 } });
    upstream.respond(scripted({ text: ['x'], usage: { input: 700, output: 200 } }));
    await session.send({ text: 'One' });
    upstream.respond((_request, response) => void response.writeHead(500).end());
    await session.send({ text: 'Two' });
    const summary = session.messages.at(-1);
    assert.equal(summary?.role, 'summary');
    assert.equal(summary?.ending?.type, 'failed');
    assert.equal(upstream.requests.length, 2);
  });

  it('compaction: starts manually, and if the provider rejects a conversation as too long', async () => {
    const { session } = sessionAt(upstream);
    upstream.respond(scripted({ text: ['x'] }, { text: ['Sum.'] }));
    await session.send({ text: 'One' });
    await session.compact();
    assert.equal(session.messages.at(-1)?.role, 'summary');
    upstream.respond(undefined);
    await session.send({ text: 'Two [[scenario:context-openai]]' });
    upstream.respond(scripted({ text: ['Shorter.'] }, { text: ['Works.'] }));
    await session.compactAndRetry();
    assert.deepEqual(session.messages.map(messageText).slice(-3), [
      'Two [[scenario:context-openai]]',
      'Shorter.',
      'Works.',
    ]);
  });
});
