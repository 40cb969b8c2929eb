import assert from 'node:assert/strict';
import { createOpenAI } from '@ai-sdk/openai';
import { dynamicTool, generateText, jsonSchema, stepCountIs, streamText } from 'ai';
import { play } from '../upstream/scenarios.ts';
import { KEY, providers, startTestGateway, type TestGateway } from './gateway-under-test.ts';
import { KeptItems } from './state-under-test.ts';

const weather = dynamicTool({
  description: 'The weather of a city.',
  inputSchema: jsonSchema({ type: 'object', properties: { city: { type: 'string' } } }),
  execute: async () => 'sunny',
});

interface Output {
  readonly output: readonly { readonly id: string; readonly type: string }[];
}

describe('items of translated answers', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startTestGateway({
      config: (url) => ({ provider: providers(url), gateway: { maxBodyBytes: 20_000 } }),
    });
  });
  after(() => gateway.close());

  /** A call of a tool at first, text after its result. */
  function answerInSteps(): void {
    gateway.upstream.forget();
    let steps = 0;
    gateway.upstream.respond((request, response) => {
      steps += 1;
      const scenario = steps === 1 ? 'reasoning-tools' : 'text';
      return play({ ...request, scenario }, response);
    });
  }

  for (const up of ['chat', 'messages']) {
    for (const how of ['streamed', 'whole']) {
      it(`kept items: the AI SDK’s openai() completes a second step over a ${up} upstream, ${how}`, async () => {
        answerInSteps();
        const openai = createOpenAI({ baseURL: `${gateway.url}/v1`, apiKey: KEY });
        const options = {
          ...{ model: openai(`${up}/m`), prompt: 'Hi', tools: { weather }, stopWhen: stepCountIs(3), maxRetries: 0 },
          onError: () => undefined,
        };
        const text = how === 'streamed' ? await streamText(options).text : (await generateText(options)).text;
        assert.match(text, /Hello/);
        const { body } = await gateway.upstream.request(1);
        assert.match(JSON.stringify(body), /call_1.*sunny/);
      });
    }
  }

  async function outputOf(more: object = {}): Promise<Output['output']> {
    gateway.upstream.respond(undefined);
    const response = await gateway.post('/responses', { model: 'chat/m', input: 'Hi', ...more });
    assert.equal(response.status, 200);
    return ((await response.json()) as Output).output;
  }
  const refer = (ids: readonly string[], headers: Record<string, string> = {}, model = 'chat/m') => {
    const input = [...ids.map((id) => ({ type: 'item_reference', id })), { role: 'user', content: 'More' }];
    return gateway.post('/responses', { model, input }, headers);
  };

  it('kept items: a reference without a type is resolved', async () => {
    const [item] = await outputOf();
    gateway.upstream.forget();
    const input = [{ id: item?.id }, { role: 'user', content: 'More' }];
    assert.equal((await gateway.post('/responses', { model: 'messages/m', input })).status, 200);
    assert.match(JSON.stringify((await gateway.upstream.request(0)).body.messages), /Hello.*More/);
  });

  it('kept items: an upstream of Responses gets a kept item, and the references that the gateway does not know', async () => {
    const [item] = await outputOf();
    gateway.upstream.forget();
    assert.equal((await refer([item?.id ?? '', 'msg_of_the_upstream'], {}, 'responses/m')).status, 200);
    const { input } = (await gateway.upstream.request(0)).body;
    assert.deepEqual(
      (input as { type?: string; id?: string }[]).map(({ type, id }) => [type, id]),
      [
        ['message', item?.id],
        ['item_reference', 'msg_of_the_upstream'],
        [undefined, undefined],
      ],
    );
  });

  it('kept items: an unknown reference is refused with a way out', async () => {
    const response = await refer(['msg_unknown']);
    const { error } = (await response.json()) as { error: { message: string; param: string; code: string } };
    assert.deepEqual([response.status, error.code, error.param], [400, 'unsupported_field', 'input.0.id']);
    assert.match(error.message, /msg_unknown.*`store: false`.*\.chat\(\)/);
  });

  it('kept items: another key does not have them', async () => {
    const [item] = await outputOf();
    const key = gateway.createKey({ name: 'other' });
    assert.equal((await refer([item?.id ?? ''], { authorization: `Bearer ${key}` })).status, 400);
    assert.equal((await refer([item?.id ?? ''])).status, 200);
  });

  it('kept items: none of an answer with `store: false`', async () => {
    const [item] = await outputOf({ store: false });
    assert.equal((await refer([item?.id ?? ''])).status, 400);
  });

  it('kept items: count towards the limit of a body', async () => {
    const [item] = await outputOf();
    const response = await refer(Array.from({ length: 200 }, () => item?.id ?? ''));
    assert.equal(response.status, 413);
  });

  it('kept items: are removed after an hour, and the oldest ones beyond the limits', () => {
    let now = 0;
    const items = new KeptItems(() => now);
    const long = 'x'.repeat(1024 * 1024);
    for (let n = 0; n < 5; n += 1) items.keep('a', `${n}`, long);
    assert.deepEqual([items.find('a', '0'), items.find('a', '1')], [undefined, long]);
    items.keep('a', 'longer', long.repeat(5));
    assert.equal(items.find('a', 'longer'), undefined);
    for (let n = 0; n < 40; n += 1) items.keep(`owner ${n}`, '0', long);
    assert.deepEqual([items.size, items.find('a', '4')], [32, undefined]);
    assert.equal(items.find('owner 39', '0'), long);
    now += 60 * 60 * 1000;
    assert.equal(items.find('owner 39', '0'), undefined);
    assert.equal(items.size, 0);
  });
});
