/**
 * The time of the admin API's reports about 10 million requests in 30 days: `npm run bench:admin`.
 * Fills the sums of a state directly, and a day of rows. Writes the table of docs/performance.md between its markers.
 * `--sqlite` or `--postgres` measures one state only, and writes no table.
 */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import { TimeZone } from '../../src/base/time-zone.ts';
import { copyToPostgres } from '../../src/gateway/postgres/copy-state.ts';
import { connectPostgres, openPostgres } from '../../src/gateway/postgres/open-postgres.ts';
import { sealNextInPostgres } from '../../src/gateway/postgres/postgres-retention.ts';
import type { UsageQuery } from '../../src/gateway/reports/usage-query.ts';
import type { UsageRow } from '../../src/gateway/state/ledger-columns.ts';
import { sealNext } from '../../src/gateway/state/sealing.ts';
import { openState } from '../../src/gateway/state/state-database.ts';
import { runSteps, SQLITE } from '../../src/gateway/state/steps.ts';
import { BUCKET_MS } from '../../src/gateway/state/usage-sums.ts';
import { UsageTables } from '../../src/gateway/state/usage-tables.ts';
import { type StateAdmin, sqliteAdmin } from '../../src/gateway/state-admin.ts';
import { startPostgres } from '../gateway/postgres/postgres-server.ts';

const DAYS = 30;
const DAY_MS = 86_400_000;
const REQUESTS = 10_000_000;
/** Keys of a team, and how many of them send requests in a quarter of an hour of the day and of the night. */
const KEYS = 200;
const ACTIVE = { day: 100, night: 20 };
const MODELS = ['mistral/large', 'anthropic/sonnet', 'openai/mini', 'mistral/codestral'];
const WANTED_MS = 200;
const ROUNDS = 5;

/** In the afternoon, as reports are read: the last day is not over. */
const START = Date.UTC(2026, 9, 1, 15);
const END = START + DAYS * DAY_MS;

/** The same numbers in each run. */
let seed = 1;
function random(): number {
  seed = (seed * 48_271) % 2_147_483_647;
  return seed / 2_147_483_647;
}

function row(at: number, key: number, id: string): UsageRow {
  const model = MODELS[Math.floor(random() * 2 + (key % 3))] ?? 'mistral/large';
  const firstByteMs = Math.exp(5 + random() * 3);
  return {
    ...{ requestId: id, attempt: 1, at, key: `key-${key}`, organization: `org-${key % 5}`, user: `user-${key % 150}` },
    ...{ tags: undefined, endpoint: '/chat/completions', model, provider: model.slice(0, model.indexOf('/')) },
    ...{ byok: false, outcome: random() < 0.98 ? 'complete' : 'failed', counted: true, status: 200, prices: '1,2,,,' },
    usage: { input: Math.floor(random() * 20_000), output: Math.floor(random() * 800), cacheRead: 100 },
    cost: Math.floor(random() * 50_000_000),
    estimated: false,
    ...{ waitMs: 1, firstByteMs, durationMs: firstByteMs + random() * 8_000 },
  };
}

/** Writes the sums of all requests and the rows of the last day. Other rows would not be read. */
function fill(database: DatabaseSync): { sums: number; rows: number } {
  const tables = new UsageTables(database);
  const buckets = (DAYS * DAY_MS) / BUCKET_MS;
  const perBucket = REQUESTS / buckets;
  for (let bucket = 0; bucket < buckets; bucket += 1) {
    const at = START + bucket * BUCKET_MS;
    const hour = Math.floor((at % DAY_MS) / 3_600_000);
    const active = hour >= 8 && hour < 20 ? ACTIVE.day : ACTIVE.night;
    const rows = Array.from({ length: active * 4 }, (_, index) =>
      row(at + index, Math.floor(random() * active) + (bucket % 2) * (KEYS - active), `${bucket}-${index}`),
    );
    const weight = Math.max(1, Math.round(perBucket / rows.length));
    database.exec('BEGIN');
    tables.write(rows, (error) => {
      throw error;
    });
    // Each row stands for many: the sums are those of all, and their number is what a report reads.
    database.exec(
      `UPDATE usage_rollup SET requests = requests * ${weight}, cost_nano = cost_nano * ${weight} WHERE bucket = ${at}`,
    );
    if (at < END - DAY_MS) database.exec(`DELETE FROM usage WHERE at >= ${at}`);
    database.exec('COMMIT');
  }
  while (runSteps(database, sealNext(SQLITE, END)));
  const count = (table: string) => Number(database.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.n);
  return { sums: count('usage_rollup'), rows: count('usage') };
}

const zone = (name: string) => new TimeZone(name);
const range = { since: START, until: END };
const REPORTS: readonly (readonly [what: string, query: UsageQuery])[] = [
  ['overview: total, percentiles', { ...range, by: [] }],
  ['overview: a series of hours, UTC', { ...range, by: [], step: 'hour', zone: zone('UTC') }],
  ['overview: a series of days, Kathmandu', { ...range, by: [], step: 'day', zone: zone('Asia/Kathmandu') }],
  ['stacked by model and day, Berlin', { ...range, by: ['model'], step: 'day', zone: zone('Europe/Berlin') }],
  ['stacked by key and day, Kolkata', { ...range, by: ['key'], step: 'day', top: 7, zone: zone('Asia/Kolkata') }],
  ['one key, by day', { ...range, by: [], step: 'day', key: 'key-7', zone: zone('UTC') }],
];

