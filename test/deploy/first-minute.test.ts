import assert from 'node:assert/strict';
import { startFleet } from '../gateway/postgres/fleet-harness.ts';
import type { ServeProcess } from '../gateway/serve-harness.ts';
import { freePort } from '../host/free-port.ts';
import { HAPROXY } from '../host/programs.ts';
import { BALANCERS, type RunningBalancer, startBalancer, until200 } from './balancers.ts';

const LIMIT = 40;
const TOKENS = 4_000;

describe('a fleet behind a balancer in its first minute', () => {
  const fleet = startFleet();
  let balancer: RunningBalancer | undefined;
  let gateways: readonly ServeProcess[];

  const start = async () => {
    const ports = await Promise.all([1, 2, 3].map(freePort));
    gateways = await Promise.all(ports.map((port) => fleet.harness.serve(['--port', String(port)])));
    for (const { url } of gateways) await until200(`${url}/readyz`);
    const haproxy = BALANCERS.find(({ program }) => program === HAPROXY) ?? assert.fail();
    balancer = await startBalancer(haproxy, ports);
    return balancer.url;
  };
  afterEach(() => balancer?.close());

  for (const [name, options] of [
    ['requests', ['--rpm', String(LIMIT)]],
    ['tokens', ['--tpm', String(TOKENS)]],
  ] as const) {
    it(`a rate of ${name}: no request is refused before the limit is reached, and the message says which one it is`, async () => {
      const key = await fleet.createKey('k', ...options);
      const url = await start();
      const send = () => fleet.harness.send(url, { max_tokens: 1 }, key);
      let allowed = 0;
      let used = 0;
      let refused: Response | undefined;
      while (refused === undefined && allowed <= 1_000) {
        const response = await send();
        if (response.status === 429) refused = response;
        else {
          assert.equal(response.status, 200);
          const { usage } = (await response.json()) as { usage: Record<string, number> };
          used += usage.total_tokens ?? Number.NaN;
          allowed += 1;
        }
      }
      const { error } = (await refused?.json()) ?? {};
      if (name === 'requests') {
        assert.equal(allowed, LIMIT);
        assert.equal(error.message, `The key k may send ${LIMIT} requests per minute.`);
      } else {
        assert.ok(used <= TOKENS && used > TOKENS - 100, `${used}`);
        assert.equal(error.message, `The key k may send ${TOKENS} tokens per minute.`);
      }
    });
  }

  it('a hard budget: no request is refused before the budget is used up', async () => {
    const key = await fleet.createKey('k', '--budget', '0.001', '--mode', 'hard');
    const url = await start();
    const codes: number[] = [];
    while (codes.at(-1) !== 402 && codes.length <= 1_000) {
      const response = await fleet.harness.send(url, { max_tokens: 1 }, key);
      await response.arrayBuffer();
      codes.push(response.status);
    }
    assert.deepEqual([...new Set(codes)], [200, 402]);
  });
});
