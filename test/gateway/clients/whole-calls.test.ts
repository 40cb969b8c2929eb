import assert from 'node:assert/strict';
import { startTestGateway, type TestGateway } from '../gateway-under-test.ts';

const MISTRAL = 'speakeasy-sdk/typescript 2.7.0 2.884.13 1.0.0 @mistralai/mistralai';

describe('tool calls of translated answers for Mistral’s SDKs', () => {
  let under: TestGateway;
  before(async () => {
    under = await startTestGateway();
  });
  after(() => under.close());

  const stream = async (model: string, userAgent: string): Promise<unknown[]> => {
    const messages = [{ role: 'user', content: '[[scenario:tools]]' }];
    const tools = ['weather', 'clock'].map((name) => ({ type: 'function', function: { name } }));
    const body = { model, stream: true, messages, tools };
    const text = await (await under.post('/v1/chat/completions', body, { 'user-agent': userAgent })).text();
    return [...text.matchAll(/"tool_calls":(\[.*?\])\},"finish_reason"/g)].map(([, calls]) => JSON.parse(calls ?? ''));
  };

  for (const model of ['responses/m', 'messages/m']) {
    it(`each call of ${model} is one chunk with its name and all arguments`, async () => {
      assert.deepEqual(await stream(model, MISTRAL), [
        [{ index: 0, id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } }],
        [{ index: 1, id: 'call_2', type: 'function', function: { name: 'clock', arguments: '{}' } }],
      ]);
    });

    it(`the arguments of ${model} are streamed to other clients as they arrive`, async () => {
      const chunks = await stream(model, 'OpenAI/JS 7.57.0');
      assert.ok(chunks.length > 2);
    });
  }
});
