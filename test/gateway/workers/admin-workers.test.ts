import assert from 'node:assert/strict';
import { until } from '../until.ts';
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
    const streams: Response[] = [];
    // One after the other: of connections at the same time, a busy worker gets none.
    for (let sent = 0; sent < 2 * WORKERS; sent += 1) streams.push(await harness.call('/v1/chat/completions', body));
    const answeredBy = new Set<number>();
    await until('each worker has answered', async () => {
      const replicas = await list();
      assert.equal(new Set(replicas.map(({ pid }) => pid)).size, WORKERS);
      assert.equal(new Set(replicas.map(({ id }) => id)).size, WORKERS);
      assert.deepEqual(
        replicas.map(({ self }) => self),
        [true, false, false],
      );
      const running = replicas.map(({ active_requests }) => active_requests);
      // A worker tells it with its next heartbeat.
      if (running.some((count) => count === 0)) return `running requests of the workers: ${running}`;
      answeredBy.add(replicas[0]?.pid ?? 0);
      return answeredBy.size === WORKERS || `answered: ${[...answeredBy]}`;
    });
    await Promise.all(streams.map((each) => each.body?.cancel()));
  });

  it('failed sign-ins are limited by all workers together', async () => {
    const codes: number[] = [];
    for (let attempt = 0; attempt < 10; attempt += 1) {
      codes.push((await harness.call('/admin/v1/session', { key: `wrong${attempt}` })).status);
    }
    assert.deepEqual([...new Set(codes)], [401]);
    // Each worker has heard of the last one within a moment.
    await until('all workers refuse', async () => {
      const answers = await Promise.all(
        Array.from({ length: WORKERS }, () => harness.call('/admin/v1/session', { key: 'wrong' })),
      );
      return answers.every(({ status }) => status === 429) || `${answers.map(({ status }) => status)}`;
    });
    assert.equal((await harness.call('/admin/v1/session', { key: harness.key })).status, 200, 'a valid key');
  });
});
