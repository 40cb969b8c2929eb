import { LIMIT, loadsOf, mostInAMinute, RedisFleet, runRestarted, runUntilUsed } from '../gateway/redis/redis-fleet.ts';
import { startRedis } from '../gateway/redis/redis-server.ts';
import { atLeast, atMost, type SoakPart } from './part.ts';

/** The window of the product. The tests of `npm test` use a shorter one. */
const MINUTE_MS = 60_000;

/** Rates of several gateways in Redis over real minutes: undisturbed, and with a Redis that loses its data. */
export const ratesPart: SoakPart = {
  name: 'rates',
  run: async ({ progress }) => {
    const limits = Object.fromEntries(Object.keys(loadsOf(MINUTE_MS)).map((name) => [name, { requests: LIMIT }]));
    const measure = async (restarts: boolean) => {
      const what = restarts ? 'Redis restarted without its data' : 'Redis undisturbed';
      progress(what);
      const server = await startRedis();
      try {
        const fleet = await RedisFleet.start(server.url, limits);
        try {
          const run = restarts
            ? runRestarted(fleet, server, MINUTE_MS)
            : runUntilUsed(fleet, MINUTE_MS, 1.9, 2 * MINUTE_MS);
          const all = Object.entries(await run);
          return all.flatMap(([load, times]) => [
            atMost(`${what}, ${load} load: most requests in a minute`, mostInAMinute(times, MINUTE_MS), LIMIT),
            atLeast(`${what}, ${load} load: requests`, times.length, LIMIT * (restarts ? 1.3 : 1.9)),
          ]);
        } finally {
          await fleet.close();
        }
      } finally {
        await server.close();
      }
    };
    return [...(await measure(false)), ...(await measure(true))];
  },
};
