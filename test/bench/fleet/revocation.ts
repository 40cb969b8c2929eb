import type { PostgresServer } from '../../gateway/postgres/postgres-server.ts';
import { ACTOR, createKey, type Figure, percentile, status, until, withFleet } from './fleet.ts';

/** Milliseconds from the end of `revoke` until every replica refuses the key. */
export function revocationFigure(server: PostgresServer, quick: boolean): Promise<readonly Figure[]> {
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
      },
    ];
  });
}
