import assert from 'node:assert/strict';
import { type JsonObject, objectOrEmpty } from '../../src/base/json.ts';
import { startTestGateway, type TestGateway } from './gateway-under-test.ts';

const CALL = { id: 'call_1', name: 'f' };
const TOOL = { type: 'object', properties: {} };

/** Answers of providers whose reasoning has no text. */
const HIDDEN: Readonly<Record<string, readonly JsonObject[]>> = {
  messages: [
    { type: 'thinking', thinking: '', signature: 'OPAQUE' },
    { type: 'redacted_thinking', data: 'OPAQUE' },
  ],
  responses: [{ id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: 'OPAQUE' }],
  chat: [{ type: 'reasoning.encrypted', data: 'OPAQUE', format: 'google-gemini-v1', index: 0 }],
};

function answerOf(wire: string, reasoning: JsonObject): JsonObject {
  if (wire === 'messages') {
    const content = [reasoning, { type: 'tool_use', ...CALL, input: {} }];
    return { id: 'msg_1', type: 'message', role: 'assistant', content, stop_reason: 'tool_use' };
  }
  if (wire === 'responses') {
    const call = { id: 'fc_1', type: 'function_call', call_id: CALL.id, name: CALL.name, arguments: '{}' };
    return { id: 'resp_1', status: 'completed', output: [reasoning, call] };
  }
  const tool_calls = [{ id: CALL.id, type: 'function', function: { name: CALL.name, arguments: '{}' } }];
  const message = { role: 'assistant', content: null, reasoning_details: [reasoning], tool_calls };
  return { id: 'c', choices: [{ index: 0, message, finish_reason: 'tool_calls' }] };
}

/** A client that returns its answers unchanged. Each sends the first request, or the second after an answer. */
const CLIENTS: Readonly<
  Record<string, { readonly path: string; readonly request: (answer?: JsonObject) => JsonObject }>
> = {
  messages: {
    path: '/v1/messages',
    request: (answer) => {
      const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: CALL.id, content: 'r' }] };
      const after = answer === undefined ? [] : [{ role: 'assistant', content: answer.content }, result];
      const thinking = { type: 'enabled', budget_tokens: 1024 };
      const tools = [{ name: CALL.name, input_schema: TOOL }];
      return { max_tokens: 4000, thinking, tools, messages: [{ role: 'user', content: 'q' }, ...after] };
    },
  },
  responses: {
    path: '/v1/responses',
    request: (answer) => {
      const result = { type: 'function_call_output', call_id: CALL.id, output: 'r' };
      const output = Array.isArray(answer?.output) ? answer.output : [];
      const after = answer === undefined ? [] : [...output, result];
      const tools = [{ type: 'function', name: CALL.name, parameters: TOOL }];
      return {
        reasoning: { effort: 'high', summary: 'auto' },
        tools,
        input: [{ role: 'user', content: 'q' }, ...after],
      };
    },
  },
  chat: {
    path: '/v1/chat/completions',
    request: (answer) => {
      const [choice] = Array.isArray(answer?.choices) ? answer.choices : [];
      const result = { role: 'tool', tool_call_id: CALL.id, content: 'r' };
      const after = answer === undefined ? [] : [objectOrEmpty(choice).message, result];
      const tools = [{ type: 'function', function: { name: CALL.name, parameters: TOOL } }];
      return { reasoning_effort: 'high', tools, messages: [{ role: 'user', content: 'q' }, ...after] };
    },
  },
};

describe('reasoning across formats', () => {
  let gateway: TestGateway;

  before(async () => {
    gateway = await startTestGateway();
  });
  after(() => gateway.close());
  beforeEach(() => gateway.upstream.forget());

  async function ask(client: string, model: string, answer?: JsonObject): Promise<JsonObject> {
    const { path, request } = CLIENTS[client] ?? assert.fail();
    const response = await gateway.post(path, { model, ...request(answer) });
    assert.equal(response.status, 200);
    return objectOrEmpty(await response.json());
  }

  for (const [up, all] of Object.entries(HIDDEN)) {
    for (const client of Object.keys(CLIENTS)) {
      for (const reasoning of all) {
        it(`reasoning without text: ${reasoning.type} of ${up} returns to it through a client of ${client}`, async () => {
          gateway.upstream.respond(({ wire }, response) => {
            response.writeHead(200, { 'content-type': 'application/json' });
            response.end(JSON.stringify(answerOf(wire, reasoning)));
          });
          await ask(client, `${up}/m`, await ask(client, `${up}/m`));
          const { body } = await gateway.upstream.request(1);
          const sent = Object.entries(reasoning).filter(([name]) => name !== 'index');
          const found = JSON.stringify(body);
          for (const [name, value] of sent) {
            assert.ok(found.includes(JSON.stringify({ [name]: value }).slice(1, -1)), `${name} in ${found}`);
          }
          if (up === 'messages') assert.deepEqual(objectOrEmpty(body.thinking).type, 'enabled');
        });
      }
    }
  }

  for (const client of ['messages', 'responses']) {
    it(`reasoning of another provider: is not sent to a provider of the client's own format: ${client}`, async () => {
      gateway.upstream.respond(undefined);
      for (const up of ['chat', 'messages', 'responses']) {
        if (up === client) continue;
        gateway.upstream.forget();
        gateway.upstream.respond(({ wire }, response) => {
          response.writeHead(200, { 'content-type': 'application/json' });
          response.end(JSON.stringify(answerOf(wire, HIDDEN[up]?.[0] ?? assert.fail())));
        });
        const answer = await ask(client, `${up}/m`);
        await ask(client, `${client}/m`, answer);
        const { body, bytes } = await gateway.upstream.request(1);
        assert.ok(bytes.includes(CALL.id));
        assert.ok(!/thinking","|"reasoning"|svc\./.test(JSON.stringify(body.messages ?? body.input)));
      }
    });
  }

  const summaries: readonly (readonly [what: string, client: string, over: JsonObject, summary: string | undefined])[] =
    [
      ['thinking', 'messages', {}, 'auto'],
      ['adaptive thinking', 'messages', { thinking: { type: 'adaptive' } }, 'auto'],
      ['thinking that is not displayed', 'messages', { thinking: { type: 'adaptive', display: 'omitted' } }, undefined],
      ['no thinking', 'messages', { thinking: { type: 'disabled' } }, undefined],
      ['only an effort', 'chat', {}, undefined],
      ['OpenRouter’s reasoning', 'chat', { reasoning: { effort: 'low' } }, 'auto'],
      ['OpenRouter’s reasoning, excluded', 'chat', { reasoning: { effort: 'low', exclude: true } }, undefined],
    ];
  for (const [what, client, over, summary] of summaries) {
    it(`reasoning.summary: ${client} with ${what}: ${summary ?? 'not requested'}`, async () => {
      gateway.upstream.respond(undefined);
      const { path, request } = CLIENTS[client] ?? assert.fail();
      await gateway.post(path, { ...request(), model: 'responses/m', ...over });
      const { body } = await gateway.upstream.request(0);
      assert.equal(objectOrEmpty(body.reasoning).summary, summary);
    });
  }
});
