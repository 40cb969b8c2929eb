import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { arrayOrEmpty, type JsonObject, objectOrEmpty } from '../../src/base/json.ts';
import { type Script, streamFrames, wholeBody } from '../upstream/answers.ts';
import type { ReceivedRequest } from '../upstream/upstream.ts';
import { type Client, readStream, readWhole } from './client-answers.ts';
import { providers, startTestGateway, type TestGateway } from './gateway-under-test.ts';

const TOOL = { type: 'object', properties: {} };
const TOOLS = {
  messages: [{ name: 'f', input_schema: TOOL }],
  responses: [{ type: 'function', name: 'f', parameters: TOOL }],
  chat: [{ type: 'function', function: { name: 'f', parameters: TOOL } }],
};
const PATHS = { messages: '/v1/messages', responses: '/v1/responses', chat: '/v1/chat/completions' };

/** The seal that a provider issues: its folder in the address, and the number of its answer. */
const sealOf = ({ path }: ReceivedRequest): string => `seal+of/${path.split('/')[1]}=`;

/** Two providers of each signed format, one of Chat Completions and two models of Google. */
function config(url: string): JsonObject {
  const all = providers(`${url}/a`);
  const at = (name: string, folder: string): JsonObject => {
    const provider = objectOrEmpty(all[name]);
    return { ...provider, options: { ...objectOrEmpty(provider.options), baseURL: `${url}/${folder}/v1` } };
  };
  const chat = at('chat', 'chat');
  const models = { 'gemini-3-pro': { reasoning: true }, 'gemini-2.5-pro': { reasoning: true } };
  return {
    provider: {
      messages: at('messages', 'a'),
      messages2: at('messages', 'b'),
      responses: at('responses', 'a'),
      responses2: at('responses', 'b'),
      chat,
      google: { ...chat, npm: '@ai-sdk/openai-compatible', models },
    },
    gateway: {
      fallback: { 'messages2/m': ['messages/m'], 'responses2/m': ['responses/m'] },
      pools: { 'team/both': { models: ['messages/m', 'messages2/m'], affinity: false } },
    },
  };
}

function send(response: ServerResponse, wire: Client, script: Script, stream: boolean): void {
  response.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' });
  if (stream)
    response.end(
      streamFrames(wire, script)
        .map((frame) => `${frame}\n\n`)
        .join(''),
    );
  else response.end(JSON.stringify(wholeBody(wire, script)));
}

function script(request: ReceivedRequest, answer: number): Script {
  const tools = [{ id: `call_${answer}`, name: 'f', arguments: ['{}'] }];
  return { reasoning: [`thought of ${request.path.split('/')[1]}`], tools, seal: sealOf(request) };
}

