import assert from 'node:assert/strict';
import { startTestGateway, type TestGateway } from './gateway-under-test.ts';

const usage = { prompt_tokens: 100, completion_tokens: 40, total_tokens: 140 };
const head = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'up-m' };
const chunk = (delta: object, finish_reason: string | null = null, more: object = {}, index = 0) => ({
  ...head,
  choices: [{ index, delta, finish_reason }],
  ...more,
});
const text = chunk({ role: 'assistant', content: 'Hi' });
const finish = chunk({}, 'stop');
const separate = { ...head, choices: [], usage };

const STREAMS: Readonly<Record<string, readonly object[]>> = {
  'in a chunk of its own': [text, finish, separate],
  'with the finish reason': [text, chunk({}, 'stop', { usage })],
  'before the finish reason': [chunk({ content: 'Hi' }, null, { usage }), finish],
  'in each chunk': [chunk({ content: 'Hi' }, null, { usage: { ...usage, completion_tokens: 1 } }), finish, separate],
  'in x_groq': [text, chunk({}, 'stop', { x_groq: { id: 'r', usage } })],
  'in the last of two choices': [
    text,
    chunk({ content: 'Ho' }, null, {}, 1),
    finish,
    chunk({ content: '!' }, null, {}, 1),
    chunk({}, 'stop', {}, 1),
    separate,
  ],
  'of an answer without a finish reason': [text, separate],
};

describe('the usage of a Chat Completions stream', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startTestGateway();
  });
  after(() => gateway.close());

  async function chunksFor(more: object, model = 'chat/m'): Promise<Record<string, unknown>[]> {
    const body = { model, messages: [{ role: 'user', content: 'Hi' }], stream: true, ...more };
    const answer = await gateway.post('/chat/completions', body);
    const frames = (await answer.text()).split('\n\n').filter((frame) => frame !== '');
    assert.equal(frames.pop(), 'data: [DONE]');
    return frames.map((frame) => JSON.parse(frame.slice('data: '.length)));
  }
  const choicesOf = (value: Record<string, unknown> | undefined) => value?.choices as { finish_reason: unknown }[];
  const withUsage = (chunks: readonly Record<string, unknown>[]) =>
    chunks.flatMap((value, index) => (value.usage ? [index - chunks.length] : []));

  for (const [place, stream] of Object.entries(STREAMS)) {
    for (const done of [true, false]) {
      const end = done ? '' : ', without [DONE]';
      if (!done && place === 'of an answer without a finish reason') continue;
      it(`usage chunk: is on the chunk with the finish reason if the upstream reports it ${place}${end}`, async () => {
        respond(stream, done);
        const chunks = await chunksFor({});
        assert.deepEqual(withUsage(chunks), [-1]);
        assert.deepEqual(chunks.at(-1)?.usage, usage);
        assert.ok(chunks.every((value) => choicesOf(value).length > 0));
        assert.equal(choicesOf(chunks.at(-1))[0]?.finish_reason, 'stop');
        assert.equal(gateway.rows().at(-1)?.output, 40);
      });

      it(`usage chunk: is in a last chunk without choices on request if the upstream reports it ${place}${end}`, async () => {
        respond(stream, done);
        const chunks = await chunksFor({ stream_options: { include_usage: true } });
        assert.deepEqual(withUsage(chunks), [-1]);
        assert.deepEqual([chunks.at(-1)?.choices, chunks.at(-1)?.usage], [[], usage]);
        assert.equal(choicesOf(chunks.at(-2))[0]?.finish_reason, 'stop');
      });
    }
  }

  function respond(stream: readonly object[], done: boolean): void {
    gateway.upstream.respond((_, response) => {
      const frames = stream.map((value) => `data: ${JSON.stringify(value)}\n\n`);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const frame of frames) response.write(frame);
      response.end(done ? 'data: [DONE]\n\n' : '');
    });
  }

  for (const model of ['messages/m', 'responses/m']) {
    it(`usage chunk: has the same place if the answer of ${model} is translated`, async () => {
      gateway.upstream.respond(undefined);
      const [without, requested] = [
        await chunksFor({}, model),
        await chunksFor({ stream_options: { include_usage: true } }, model),
      ];
      assert.deepEqual([withUsage(without), withUsage(requested)], [[-1], [-1]]);
      assert.equal(choicesOf(without.at(-1))[0]?.finish_reason, 'stop');
      assert.deepEqual(requested.at(-1)?.choices, []);
    });
  }

  it('usage chunk: is sent before the error of a stream that breaks after its finish reason', async () => {
    gateway.upstream.respond((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'content-length': '9999' });
      response.write(`data: ${JSON.stringify(text)}\n\ndata: ${JSON.stringify(finish)}\n\n`, () => response.destroy());
    });
    const answer = await gateway.post('/chat/completions', {
      ...{ model: 'chat/m', stream: true },
      messages: [{ role: 'user', content: 'Hi' }],
    });
    const frames = (await answer.text()).split('\n\n').filter((frame) => frame !== '');
    assert.match(frames.at(-2) ?? '', /"finish_reason":"stop"/);
    assert.match(frames.at(-1) ?? '', /"error"/);
  });
});
