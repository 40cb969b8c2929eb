import { parseArgs } from 'node:util';
import { toUsd } from '../../base/money.ts';
import { type Io, UsageError } from '../io.ts';
import { withState } from '../open-state.ts';
import { OPTIONS } from '../options.ts';

/** `svc state check`: compares the sums of the gateway's state with the rows of its ledger. Exit code 1 if one differs. */
export async function run(args: string[], io: Io): Promise<number> {
  const { values, positionals } = parseArgs({ args, allowPositionals: true, options: OPTIONS.state });
  if (positionals.length !== 1 || positionals[0] !== 'check') throw new UsageError('Use svc state check.');
  const { rows, spent, differences } = await withState(io, (state) => state.check());
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
}
