import { parseArgs } from 'node:util';
import { toUsd } from '../../base/money.ts';
import { checkState } from '../../gateway/accounting/state-check.ts';
import { openState, stateFile } from '../../gateway/state/state-database.ts';
import { transaction } from '../../gateway/state/transaction.ts';
import { type Io, UsageError } from '../io.ts';
import { OPTIONS } from '../options.ts';

/** `svc state check`: compares the sums of the gateway's state with the rows of its ledger. Exit code 1 if one differs. */
export async function run(args: string[], io: Io): Promise<number> {
  const { values, positionals } = parseArgs({ args, allowPositionals: true, options: OPTIONS.state });
  if (positionals.length !== 1 || positionals[0] !== 'check') throw new UsageError('Use svc state check.');
  const database = await openState(stateFile(io));
  try {
    // A running gateway may write between two reads.
    const { rows, spent, differences } = transaction(database, () => checkState(database));
    if (values.json) {
      const found = differences.map(({ what, stored, rows: counted }) => ({
        what,
        stored_nano: stored,
        rows_nano: counted,
      }));
      await io.out(`${JSON.stringify({ rows, spent: toUsd(spent), differences: found }, null, 2)}\n`);
    } else if (differences.length === 0) {
      await io.out(`The state is consistent: ${rows} rows, ${toUsd(spent)} USD spent, equal to the sum of the rows.\n`);
    } else {
      const lines = differences.map(
        ({ what, stored, rows: counted }) =>
          `${what}: ${toUsd(stored)} USD is stored, the rows sum up to ${toUsd(counted)} USD\n`,
      );
      await io.out(lines.join(''));
    }
    return differences.length === 0 ? 0 : 1;
  } finally {
    database.close();
  }
}
