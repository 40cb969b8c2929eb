import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { WORKERS, WorkersHarness } from './workers-harness.ts';

interface Listed {
  readonly id: string;
  readonly self: boolean;
  readonly pid: number;
  readonly active_requests: number;
}

describe('the admin API of svc serve --workers', () => {
  let harness: WorkersHarness;

  beforeEach(async () => {
    harness = await WorkersHarness.start();
  });
  afterEach(() => harness.close());

  const list = async (): Promise<readonly Listed[]> => (await (await harness.call('/admin/v1/replicas')).json()).data;

  it('each worker lists all workers, itself first, with their running requests', async () => {
    harness.serve.upstream.respond((request, response) => {
      if (request.method !== 'POST') return void response.writeHead(404).end();
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: {"choices":[{"index":0,"delta":{"content":"x"}}]}\n\n');
    });
    const body = { model: 'up/m', stream: true, messages: [{ role: 'user', content: 'Hi' }] };
    const streams = await Promise.all(Array.from({ length: 6 }, () => harness.call('/v1/chat/completions', body)));
    const answeredBy = new Set<number>();
    for (let start = performance.now(); answeredBy.size < WORKERS && performance.now() - start < 20_000; ) {
      const replicas = await list();
      assert.equal(new Set(replicas.map(({ pid }) => pid)).size, WORKERS);
      assert.equal(new Set(replicas.map(({ id }) => id)).size, WORKERS);
      assert.deepEqual(
        replicas.map(({ self }) => self),
        [true, false, false],
      );
      const running = replicas.map(({ active_requests }) => active_requests);
      assert.ok(
        running.every((count) => count > 0),
        `running requests of the workers: ${running}`,
      );
      answeredBy.add(replicas[0]?.pid ?? 0);
    }
    assert.equal(answeredBy.size, WORKERS);
    await Promise.all(streams.map((each) => each.body?.cancel()));
  });

  it('failed sign-ins are limited by all workers together', async () => {
    const codes: number[] = [];
    for (let attempt = 0; attempt < 10; attempt += 1) {
      codes.push((await harness.call('/admin/v1/session', { key: `wrong${attempt}` })).status);
    }
    assert.deepEqual([...new Set(codes)], [401]);
    // Each worker has heard of the last one within a moment.
    for (let allowed = WORKERS; allowed > 0; await sleep(10)) {
      const answers = await Promise.all(
        Array.from({ length: WORKERS }, () => harness.call('/admin/v1/session', { key: harness.key })),
      );
      allowed = answers.filter(({ status }) => status !== 429).length;
    }
  });
});