interface Result {
  readonly what: string;
  readonly median: number;
  readonly fastest: number;
  readonly cpu: number;
  /** The longest time in which the process answered nothing. */
  readonly stop: number;
  /** The time of the same report when it was made before. */
  readonly again: number;
}

function writeTable(results: readonly Result[], sums: number): void {
  const load = loadavg()[1]?.toFixed(1);
  const table = [
    '| what | median | fastest | CPU | longest stop | again | fastest, of 200 ms | CPU, of 200 ms |',
    '|---|---|---|---|---|---|---|---|',
    ...results.map(({ what, median, fastest, cpu, stop, again }) => {
      const times = [median, fastest, cpu, stop, again].map((ms) => `${ms.toFixed(1)} ms`);
      const parts = [what, ...times, ...[fastest, cpu].map((ms) => `${(ms / WANTED_MS).toFixed(2)} ×`)];
      return `| ${parts.join(' | ')} |`;
    }),
    '',
    `Sums of quarters of an hour: ${sums.toLocaleString('en')}. Load average of the machine (${cpus().length} processors): ${load}.`,
  ].join('\n');
  const file = path.resolve(import.meta.dirname, '..', '..', 'docs', 'performance.md');
  const text = readFileSync(file, 'utf8');
  const next = text.replace(/<!-- admin -->[\s\S]*<!-- \/admin -->/, () => `<!-- admin -->\n${table}\n<!-- /admin -->`);
  writeFileSync(file, next);
}

/** The longest time between two turns of the event loop during a call. */
async function longestStop(call: () => Promise<unknown>): Promise<number> {
  let running = true;
  let longest = 0;
  let last = performance.now();
  const called = call().finally(() => {
    running = false;
  });
  while (running) {
    await setImmediate();
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  }
  await called;
  return longest;
}

/** The best round: other load of the machine affects it least. */
async function fastestOf(call: () => Promise<number>): Promise<{ readonly median: number; readonly fastest: number }> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) times.push(await call());
  const [fastest = Number.NaN] = times.sort((a, b) => a - b);
  return { median: times[ROUNDS >> 1] ?? Number.NaN, fastest };
}

async function timeOf(call: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await call();
  return performance.now() - from;
}

/** Without the time in which the process waited for others. */
async function cpuOf(call: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await call();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** Measures all reports of a state. @param open returns the state with nothing in memory. */
async function measureAll(where: string, open: () => Promise<StateAdmin>): Promise<Result[]> {
  const results: Result[] = [];
  const measure = async (name: string, call: (state: StateAdmin) => Promise<unknown>) => {
    const what = `${name} (${where})`;
    const fresh = async (as: (call: () => Promise<unknown>) => Promise<number>) => {
      const state = await open();
      // The connection is no part of the report.
      await state.listKeys();
      const value = await as(() => call(state));
      await state.close();
      return value;
    };
    const { median, fastest } = await fastestOf(() => fresh(timeOf));
    // In rounds of its own: the turns that it counts take processor time.
    const [cpu, stop] = [await fastestOf(() => fresh(cpuOf)), await fastestOf(() => fresh(longestStop))];
    const state = await open();
    await call(state);
    const again = await fastestOf(() => timeOf(() => call(state)));
    await state.close();
    const result = { what, median, fastest, cpu: cpu.fastest, stop: stop.fastest, again: again.fastest };
    results.push(result);
    console.log(Object.values(result).join(' '));
  };
  for (const [what, query] of REPORTS) await measure(what, (state) => state.usage(query));
  const page = { since: 0, until: Number.MAX_SAFE_INTEGER, limit: 50 };
  await measure('requests: the newest page', (state) => state.requests(page));
  const failures = { ...page, key: 'key-7', outcome: 'failures' } as const;
  await measure('requests: failures of one key', (state) => state.requests(failures));
  const none = { ...page, organization: 'none' };
  await measure('requests: an organization that has none', (state) => state.requests(none));
  return results;
}

/** The same state in a real Postgres. */
async function measurePostgres(database: DatabaseSync): Promise<Result[]> {
  const server = await startPostgres();
  try {
    const url = await server.database();
    const connection = await connectPostgres(url);
    await copyToPostgres(database, connection);
    while (await sealNextInPostgres(connection, END));
    await connection.call(60_000, (sql) => sql('ANALYZE'));
    connection.close();
    return await measureAll('Postgres', () => openPostgres(url));
  } finally {
    await server.close();
  }
}

const folder = mkdtempSync(path.join(tmpdir(), 'svc-bench-admin-'));
try {
  const file = path.join(folder, 'gateway.db');
  const database = await openState(file);
  const filled = fill(database);
  console.log(filled, `${Math.round(statSync(file).size / 1e6)} MB`);
  const only = process.argv.slice(2);
  const results = [
    ...(only.includes('--postgres') ? [] : await measureAll('SQLite', async () => sqliteAdmin(database))),
    ...(only.includes('--sqlite') ? [] : await measurePostgres(database)),
  ];
  database.close();
  if (only.length === 0) writeTable(results, filled.sums);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
