import { setTimeout as sleep } from 'node:timers/promises';
import { query } from '../../gateway/postgres/postgres-server.ts';
import { createKey, type Figure, type Fleet, type FleetOptions, status, until, withFleet } from './fleet.ts';

const LIMIT = 600;
const MINUTE = 60_000;
/** Requests that are sent in a minute. */
const SENT = 780;

/** Which of three gateways gets a request, by its number and its time in milliseconds. */
const LOADS: Readonly<Record<string, (request: number, at: number) => number>> = {
  even: (request) => request % 3,
  lopsided: () => 0,
  alternating: (_, at) => Math.floor(at / 1_000) % 3,
};

/** A rate of 600 requests a minute over three gateways. */
export function sharedRates({ server, quick }: FleetOptions): Promise<readonly Figure[]> {
  return withFleet(server, 3, async (fleet) => measureLoads(fleet, quick ? 75 : 150));
}

async function measureLoads(fleet: Fleet, seconds: number): Promise<readonly Figure[]> {
  return Promise.all(
    Object.entries(LOADS).map(async ([name, of]) => {
      const key = await createKey(fleet, undefined, [{ requests: LIMIT, model: '*' }], name);
      const allowed = await send(fleet, key, of, seconds);
      const [fewest, most] = perMinute(await answered(fleet, name, allowed));
      return {
        what: `${LIMIT} of ${SENT} requests a minute over three gateways, ${name} load: fewest and most in any minute`,
        measured: `${fewest}, ${most}`,
        wanted: `${LIMIT * 0.95} to ${LIMIT}`,
        holds: fewest >= LIMIT * 0.95 && most <= LIMIT,
      };
    }),
  );
}

/** Sends more requests than are allowed. @returns how many were allowed. */
async function send(
  fleet: Fleet,
  key: string,
  of: (request: number, at: number) => number,
  seconds: number,
): Promise<number> {
  const begin = performance.now();
  const sent: Promise<number>[] = [];
  for (let at = 0; at < seconds * 1_000; at = performance.now() - begin) {
    // What was missed is sent late, so that the load does not depend on the machine.
    while (sent.length < (at * SENT) / MINUTE) {
      const replica = fleet.replicas[of(sent.length, at)];
      if (replica !== undefined) sent.push(status(fleet, replica, key));
    }
    await sleep(10);
  }
  return (await Promise.all(sent)).filter((code) => code === 200).length;
}

/** When the gateways received the requests that they answered, in order. */
async function answered({ url }: Fleet, key: string, count: number): Promise<readonly number[]> {
  const read = () =>
    query(url, `SELECT at - duration_ms AS at FROM svc.usage WHERE attempt > 0 AND key = '${key}' ORDER BY 1`);
  await until(async () => (await read()).length === count);
  return (await read()).map(({ at }) => Number(at));
}

/** The fewest and the most of any 60 seconds. */
function perMinute(times: readonly number[]): readonly [number, number] {
  const [first = 0, last = 0] = [times[0], times.at(-1)];
  const within = (from: number) => times.filter((at) => at >= from && at < from + MINUTE).length;
  // A minute that begins right after a request has the fewest.
  const starts = times.filter((at) => at < last - MINUTE).map((at) => at + 1);
  return [Math.min(...[first, ...starts].map(within)), Math.max(...times.map(within))];
}
