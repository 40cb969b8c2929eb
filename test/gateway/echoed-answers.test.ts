import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { streamFrames, type Wire, wholeBody } from '../upstream/answers.ts';
import { chatRequest } from './chat-request.ts';
import { startTestGateway, type TestGateway } from './gateway-under-test.ts';

const SECRET = 'sk-of-the-house/31d7e2';

/** A provider that repeats the request, as some do in debug mode. */
describe('gateway credentials in successful answers', () => {
  let testGateway: TestGateway;
  before(async () => {
    testGateway = await startTestGateway({
      config: (url) => {
        const options = { baseURL: `${url}/v1`, apiKey: SECRET };
        const models = { m: {}, 'codestral-m': {} };
        const provider = {
          chat: { options, models },
          messages: { npm: '@ai-sdk/anthropic', options, models },
          responses: { npm: '@ai-sdk/openai', options, models },
        };
        const gateway = { embeddingModels: { 'chat/e': {} }, transcriptionModels: { 'chat/t': {} } };
        return { provider, gateway };
      },
    });
  });
  after(() => testGateway.close());

  /** The bytes of an answer in pieces, none of which holds the credential. */
  async function sendCut(response: ServerResponse, type: string, body: string): Promise<void> {
    response.writeHead(200, { 'content-type': type });
    const size = Math.floor(SECRET.length / 2);
    for (let at = 0; at < body.length; at += size) {
      await new Promise((resolve) => response.write(body.slice(at, at + size), resolve));
      await new Promise(setImmediate);
    }
    response.end();
  }

  const json = (value: unknown, slashes: string) => JSON.stringify(value).replaceAll('/', slashes);
  for (const [how, slashes] of [
    ['unchanged', '/'],
    ['with escaped slashes', '\\/'],
    ['with escapes', '\\u002F'],
  ] as const) {
    for (const stream of [false, true]) {
      it(`echoed credential: no client receives it: ${stream ? 'streamed' : 'whole'}, ${how}`, async () => {
        testGateway.upstream.respond(async ({ wire, headers }, response) => {
          const text = [`I was sent ${headers.authorization ?? headers['x-api-key']}.`, ' Bye.'];
          if (!stream) return sendCut(response, 'application/json', json(wholeBody(wire as Wire, { text }), slashes));
          const frames = streamFrames(wire as Wire, { text }).map((frame) => `${frame.replaceAll('/', slashes)}\n\n`);
          return sendCut(response, 'text/event-stream', frames.join(''));
        });
        for (const model of ['chat/m', 'messages/m', 'responses/m']) {
          for (const [where, body] of [
            ['/chat/completions', chatRequest(model, { stream })],
            ['/messages', chatRequest(model, { stream })],
            ['/responses', { model, input: 'Hi', stream }],
          ] as const) {
            const response = await testGateway.post(where, body);
            const shown = (await response.text()).replaceAll('\\/', '/').replaceAll(/\\u002f/gi, '/');
            assert.equal(response.status, 200, shown);
            assert.ok(!shown.includes(SECRET), `${model} ${where}: ${shown}`);
            assert.match(shown, /I was sent (Bearer )?\[redacted\]/, `${model} ${where}`);
          }
        }
      });
    }
  }

  it('echoed credential: is removed from completions, embeddings and transcripts', async () => {
    testGateway.upstream.respond((_, response) =>
      sendCut(
        response,
        'application/json',
        JSON.stringify({ choices: [{ text: SECRET, finish_reason: 'stop' }], data: [SECRET], text: SECRET }),
      ),
    );
    const input_audio = { data: 'UklGRg==', format: 'wav' };
    for (const [where, body] of [
      ['/fim/completions', { model: 'chat/codestral-m', prompt: 'a', suffix: 'b', max_tokens: 9 }],
      ['/embeddings', { model: 'chat/e', input: 'a' }],
      ['/audio/transcriptions', { model: 'chat/t', input_audio }],
    ] as const) {
      const response = await testGateway.post(where, body);
      const shown = await response.text();
      assert.equal(response.status, 200, shown);
      assert.ok(!shown.includes(SECRET), `${where}: ${shown}`);
      assert.ok(shown.includes('[redacted]'), `${where}: ${shown}`);
    }
  });
});
