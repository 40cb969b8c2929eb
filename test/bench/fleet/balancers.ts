import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { BALANCERS, type Balancer, type RunningBalancer, startBalancer, until200 } from '../../deploy/balancers.ts';
import { Load, slowly } from '../../deploy/stream-load.ts';
import { ServeHarness } from '../../gateway/serve-harness.ts';
import { freePort } from '../../host/free-port.ts';
import { drive } from '../gateway/load.ts';
import { requestOf } from './cpu.ts';
import { type Figure, type FleetOptions, percentile, withFleet } from './fleet.ts';

const CONNECTIONS = 32;
const STREAMS = 200;

/** Three gateways compared with one, each behind the same balancer, in alternation. */
export function threeReplicas({ server, quick }: FleetOptions): Promise<readonly Figure[]> {
  return withFleet(server, 3, async ({ replicas }) => {
    const [balancer] = BALANCERS;
    if (balancer === undefined) throw new Error('no balancer');
    const ports = replicas.map(({ url }) => Number(new URL(url).port));
    const one = await startBalancer(
      balancer,
      ports.map(() => ports[0] ?? 0),
    );
    const three = await startBalancer(balancer, ports);
    try {
      const rate = async ({ url }: RunningBalancer, seconds = 3) =>
        (await drive(url, requestOf(url), CONNECTIONS, seconds)).perSecond;
      for (const each of [three, one]) await rate(each, 5);
      const ratios: number[] = [];
      const rates: number[] = [];
      for (let round = 0; round < (quick ? 3 : 9); round += 1) {
        const first = round % 2 === 0 ? await rate(one) : undefined;
        const all = await rate(three);
        const single = first ?? (await rate(one));
        ratios.push(all / single);
        rates.push(single);
      }
      const ratio = percentile(ratios, 0.5);
      return [
        {
          what: `requests/s of three gateways behind ${balancer.program.name}, of one behind it (${percentile(rates, 0.5).toFixed(0)})`,
          measured: `${ratio.toFixed(2)} ×`,
          wanted: 'at least 0.9 × on 2 cores',
          holds: ratio >= 0.9,
        },
      ];
    } finally {
      await one.close();
      await three.close();
    }
  });
}

/** Three gateways are restarted one after the other while streams are open behind a balancer. */
export async function rollingRestart({ server, quick }: FleetOptions): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const balancer of BALANCERS) figures.push(await restartBehind(balancer, await server.database(), quick));
  return figures;
}

async function restartBehind(balancer: Balancer, state: string, quick: boolean): Promise<Figure> {
  const harness = await ServeHarness.start();
  const streams = quick ? 40 : STREAMS;
  let running: RunningBalancer | undefined;
  try {
    harness.upstream.respond(async (request, response) => {
      harness.upstream.forget();
      await slowly(request, response);
    });
    await harness.configure({ m: { cost: { input: 1, output: 2 } } }, { state });
    const serve = (port: number) =>
      harness.serve(['--port', String(port), '--drain-delay', '5', '--drain', '60', '--log-level', 'error']);
    const ports = await Promise.all([1, 2, 3].map(freePort));
    const gateways = await Promise.all(ports.map(serve));
    for (const { url } of gateways) await until200(`${url}/readyz`);
    running = await startBalancer(balancer, ports);
    // A reload of nginx closes the connections that clients keep.
    const load = new Load(harness, running.url, streams, { again: !balancer.checks });
    await load.ended(streams);
    for (const [index, { child }] of gateways.entries()) {
      const port = ports[index] ?? 0;
      // nginx does not ask whether a gateway is ready: docs/gateway.md says how to tell it.
      if (!balancer.checks) running.reload((text) => text.replace(`:${port} `, `:${port} down `));
      const ended = once(child, 'exit');
      if (!balancer.checks) await sleep(1_000);
      child.kill('SIGTERM');
      await ended;
      const { url } = await serve(port);
      await until200(`${url}/readyz`);
      if (!balancer.checks) running.reload((text) => text);
      await load.ended(load.streams + streams);
    }
    const failed = await load.end();
    return {
      what: `rolling restart of three gateways behind ${balancer.program.name}, ${streams} clients with streams: streams that ended; cut or failed`,
      measured: [
        `${load.streams}; ${failed.length}${failed.length > 0 ? ` (${failed[0]?.slice(0, 80)})` : ''}`,
        ...(load.again > 0 ? [`${load.again} sent again`] : []),
      ].join('; '),
      wanted: 'all; 0',
      holds: failed.length === 0,
    };
  } finally {
    await running?.close();
    await harness.close();
  }
}
