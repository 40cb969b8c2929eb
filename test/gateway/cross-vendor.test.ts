import assert from 'node:assert/strict';
import { type JsonObject, objectOrEmpty } from '../../src/base/json.ts';
import { wholeBody } from '../upstream/answers.ts';
import { CLIENTS, type Step } from './client-histories.ts';
import { startTestGateway, type TestGateway } from './gateway-under-test.ts';

/** Conversations that began with one vendor and continue with another. */
describe('conversations across vendors', () => {
  let gateway: TestGateway;

  before(async () => {
    gateway = await startTestGateway();
  });
  after(() => gateway.close());
  beforeEach(() => {
    gateway.upstream.respond(undefined);
    gateway.upstream.forget();
  });

  const sent = async (client: keyof typeof CLIENTS, model: string, steps: readonly Step[], more: JsonObject = {}) => {
    const { path, request } = CLIENTS[client];
    const response = await gateway.post(path, { model, ...request(steps), ...more });
    assert.equal(response.status, 200, await response.text());
    return (await gateway.upstream.request(0)).body;
  };

  for (const client of Object.keys(CLIENTS) as (keyof typeof CLIENTS)[]) {
    it(`ids of calls: a server that counts calls in each answer, then Claude: ${client}`, async () => {
      const round: Step[] = [{ call: 'call_0' }, { result: 'call_0', text: 'r' }];
      const body = await sent(client, 'messages/m', [{ user: 'q' }, ...round, ...round, { call: 'call_1' }]);
      const ids = [...JSON.stringify(body.messages).matchAll(/"(?:id|tool_use_id)":"([^"]+)"/g)].map(([, id]) => id);
      assert.equal(new Set(ids).size, 3);
      for (const at of [0, 2, 4]) assert.equal(ids[at], ids[at + 1]);
    });
  }

  for (const client of ['messages', 'responses'] as const) {
    it(`ids of calls: an answer with an id of the history has another one for the client: ${client}`, async () => {
      const tools = ['call_0', 'call_1'].map((id) => ({ id, name: 'f', arguments: ['{}'] }));
      gateway.upstream.respond((_, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(JSON.stringify(wholeBody('chat', { tools })));
      });
      const { path, request } = CLIENTS[client];
      const history = request([{ user: 'q' }, { call: 'call_0' }, { result: 'call_0', text: 'r' }]);
      const answers = [];
      for (let n = 0; n < 2; n += 1) {
        const response = await gateway.post(path, { model: 'chat/m', ...history });
        const answer = objectOrEmpty(await response.json());
        const ids = [...JSON.stringify(answer).matchAll(/"(?:call_id|id)":"(call_[^"]+)"/g)].map(([, id]) => id);
        assert.equal(new Set(['call_0', ...ids]).size, 3);
        answers.push(ids);
      }
      assert.deepEqual(answers[0], answers[1]);
    });
  }
});
