import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { ServeHarness } from '../serve-harness.ts';
import { sharedPostgres } from '../shared-servers.ts';
import { until, untilEqual } from '../until.ts';

/** How often a part is in a text. */
const count = (whole: string, part: string) => whole.split(part).length - 1;

describe('alerts about budgets of several processes', () => {
  for (const state of ['SQLite', 'Postgres']) {
    it(`an alert that could not be delivered: is delivered once after a restart; state in ${state}`, async () => {
      const received: unknown[] = [];
      let refuses = true;
      const webhook = createServer(async (request, response) => {
        const body = JSON.parse(await text(request));
        if (!refuses) received.push(body.percent);
        response.writeHead(refuses ? 404 : 200).end();
      });
      await new Promise<void>((resolve) => void webhook.listen(0, '127.0.0.1', resolve));
      const { port } = webhook.address() as AddressInfo;
      const harness = await ServeHarness.start();
      const shared = state === 'Postgres' ? { state: await (await sharedPostgres()).database() } : {};
      // A request costs more than the budget.
      const models = { m: { cost: { input: 1_000, output: 2_000 } } };
      const budgets = [{ usd: 0.000_01, period: 'total' }];
      const alerts = { webhook: `http://127.0.0.1:${port}/` };
      const isRefused = async (url: string) => {
        const status = async () => (await harness.send(url)).status;
        // A busy server may answer after the gateway has started: until then, nothing is known of the budget.
        if (state === 'Postgres') await untilEqual('the budget is spent', status, 402);
        else assert.equal(await status(), 402);
      };
      const end = async ({ child }: Awaited<ReturnType<typeof harness.serve>>) => {
        const exit = once(child, 'exit');
        child.kill('SIGTERM');
        await exit;
      };
      try {
        await harness.configure(models, { ...shared, alerts, budgets });
        const first = await harness.serve();
        assert.equal((await harness.send(first.url)).status, 200);
        await until('all alerts have failed', () => count(first.written(), 'status 404') >= 3);
        await end(first);
        refuses = false;
        // Each of them knows that the budget is spent, and one reports it.
        const others = await Promise.all([harness.serve(), harness.serve()]);
        for (const { url } of others) await isRefused(url);
        await until('3 alerts at the webhook', () => received.length >= 3);
        for (const each of others) await end(each);
        const last = await harness.serve();
        await isRefused(last.url);
        await end(last);
        assert.deepEqual(received.sort(), [100, 50, 80]);
      } finally {
        await harness.close();
        webhook.close();
      }
    });
  }
});
