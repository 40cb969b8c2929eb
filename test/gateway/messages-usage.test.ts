import assert from 'node:assert/strict';
import Anthropic from '@anthropic-ai/sdk';
import { streamFrames, type Wire, wholeBody } from '../upstream/answers.ts';
import { KEY, startTestGateway, type TestGateway } from './gateway-under-test.ts';

const PROMPT = 'word '.repeat(4_000);
/** A quarter of its characters, and what is around it. */
const PROBABLE = PROMPT.length / 4;
const isProbable = (tokens: number) => tokens >= PROBABLE && tokens < PROBABLE * 1.05;

describe('the usage in an answer of Messages', () => {
  let gateway: TestGateway;
  let client: Anthropic;

  before(async () => {
    gateway = await startTestGateway();
    client = new Anthropic({ baseURL: gateway.url.replace(/\/v1$/, ''), apiKey: KEY, maxRetries: 0 });
  });
  after(() => gateway.close());

  const ask = (model: string) => ({
    model,
    max_tokens: 100,
    messages: [{ role: 'user' as const, content: PROMPT }],
  });

  /** The input in the first event, and in the message at the end. */
  async function stream(up: Wire, usage: { readonly input: number; readonly output: number } | null) {
    gateway.upstream.respond(({ wire }, response) => {
      const frames = streamFrames(wire, { text: ['Hello'], usage });
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(frames.map((frame) => `${frame}\n\n`).join(''));
    });
    const answer = client.messages.stream(ask(`${up}/m`));
    const first = Promise.withResolvers<number>();
    answer.on('streamEvent', (event) => {
      if (event.type === 'message_start') first.resolve(event.message.usage.input_tokens);
    });
    const { usage: last } = await answer.finalMessage();
    return { first: await first.promise, last };
  }

  for (const up of ['chat', 'responses'] as const) {
    it(`Messages over ${up}: a stream begins with the probable input and ends with the reported one`, async () => {
      const { first, last } = await stream(up, { input: 7_000, output: 3 });
      assert.ok(isProbable(first), `${first}`);
      assert.deepEqual([last.input_tokens, last.output_tokens], [7_000, 3]);
    });
  }

  it('Messages over chat: without a report, the input is the probable one, streamed or whole', async () => {
    const { first, last } = await stream('chat', null);
    assert.deepEqual([isProbable(first), last.input_tokens], [true, first]);
    gateway.upstream.respond(({ wire }, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(wholeBody(wire, { text: ['Hello'], usage: null })));
    });
    const { usage } = await client.messages.create(ask('chat/m'));
    assert.ok(isProbable(usage.input_tokens));
  });

  it('Messages over Messages: a stream begins with the input that the provider reports', async () => {
    const { first, last } = await stream('messages', { input: 7_000, output: 3 });
    assert.deepEqual([first, last.input_tokens], [7_000, 7_000]);
  });
});
