import assert from 'node:assert/strict';
import { once } from 'node:events';
import { KEY, ServeHarness } from './serve-harness.ts';
import { until } from './until.ts';

describe('end of requests of svc serve', () => {
  let harness: ServeHarness;
  beforeEach(async () => {
    harness = await ServeHarness.start();
  });
  afterEach(() => harness.close());

  const create = async (name: string) =>
    (await harness.svc('keys', 'create', '--name', name)).stdout.trim().split('\n').at(-1) ?? '';
  const stall = '[[scenario:stall-mid-stream]]';

  it('svc keys revoke --cut: ends the running streams of the key, and only those', async () => {
    const [ann, bob] = [await create('ann'), await create('bob')];
    const { url, logged } = await harness.serve();
    const [cut, kept] = [
      await harness.send(url, { stream: true }, ann, stall),
      await harness.send(url, { stream: true }, bob, stall),
    ];
    const [first, second] = [cut.body?.getReader(), kept.body?.getReader()];
    await Promise.all([first?.read(), second?.read()]);
    const { stdout } = await harness.svc('keys', 'revoke', 'ann', '--cut');
    assert.match(stdout, /ends its running requests/);
    await assert.rejects(async () => {
      while (!(await first?.read())?.done);
    });
    await logged('requests of a revoked key were cut off');
    // The stream of the other key is still open: it can be cancelled without an error.
    await second?.cancel();
    await until('the cut stream is in the ledger', async () => {
      const { rows } = JSON.parse((await harness.svc('usage', '--by', 'key', '--json')).stdout);
      return rows.some(({ key, requests }: Record<string, unknown>) => key === 'ann' && Number(requests) > 0);
    });
    assert.equal((await harness.send(url, {}, ann)).status, 401);
  });

  it('svc keys revoke: without --cut, a running stream goes on', async () => {
    const ann = await create('ann');
    const { url } = await harness.serve();
    const running = await harness.send(url, { stream: true }, ann, stall);
    const reader = running.body?.getReader();
    await reader?.read();
    await harness.svc('keys', 'revoke', 'ann');
    await until('the gateway refuses the revoked key', async () => {
      const answer = await harness.send(url, {}, ann);
      await answer.text();
      return answer.status === 401;
    });
    await reader?.cancel();
  });

  it('SIGUSR2 without workers: is ignored with a line in the log', async () => {
    const { url, child, logged } = await harness.serve();
    child.kill('SIGUSR2');
    await logged('SIGUSR2 was ignored');
    const answer = await harness.send(url, {}, KEY);
    assert.equal(answer.status, 200);
  });

  it('svc serve --drain-delay: after SIGTERM it is not ready and accepts requests, and a second signal ends the delay', async () => {
    const { url, child, logged } = await harness.serve(['--drain-delay', '3600']);
    child.kill('SIGTERM');
    await logged('not ready: accepting requests');
    assert.equal((await fetch(`${url}/readyz`)).status, 503);
    const answer = await harness.send(url, {}, KEY);
    assert.deepEqual([answer.status, answer.headers.get('connection')], [200, 'close']);
    await answer.text();
    child.kill('SIGTERM');
    assert.deepEqual(await once(child, 'exit'), [0, null]);
  });
});
