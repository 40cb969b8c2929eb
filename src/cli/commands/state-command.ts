import { parseArgs } from 'node:util';
import { toUsd } from '../../base/money.ts';
import { withConfig } from '../cli-context.ts';
import { type Io, UsageError } from '../io.ts';
import { copyState, withState } from '../open-state.ts';
import { OPTIONS } from '../options.ts';

/**
 * `svc state check`: compares the sums of the gateway's state with the rows of its ledger. Exit code 1 if one differs.
 * `svc state copy`: copies the state between SQLite and Postgres.
 */
export async function run(args: string[], outer: Io): Promise<number> {
  const { values, positionals } = parseArgs({ args, allowPositionals: true, options: OPTIONS.state });
  const io = withConfig(outer, values.config);
  const [action, from, to] = positionals;
  if (action === 'copy' && from !== undefined && to !== undefined && positionals.length === 3) {
    await copyState(io, from, to);
    await io.out(`The state was copied from ${describe(from)} to ${describe(to)}.\n`);
    return 0;
  }
  if (positionals.length !== 1 || action !== 'check') {
    throw new UsageError('Use svc state check, or svc state copy FROM TO with sqlite and postgres.');
  }
  return check(io, values.json === true);
}

/** An address may contain a password. */
function describe(name: string): string {
  return name.startsWith('postgres') ? 'Postgres' : name === 'sqlite' ? 'SQLite' : name;
}

async function check(io: Io, json: boolean): Promise<number> {
  const { rows, spent, differences } = await withState(io, (state) => state.check());
  if (json) {
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
