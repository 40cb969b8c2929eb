import { startProxy } from '../../gateway/postgres/postgres-proxy.ts';
import {
  ACTOR,
  atMost,
  createKey,
  type Figure,
  type Fleet,
  type FleetOptions,
  percentile,
  status,
  until,
  withFleet,
} from './fleet.ts';

/** Milliseconds from the end of `revoke` until every replica refuses the key. */
export function revocationFigure({ server, quick }: FleetOptions): Promise<readonly Figure[]> {
  return withFleet(server, 3, async (fleet) => {
    const times: number[] = [];
    for (let round = 0; round < (quick ? 10 : 50); round += 1) {
      const key = await createKey(fleet);
      const [{ name } = { name: '' }] = (await fleet.admin.listKeys()).slice(-1);
      await fleet.admin.revokeKey(ACTOR, name);
      const refused = fleet.replicas.map((each) => until(async () => (await status(fleet, each, key)) === 401));
      times.push(Math.max(...(await Promise.all(refused))));
    }
    return [
      {
        what: 'key revoked on one, refused on all three, p50 and p99',
        measured: `${percentile(times, 0.5).toFixed(0)} ms, ${percentile(times, 0.99).toFixed(0)} ms`,
        wanted: 'p99 at most 300 ms',
        holds: percentile(times, 0.99) <= 300,
      },
    ];
  });
}

/** The same while the connections for notifications are dead without an error. */
export async function silentListener({ server, quick }: FleetOptions): Promise<readonly Figure[]> {
  const url = await server.database();
  const proxy = await startProxy(url);
  const measure = async (fleet: Fleet) => {
    const times: number[] = [];
    for (let round = 0; round < (quick ? 5 : 30); round += 1) {
      const key = await createKey(fleet);
      const [{ name } = { name: '' }] = (await fleet.admin.listKeys()).slice(-1);
      const [replica] = fleet.replicas;
      if (replica === undefined) throw new Error('no gateway');
      await until(async () => proxy.silence('LISTEN') > 0);
      await fleet.admin.revokeKey(ACTOR, name);
      times.push(await until(async () => (await status(fleet, replica, key)) === 401));
    }
    const milliseconds = (value: number) => `${value.toFixed(0)} ms`;
    return [
      atMost(
        `key revoked, refused without notifications, longest of ${times.length}`,
        Math.max(...times),
        1_200,
        milliseconds,
      ),
    ];
  };
  try {
    return await withFleet(server, 1, measure, { url, state: proxy.url });
  } finally {
    await proxy.close();
  }
}
