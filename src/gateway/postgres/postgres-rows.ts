import { writeDetails } from '../state/row-details.ts';
import { BUCKET_MS, ROW_SUMS, SUMS, type UsageRow } from '../state/usage-tables.ts';
import { type Row, type Sql, sqlState } from './postgres-connection.ts';
import { lock } from './postgres-tables.ts';

/** A row of the ledger as JSON, with the names of the columns. Postgres reads it. */
export function rowToJson(row: UsageRow): string {
  const { usage } = row;
  return JSON.stringify({
    request_id: row.requestId,
    attempt: row.attempt,
    at: row.at,
    key: storable(row.key),
    organization: storable(row.organization),
    user: storable(row.user),
    tags: row.tags === undefined ? '' : storable(JSON.stringify(row.tags)),
    endpoint: row.endpoint,
    model: storable(row.model),
    provider: storable(row.provider),
    byok: row.byok ? 1 : 0,
    outcome: row.outcome,
    input: integer(usage?.input),
    output: integer(usage?.output),
    cache_read: integer(usage?.cacheRead),
    cache_write: integer(usage?.cacheWrite),
    cache_write_1h: integer(usage?.cacheWrite1h),
    reasoning: integer(usage?.reasoning),
    cost_nano: integer(row.cost),
    estimated: row.estimated ? 1 : 0,
    wait_ms: Math.round(row.waitMs),
    first_byte_ms: Math.round(row.firstByteMs),
    duration_ms: Math.round(row.durationMs),
    counted: row.counted ? 1 : 0,
    status: integer(row.status),
    error_type: row.errorType ?? null,
    prices: row.prices ?? null,
    details: writeDetails(row) ?? null,
  });
}

/** Postgres stores no U+0000, in JSON neither, and no half of a pair. */
function storable(text: string): string {
  return text.isWellFormed() && !text.includes('\0') && !text.includes('\\u0000')
    ? text
    : text.toWellFormed().replaceAll('\0', '').replaceAll('\\u0000', '');
}

function integer(value: number | undefined): number | null {
  return Number.isSafeInteger(value) ? (value ?? null) : null;
}

const TEXTS = [
  'request_id',
  'key',
  'organization',
  '"user"',
  'tags',
  'endpoint',
  'model',
  'provider',
  'outcome',
  'error_type',
  'prices',
  'details',
];
const NUMBERS = [
  ...['attempt', 'at', 'byok', 'input', 'output', 'cache_read', 'cache_write', 'cache_write_1h', 'reasoning'],
  ...['cost_nano', 'estimated', 'wait_ms', 'first_byte_ms', 'duration_ms'],
  ...['counted', 'status'],
];
const COLUMNS = [...TEXTS, ...NUMBERS].join(', ');
const TYPES = [...TEXTS.map((name) => `${name} TEXT`), ...NUMBERS.map((name) => `${name} BIGINT`)].join(', ');

const GROUP = 'key, organization, "user", model';
const DIMENSIONS = `bucket, ${GROUP}, provider, byok, outcome`;
const ADD = SUMS.map((name) => `${name} = r.${name} + excluded.${name}`).join(', ');

/** Whether a row counts for a window of a budget. The user is that of the key. */
export const COUNTS = `w.key IN ('', row.key) AND w.organization IN ('', row.organization)
  AND w."user" IN ('', coalesce((SELECT k."user" FROM keys k WHERE k.name = row.key), ''))
  AND row.model LIKE w.model AND row.at >= w.start_at AND row.at < coalesce(w.end_at, ${Number.MAX_SAFE_INTEGER})`;

/**
 * Inserts rows that are not there yet, and adds these to all sums, in one statement. The order of the sums is always
 * the same, so that two replicas can't lock them in different orders.
 */
const WRITE = `WITH inserted AS (
    INSERT INTO usage (${COLUMNS}) SELECT ${COLUMNS} FROM json_to_recordset($1::json) AS r (${TYPES})
    ON CONFLICT (at, request_id, attempt) DO NOTHING RETURNING *),
  rolled AS (
    INSERT INTO usage_rollup AS r (${DIMENSIONS}, ${SUMS.join(', ')})
    SELECT at - at % ${BUCKET_MS} AS bucket, ${GROUP}, provider, byok, outcome,
      ${SUMS.map((name) => `coalesce(sum(${ROW_SUMS.get(name)}), 0)`).join(', ')}
    FROM inserted GROUP BY ${DIMENSIONS} ORDER BY ${DIMENSIONS}
    ON CONFLICT (${DIMENSIONS}) DO UPDATE SET ${ADD}),
  unsealed AS (
    DELETE FROM usage_sealed s USING (SELECT DISTINCT at - at % 3600000 AS hour FROM inserted) AS late
    WHERE s.length = 3600000 AND s.start = late.hour
      OR s.length = 86400000 AND s.start = late.hour - late.hour % 86400000),
  paid AS (SELECT * FROM inserted WHERE byok = 0 AND cost_nano <> 0),
  spends AS (
    INSERT INTO spent AS s (${GROUP}, nano) SELECT key, organization, '', model, sum(cost_nano) FROM paid
    GROUP BY key, organization, model ORDER BY key, organization, model
    ON CONFLICT (${GROUP}) DO UPDATE SET nano = s.nano + excluded.nano),
  counted AS (
    SELECT w.id, sum(row.cost_nano) AS nano FROM paid row JOIN budget_windows w ON ${COUNTS} GROUP BY w.id),
  windows AS (
    UPDATE budget_windows w SET spent_nano = w.spent_nano + c.nano FROM counted c WHERE w.id = c.id)
  INSERT INTO leases AS l (budget_window, replica, granted_nano, settled_nano)
    SELECT id, $2, 0, nano FROM counted
    ON CONFLICT (budget_window, replica) DO UPDATE SET settled_nano = l.settled_nano + excluded.settled_nano`;

/**
 * Writes rows of a replica. Each row counts once, by its id, so rows may be sent again. Must run in a transaction.
 *
 * @param rows results of `rowToJson`.
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
