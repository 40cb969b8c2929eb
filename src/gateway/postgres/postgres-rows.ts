import { countsFor } from '../limits/lease-steps.ts';
import { LEDGER_COLUMNS } from '../state/ledger-columns.ts';
import { unseal } from '../state/sealed-sums.ts';
import type { Row } from '../state/steps.ts';
import { addSpent, rollUp } from '../state/usage-tables.ts';
import { type Sql, sqlState } from './postgres-connection.ts';
import { POSTGRES_LEASES } from './postgres-leases.ts';
import { lock } from './postgres-tables.ts';

const COLUMNS = LEDGER_COLUMNS.map(({ name }) => name).join(', ');
/** As 64-bit integers, so that one that is too large for its column is refused by itself. */
const TYPES = LEDGER_COLUMNS.map(({ name, type }) => `${name} ${type === 'TEXT' ? type : 'BIGINT'}`).join(', ');

/** Whether a row counts for a window of a budget. */
const COUNTS = `${countsFor(POSTGRES_LEASES)}
  AND s.at >= w.start_at AND s.at < coalesce(w.end_at, ${Number.MAX_SAFE_INTEGER})`;

/** Inserts rows that are not there yet, and adds these to all sums, in one statement. */
const WRITE = `WITH inserted AS (
    INSERT INTO usage (${COLUMNS}) SELECT ${COLUMNS} FROM json_to_recordset($1::json) AS r (${TYPES})
    ON CONFLICT (at, request_id, attempt) DO NOTHING RETURNING *),
  rolled AS (${rollUp('inserted')}),
  unsealed AS (${unseal('SELECT at FROM inserted')}),
  spends AS (${addSpent('inserted')}),
  paid AS (SELECT * FROM inserted WHERE byok = 0 AND cost_nano <> 0),
  counted AS (
    SELECT w.id, sum(s.cost_nano) AS nano FROM paid s JOIN budget_windows w ON ${COUNTS} GROUP BY w.id),
  windows AS (
    UPDATE budget_windows w SET spent_nano = w.spent_nano + c.nano FROM counted c WHERE w.id = c.id)
  INSERT INTO leases AS l (budget_window, replica, granted_nano, settled_nano)
    SELECT id, $2, 0, nano FROM counted
    ON CONFLICT (budget_window, replica) DO UPDATE SET settled_nano = l.settled_nano + excluded.settled_nano`;

/**
 * Writes rows of a replica. Each row counts once, by its id, so rows may be sent again. Must run in a transaction.
 *
 * @param rows results of `rowToJson` (ledger-columns.ts).
 */
export async function writeRows(sql: Sql, rows: readonly string[], replica: string): Promise<readonly Row[]> {
  // Sums, windows and leases change together, and no grant happens meanwhile.
  await lock(sql, 'money');
  return sql(WRITE, [`[${rows.join(',')}]`, replica]);
}

/** Whether a row, and not the server, is the reason of a failure: data (22) or constraints (23). */
export function isRowFault(thrown: unknown): boolean {
  return /^2[23]/.test(sqlState(thrown) ?? '');
}
