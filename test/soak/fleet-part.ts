import { PARTS } from '../bench/fleet/parts.ts';
import { startPostgres } from '../gateway/postgres/postgres-server.ts';
import type { SoakPart, SoakRow } from './part.ts';

/** Rows about speed, which depends on what else the machine does. `npm run bench:fleet` measures them. */
const SPEED = ['cpu', 'steady', 'replicas'];

/** Gateways that share a state, with failures of each server, one after the other until the time is over. */
export const fleetPart: SoakPart = {
  name: 'fleet',
  run: async ({ seconds, scale, progress }) => {
    const parts = Object.entries(PARTS).filter(([name]) => !SPEED.includes(name));
    const options = { quick: true, cutOffSeconds: scale === 'long' ? Math.min(600, Math.max(20, seconds / 3)) : 20 };
    const until = performance.now() + seconds * 1_000;
    // The row of each figure that failed, or else the last one.
    const rows = new Map<string, SoakRow>();
    const server = await startPostgres();
    try {
      for (let round = 1; round === 1 || performance.now() < until; round += 1) {
        for (const [name, measure] of parts) {
          if (round > 1 && performance.now() > until) break;
          progress(`round ${round}, ${name}`);
          const figures = await measure({ server, ...options });
          for (const [index, figure] of figures.entries()) {
            const id = `${name} ${index}`;
            if (rows.get(id)?.holds !== false) rows.set(id, figure);
          }
        }
      }
    } finally {
      await server.close();
    }
    return [...rows.values()];
  },
};
