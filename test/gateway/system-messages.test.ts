import assert from 'node:assert/strict';
import { placeSystemMessages } from '../../src/provider/profile/system-messages.ts';
import { assertLinear } from '../linear-time.ts';
import { providers, startTestGateway, type TestGateway } from './gateway-under-test.ts';

const user = (content: unknown) => ({ role: 'user', content });
const system = (content: unknown) => ({ role: 'system', content });
const answer = { role: 'assistant', content: 'Yes.' };
const call = {
  role: 'assistant',
  content: null,
  tool_calls: [{ id: 'call00001', type: 'function', function: { name: 'f', arguments: '{}' } }],
};
const result = { role: 'tool', tool_call_id: 'call00001', content: 'r' };
const text = (value: string) => ({ type: 'text', text: value });

interface Case {
  readonly what: string;
  readonly sent: readonly object[];
  readonly received: readonly object[];
  /** For Mistral, if it differs. */
  readonly mistral?: readonly object[];
}

const CASES: readonly Case[] = [
  { what: 'keeps one at the start', sent: [system('s'), user('a')], received: [system('s'), user('a')] },
  {
    what: 'joins several at the start',
    sent: [system('s'), system('t'), user('a')],
    received: [system('s\n\nt'), user('a')],
  },
  {
    what: 'names a developer a system',
    sent: [{ role: 'developer', content: 's' }, user('a')],
    received: [system('s'), user('a')],
  },
  { what: 'joins one to the user message before it', sent: [user('a'), system('s')], received: [user('a\n\ns')] },
  {
    what: 'joins one to the user message after it',
    sent: [user('a'), answer, system('s'), user('b')],
    received: [user('a'), answer, user('s\n\nb')],
  },
  {
    what: 'makes one a user message after an answer',
    sent: [system('s'), user('a'), answer, system('t')],
    received: [system('s'), user('a'), answer, user('t')],
  },
  {
    what: 'moves one behind the results of a call',
    sent: [user('a'), call, system('s'), result, user('b')],
    received: [user('a'), call, result, user('s\n\nb')],
    mistral: [user('a'), call, result, { role: 'assistant', content: 'Done.' }, user('s\n\nb')],
  },
  {
    what: 'makes one a user message after a result',
    sent: [user('a'), call, result, system('s')],
    received: [user('a'), call, result, user('s')],
    mistral: [system('s'), user('a'), call, result],
  },
  {
    what: 'adds a part to a list of parts',
    sent: [user([text('a')]), system('s'), system([text('t')])],
    received: [user([text('a'), text('s'), text('t')])],
  },
];

describe('system messages for Chat Completions upstreams', () => {
  let gateway: TestGateway;

  before(async () => {
    gateway = await startTestGateway({
      config: (url) => {
        const options = { baseURL: `${url}/v1`, apiKey: 'k' };
        return {
          provider: {
            ...providers(url),
            mistral: { npm: '@ai-sdk/mistral', options, models: { m: {} } },
            azure: { npm: '@ai-sdk/azure', options, models: { 'gpt-5': {}, 'llama-3': {} } },
          },
        };
      },
    });
  });
  after(() => gateway.close());

  async function received(path: string, body: object): Promise<unknown> {
    gateway.upstream.forget();
    const response = await gateway.post(path, body);
    assert.equal(response.status, 200, await response.text());
    return (await gateway.upstream.request(0)).body.messages;
  }

  for (const { what, sent, received: expected, mistral = expected } of CASES) {
    it(`system messages: the gateway ${what}`, async () => {
      assert.deepEqual(await received('/chat/completions', { model: 'chat/m', messages: sent }), expected);
      assert.deepEqual(await received('/chat/completions', { model: 'mistral/m', messages: sent }), mistral);
    });
  }

  it('system messages: the gateway places those of Responses and Messages clients', async () => {
    const expected = [system('s'), user('a'), answer, user('t')];
    const input = [system('s'), user('a'), { ...answer, type: 'message' }, { role: 'developer', content: 't' }];
    assert.deepEqual(await received('/responses', { model: 'chat/m', input }), expected);
    const messages = [user('a'), answer, system('t')];
    assert.deepEqual(await received('/messages', { model: 'chat/m', max_tokens: 9, system: 's', messages }), expected);
  });

  it('system messages: OpenAI’s models on Azure get them unchanged, others do not', async () => {
    const messages = [user('a'), answer, system('s'), { role: 'developer', content: 't' }];
    assert.deepEqual(await received('/chat/completions', { model: 'azure/gpt-5', messages }), messages);
    assert.deepEqual(await received('/chat/completions', { model: 'azure/llama-3', messages }), [
      user('a'),
      answer,
      user('s\n\nt'),
    ]);
  });

  it('system messages: the time to place them grows linearly with their number', async () => {
    for (const first of [user([text('a')]), user('a'), answer, call]) {
      await assertLinear(
        50_000,
        (size) => [first, ...Array.from({ length: size }, () => system('s'))],
        (messages) => placeSystemMessages('first', messages),
      );
    }
  });
});
