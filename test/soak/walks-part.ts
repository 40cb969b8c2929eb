import { runWalks, VendorWalks } from '../gateway/vendor-walks.ts';
import type { SoakPart } from './part.ts';

/** Conversations of a long run, whatever its minutes are. `npm test` walks 500. */
const WALKS = { short: 500, long: 20_000 } as const;
/** Walks between two reports of progress. */
const BATCH = 1_000;

/** Conversations whose model changes at random between strict vendors. Each bill is compared with the ledger. */
export const walksPart: SoakPart = {
  name: 'walks',
  run: async ({ seed, scale, progress }) => {
    const walks = await VendorWalks.start();
    try {
      let done = 0;
      let failure = '';
      while (done < WALKS[scale] && failure === '') {
        const runs = Math.min(BATCH, WALKS[scale] - done);
        await runWalks(walks, runs, seed + done).catch((thrown: Error) => {
          failure = thrown.message.slice(0, 4_000);
        });
        done += runs;
        progress(`${done} walks`);
      }
      const measured = failure === '' ? `${done} without a refusal or a wrong bill` : failure;
      return [{ what: 'walks between vendors', measured, wanted: String(WALKS[scale]), holds: failure === '' }];
    } finally {
      await walks.close();
    }
  },
};
