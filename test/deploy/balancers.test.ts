import assert from 'node:assert/strict';
import { once } from 'node:events';
import { KEY, ServeHarness, type ServeProcess } from '../gateway/serve-harness.ts';
import { until } from '../gateway/until.ts';
import { freePort } from '../host/free-port.ts';
import { BALANCERS, type Balancer, type RunningBalancer, startBalancer, until200 } from './balancers.ts';
import { Load, slowly } from './stream-load.ts';

const CLIENTS = 20;

describe('the balancers of deploy/', () => {
  let harness: ServeHarness;
  let ports: readonly number[];
  let gateways: ServeProcess[];
  const running = new Map<Balancer, RunningBalancer>();

  const serve = (port: number) => harness.serve(['--port', String(port), '--drain-delay', '3', '--drain', '20']);

  before(async () => {
    harness = await ServeHarness.start();
    await harness.configure({ m: { cost: { input: 1, output: 2 } } }, { admin: true });
    harness.upstream.respond(slowly);
    ports = await Promise.all([1, 2, 3].map(freePort));
    gateways = await Promise.all(ports.map(serve));
    // A balancer would notice a second later that they are ready.
    for (const gateway of gateways) await until200(`${gateway.url}/readyz`);
    for (const balancer of BALANCERS) running.set(balancer, await startBalancer(balancer, ports));
  });
  after(async () => {
    await Promise.all([...running.values()].map((balancer) => balancer.close()));
    await harness?.close();
  });

  for (const balancer of BALANCERS) {
    it(`${balancer.program.name}: spreads requests over three gateways, and does not expose the metrics`, async () => {
      const url = running.get(balancer)?.url ?? '';
      const before = await Promise.all(gateways.map(answered));
      const codes = await Promise.all(Array.from({ length: 60 }, () => status(harness.send(url))));
      assert.deepEqual([...new Set(codes)], [200]);
      const counts = await Promise.all(gateways.map(answered));
      const own = counts.map((count, index) => count - (before[index] ?? 0));
      assert.ok(Math.min(...own) >= 10, `${own}`);
      assert.equal(await status(fetch(`${url}/metrics`)), 401);
    });
  }

  for (const balancer of BALANCERS) {
    it(`${balancer.program.name}: a session of the admin page is valid at all three gateways`, async () => {
      const { url } = running.get(balancer) ?? assert.fail();
      const admin = (path: string, init: RequestInit = {}) =>
        fetch(`${url}/admin/v1${path}`, { ...init, headers: { origin: url, ...init.headers } });
      const signedIn = await admin('/session', { method: 'POST', body: JSON.stringify({ key: KEY }) });
      assert.equal(signedIn.status, 200, await signedIn.clone().text());
      const { secret } = await signedIn.json();
      const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
      const headers = { cookie, 'x-session-secret': secret };
      const answers = await Promise.all(Array.from({ length: 30 }, () => admin('/session', { headers })));
      assert.deepEqual([...new Set(answers.map(({ status: code }) => code))], [200]);
      await Promise.all(answers.map((each) => each.arrayBuffer()));
    });
  }

  it('a rolling restart of three gateways: cuts no stream and fails no request behind balancers with health checks', async () => {
    const checking = BALANCERS.filter(({ checks }) => checks);
    const loads = checking.map((balancer) => new Load(harness, running.get(balancer)?.url ?? '', CLIENTS));
    for (const [index, gateway] of gateways.entries()) {
      const ended = once(gateway.child, 'exit');
      gateway.child.kill('SIGTERM');
      await ended;
      const next = await serve(ports[index] ?? 0);
      gateways[index] = next;
      // All balancers have noticed that it is back.
      await until('all balancers send requests to it again', async () => {
        const count = await answered(next);
        return count >= 2 * CLIENTS || `${count} of ${2 * CLIENTS} requests`;
      });
    }
    const failed = await Promise.all(loads.map((load) => load.end()));
    assert.deepEqual(failed.flat(), []);
    for (const { streams } of loads) assert.ok(streams > CLIENTS);
  });
});

async function status(answer: Promise<Response>): Promise<number> {
  const response = await answer;
  await response.arrayBuffer();
  return response.status;
}

/** Requests that a gateway has answered. */
async function answered({ url }: ServeProcess): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const counts = text.matchAll(/^svc_gateway_requests_total\{route="\/chat\/completions".* (\d+)$/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}