describe('reasoning carries its issuer', () => {
  let gateway: TestGateway;
  /** The status of providers that fail, by folder. */
  let failing: string | undefined;

  before(async () => {
    gateway = await startTestGateway({ config });
  });
  after(() => gateway.close());
  beforeEach(() => {
    failing = undefined;
    gateway.upstream.forget();
    gateway.upstream.respond((request, response) => {
      if (request.path.split('/')[1] === failing) {
        response.writeHead(529, { 'content-type': 'application/json' });
        response.end('{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}');
      } else
        send(
          response,
          request.wire as Client,
          script(request, gateway.upstream.requests.length),
          request.body.stream === true,
        );
    });
  });

  /** Asks with a history and returns the history with the answer and the results of its calls. */
  async function ask(client: Client, model: string, history: readonly unknown[], stream: boolean): Promise<unknown[]> {
    const field = client === 'responses' ? 'input' : 'messages';
    const thinking =
      client === 'messages'
        ? { max_tokens: 4000, thinking: { type: 'enabled', budget_tokens: 1024 } }
        : client === 'responses'
          ? { reasoning: { effort: 'high', summary: 'auto' }, include: ['reasoning.encrypted_content'] }
          : { reasoning_effort: 'high' };
    const request = { model, stream, tools: TOOLS[client], ...thinking, [field]: history };
    const response = await gateway.post(PATHS[client], request);
    const text = await response.text();
    assert.equal(response.status, 200, text);
    return [...history, ...(stream ? readStream(client, text) : readWhole(client, objectOrEmpty(JSON.parse(text))))];
  }

  const last = () => gateway.upstream.requests.at(-1) ?? assert.fail();
  const begin = [{ role: 'user', content: 'q' }];

  for (const client of ['messages', 'responses'] as const) {
    for (const stream of [false, true]) {
      const own = client;
      it(`reasoning issuer: goes back to its provider unchanged: ${client}, stream ${stream}`, async () => {
        let history = await ask(client, `${own}/m`, begin, stream);
        assert.match(JSON.stringify(history), /svc\.by\.[0-9a-f]{12}\.seal\+of\/a=/);
        history = await ask(client, `${own}/m`, history, stream);
        const sent = JSON.stringify(last().body);
        assert.ok(sent.includes('"seal+of/a="'), sent);
        assert.ok(!sent.includes('svc.by.'), sent);
        if (client === 'messages') assert.equal(objectOrEmpty(last().body.thinking).type, 'enabled');
      });

      it(`reasoning issuer: is left out for another provider of the format: ${client}, stream ${stream}`, async () => {
        const history = await ask(client, `${own}2/m`, begin, stream);
        await ask(client, `${own}/m`, history, stream);
        const sent = JSON.stringify(last().body);
        assert.ok(last().path.startsWith('/a/') && !sent.includes('seal') && !sent.includes('thought of'), sent);
        assert.ok(sent.includes('call_1'));
        if (client === 'messages') assert.equal(objectOrEmpty(last().body.thinking).type, 'disabled');
      });

      it(`reasoning issuer: is left out when a fallback takes over: ${client}, stream ${stream}`, async () => {
        const history = await ask(client, `${own}2/m`, begin, stream);
        failing = 'b';
        await ask(client, `${own}2/m`, history, stream);
        assert.ok(last().path.startsWith('/a/') && !JSON.stringify(last().body).includes('seal'));
      });

      it(`reasoning issuer: a Chat Completions client returns that of ${own}: stream ${stream}`, async () => {
        const history = await ask('chat', `${own}2/m`, begin, stream);
        await ask('chat', `${own}/m`, history, stream);
        assert.ok(!JSON.stringify(last().body).includes('seal'), JSON.stringify(last().body));
        await ask('chat', `${own}2/m`, history, stream);
        assert.ok(JSON.stringify(last().body).includes('"seal+of/b="'));
        await ask('chat', 'chat/m', history, stream);
        assert.ok(!JSON.stringify(last().body).includes('seal'), JSON.stringify(last().body));
      });
    }
  }

  it('reasoning issuer: the account of an organization is another issuer than that of the gateway', async () => {
    const history = await ask('messages', 'messages/m', begin, false);
    const marked = JSON.stringify(history).replace(/svc\.by\.[0-9a-f]{12}/, 'svc.by.0123456789ab');
    await ask('messages', 'messages/m', JSON.parse(marked), false);
    assert.ok(!JSON.stringify(last().body).includes('seal'));
  });

  it('reasoning issuer: a signature that the gateway did not mark is kept', async () => {
    const thinking = { type: 'thinking', thinking: 't', signature: 'direct' };
    const call = { type: 'tool_use', id: 'x', name: 'f', input: {} };
    const result = { type: 'tool_result', tool_use_id: 'x', content: 'r' };
    await ask(
      'messages',
      'messages/m',
      [...begin, { role: 'assistant', content: [thinking, call] }, { role: 'user', content: [result] }],
      false,
    );
    assert.deepEqual(objectOrEmpty(arrayOrEmpty(last().body.messages)[1]).content, [thinking, call]);
  });

  it('reasoning issuer: the count of tokens and a compaction get the reasoning of their provider only', async () => {
    for (const [client, path] of [
      ['messages', '/v1/messages/count_tokens'],
      ['responses', '/v1/responses/compact'],
    ] as const) {
      const field = client === 'responses' ? 'input' : 'messages';
      const history = await ask(client, `${client}/m`, begin, false);
      for (const [model, kept] of [
        [`${client}/m`, true],
        [`${client}2/m`, false],
      ] as const) {
        const response = await gateway.post(path, { model, [field]: history });
        assert.equal(response.status, 200, await response.text());
        const sent = JSON.stringify(last().body);
        assert.ok(last().path.endsWith(path.slice(3)) && !sent.includes('svc.by.'), sent);
        assert.equal(sent.includes('"seal+of/a="'), kept, sent);
      }
    }
  });

  it('reasoning issuer: members of a pool exchange no signatures', async () => {
    let history: readonly unknown[] = begin;
    for (let turn = 0; turn < 8; turn += 1) {
      history = await ask('messages', 'team/both', history, false);
      const folder = last().path.split('/')[1];
      const seals = [...JSON.stringify(last().body.messages).matchAll(/seal\+of\/(\w)=/g)].map(([, by]) => by);
      assert.ok(
        seals.every((by) => by === folder),
        `${folder} got ${seals}`,
      );
    }
  });

  it('reasoning issuer: a tool argument with the same text as a signature is not changed', async () => {
    gateway.upstream.respond((_, response) => {
      const content = [
        { type: 'tool_use', id: 'x', name: 'f', input: { signature: 'S', big: 1 } },
        { type: 'thinking', thinking: 't', signature: 'S' },
      ];
      response.writeHead(200, { 'content-type': 'application/json' });
      const body = JSON.stringify({ id: 'm', type: 'message', role: 'assistant', content, stop_reason: 'tool_use' });
      response.end(body.replace('"big":1', '"big":12345678901234567890'));
    });
    const response = await gateway.post('/v1/messages', { model: 'messages/m', max_tokens: 9, messages: begin });
    const text = await response.text();
    assert.match(text, /"signature":"S","big":12345678901234567890/);
    assert.match(text, /"thinking":"t","signature":"svc\.by\.[0-9a-f]{12}\.S"/);
  });

  describe('thought signatures of Gemini', () => {
    const signed = (n: number) => ({ extra_content: { google: { thought_signature: `thought-${n}` } } });

    beforeEach(() => {
      gateway.upstream.respond((request, response) => {
        if (!request.path.startsWith('/chat/'))
          return send(
            response,
            request.wire as Client,
            script(request, gateway.upstream.requests.length),
            request.body.stream === true,
          );
        const n = gateway.upstream.requests.length;
        const calls = [0, 1].map((index) => ({
          index,
          id: `call_${n}${index}`,
          type: 'function',
          function: { name: 'f', arguments: '{}' },
          ...(index === 0 ? signed(n) : {}),
        }));
        const stream = request.body.stream === true;
        response.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' });
        const message = { role: 'assistant', content: null, tool_calls: calls };
        const choice = { index: 0, finish_reason: 'tool_calls', [stream ? 'delta' : 'message']: message };
        const answer = JSON.stringify({ id: 'c', choices: [choice] });
        response.end(stream ? `data: ${answer}\n\ndata: [DONE]\n\n` : answer);
      });
    });

    /** The signatures of the calls of each assistant message. */
    const sentSignatures = (): unknown[][] =>
      arrayOrEmpty(last().body.messages)
        .map(objectOrEmpty)
        .filter(({ role }) => role === 'assistant')
        .map(({ tool_calls }) =>
          arrayOrEmpty(tool_calls).map(
            (call) => objectOrEmpty(objectOrEmpty(objectOrEmpty(call).extra_content).google).thought_signature,
          ),
        );

    for (const client of ['messages', 'responses', 'chat'] as const) {
      for (const stream of [false, true]) {
        it(`thought signature: comes back over rounds, parallel calls and another model: ${client}, stream ${stream}`, async () => {
          const model = 'google/gemini-3-pro';
          let history = await ask(client, model, begin, stream);
          history = await ask(client, model, history, stream);
          assert.deepEqual(sentSignatures(), [['thought-1', undefined]]);
          const other = client === 'chat' ? 'messages' : client;
          history = await ask(client, `${other}/m`, history, stream);
          assert.ok(!JSON.stringify(last().body).includes('thought-'));
          await ask(client, model, history, stream);
          const expected = [['thought-1', undefined], ['thought-2', undefined], ['skip_thought_signature_validator']];
          assert.deepEqual(sentSignatures(), expected);
        });
      }
    }

    it('thought signature: an older model gets no substitute, another server none at all', async () => {
      const history = await ask('chat', 'google/gemini-3-pro', begin, false);
      const unsigned = JSON.parse(JSON.stringify(history).replaceAll(/,"extra_content":\{.*?\}\}/g, ''));
      await ask('chat', 'google/gemini-2.5-pro', unsigned, false);
      assert.deepEqual(sentSignatures(), [[undefined, undefined]]);
      await ask('chat', 'chat/m', history, false);
      assert.ok(!JSON.stringify(last().body).includes('extra_content'));
    });
  });
});
