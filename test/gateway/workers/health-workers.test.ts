import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { ENDPOINTS } from '../../../src/protocol/admin-api/endpoints.ts';
import type { Health } from '../../../src/protocol/admin-api/schemas.ts';
import { until } from '../until.ts';
import { WORKERS, WorkersHarness } from './workers-harness.ts';

describe('the health of models with svc serve --workers', () => {
  let harness: WorkersHarness;

  beforeEach(async () => {
    const cost = { input: 1, output: 2 };
    harness = await WorkersHarness.start({ m: { cost }, n: { cost } }, { pools: { 'team/p': { models: ['up/n'] } } });
  });
  afterEach(() => harness.close());

  /** The health of a model as each worker says it. */
  const healthOf = async (model: string): Promise<readonly Health[]> => {
    const answers = await harness.answersOfAll<unknown>('/admin/v1/models');
    return answers.map((answer) => {
      const { data } = ENDPOINTS.listModels.answer.parse(answer);
      const found = data.find(({ id }) => id === model)?.health;
      assert.ok(found);
      return found;
    });
  };
  /** The health that all workers agree on, when it is as expected: each one tells it with its next heartbeat. */
  const commonHealth = async (model: string, expected: (health: Health) => boolean): Promise<Health> => {
    let found: readonly Health[] = [];
    await until('all workers show the same health', async () => {
      found = await healthOf(model);
      return found.every((each) => isDeepStrictEqual(each, found[0]) && expected(each)) || JSON.stringify(found);
    });
    return found[0] ?? assert.fail();
  };
  /** The upstream answers requests with this status. */
  const fail = (status: number, headers: Record<string, string> = {}) =>
    harness.serve.upstream.respond((_, response) => void response.writeHead(status, headers).end('{}'));

  it('each worker shows the last failure and the last answer of all', async () => {
    const none = await commonHealth('up/m', ({ state }) => state === 'unknown');
    assert.deepEqual([none.last_error, none.in_flight], [null, 0]);
    fail(500);
    await harness.ask();
    const failed = await commonHealth('up/m', ({ state, in_flight }) => state === 'failing' && in_flight === 0);
    assert.ok(failed.last_error !== null && failed.last_error_at !== null);
    const concerns = await harness.answersOfAll<{ readonly data: readonly unknown[] }>('/admin/v1/concerns');
    for (const { data } of concerns) {
      assert.deepEqual(data, [{ kind: 'provider', id: 'up', problem: failed.last_error, until: null }]);
    }
    // The next request goes to another worker.
    harness.serve.upstream.respond(undefined);
    assert.equal((await harness.ask()).status, 200);
    const answered = await commonHealth('up/m', ({ state, in_flight }) => state === 'ok' && in_flight === 0);
    assert.equal(answered.last_error_at, failed.last_error_at);
    assert.ok((answered.first_byte_ms ?? 0) > 0);
  });

  it('each worker shows the number of running requests of all', async () => {
    harness.serve.upstream.respond((request, response) => {
      if (request.method !== 'POST') return void response.writeHead(404).end();
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: {"choices":[{"index":0,"delta":{"content":"x"}}]}\n\n');
    });
    const body = { model: 'up/m', stream: true, messages: [{ role: 'user', content: 'Hi' }] };
    const streams = await Promise.all(
      Array.from({ length: 2 * WORKERS }, () => harness.call('/v1/chat/completions', body)),
    );
    await commonHealth('up/m', ({ in_flight }) => in_flight === streams.length);
    const providers = await harness.answersOfAll<unknown>('/admin/v1/providers');
    for (const answer of providers) {
      const { data } = ENDPOINTS.listProviders.answer.parse(answer);
      assert.equal(data.find(({ id }) => id === 'up')?.health.in_flight, streams.length);
    }
    await Promise.all(streams.map((each) => each.body?.cancel()));
    await commonHealth('up/m', ({ in_flight }) => in_flight === 0);
  });

  it('a member of a pool that one worker pauses is shown as cooling by all, and as unavailable in /metrics', async () => {
    const answeredBy = new Set<number>();
    await until('all workers have used the member', async () => {
      const { id } = await harness.ask('team/p');
      await until('the request is in the log', () => harness.logged(id) !== undefined);
      answeredBy.add(harness.logged(id)?.pid ?? 0);
      return answeredBy.size === WORKERS;
    });
    const metric = async () => {
      const text = await (await harness.call('/metrics')).text();
      return /^svc_gateway_pool_member_available\{member="up\/n"\} (\d)$/m.exec(text)?.[1];
    };
    assert.equal(await metric(), '1');
    const failedFrom = Date.now();
    fail(429, { 'retry-after': '300' });
    await harness.ask('team/p');
    for (const model of ['team/p', 'up/n']) {
      let found: readonly Health[] = [];
      await until('all workers show the pause', async () => {
        found = await healthOf(model);
        return found.every(({ state }) => state === 'cooling');
      });
      for (const { last_error, last_error_at, cooling_until } of found) {
        assert.deepEqual([model, last_error], [model, 'rate_limit_exceeded']);
        assert.ok(Date.parse(last_error_at ?? '') >= failedFrom, String(last_error_at));
        const seconds = (Date.parse(cooling_until ?? '') - Date.now()) / 1000;
        assert.ok(seconds > 200 && seconds <= 301, String(seconds));
      }
    }
    assert.equal(await metric(), '0');
  });
});
