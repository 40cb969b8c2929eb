import type { RateSettings } from '../../../src/config/settings/settings.ts';
import { openPostgres } from '../../../src/gateway/postgres/open-postgres.ts';
import type { StateAdmin } from '../../../src/gateway/state-admin.ts';
import type { PostgresServer } from '../../gateway/postgres/postgres-server.ts';
import { ServeHarness, type ServeProcess } from '../../gateway/serve-harness.ts';

export interface Figure {
  readonly what: string;
  readonly measured: string;
  readonly wanted: string;
  readonly holds: boolean;
}

/** How the parts run. */
export interface FleetOptions {
  readonly server: PostgresServer;
  /** Fewer rounds and shorter failures. */
  readonly quick: boolean;
  /** For how long a replica is cut off. */
  readonly cutOffSeconds: number;
}

export interface Fleet {
  readonly harness: ServeHarness;
  readonly replicas: readonly ServeProcess[];
  readonly admin: StateAdmin;
  readonly url: string;
}

/** Tokens of each answer, and their price: a request costs 0.01 USD, as it is estimated. */
const TOKENS = 10;
const MODEL = { cost: { input: 0, output: 1_000 } };
export const BODY = { max_tokens: TOKENS };

export interface FleetSettings extends Readonly<Record<string, unknown>> {
  /** A database instead of a new one. */
  readonly url?: string;
  readonly args?: readonly string[];
}

/** Runs gateways on a new database. Other settings are those of `gateway`. */
export async function withFleet<T>(
  server: PostgresServer,
  count: number,
  use: (fleet: Fleet) => Promise<T>,
  { url: given, args = [], ...gateway }: FleetSettings = {},
): Promise<T> {
  const url = given ?? (await server.database());
  const admin = await openPostgres(url);
  const harness = await startHarness({ state: url, ...gateway });
  try {
    const started = Array.from({ length: count }, () => harness.serve(['--log-level', 'error', ...args]));
    return await use({ harness, replicas: await Promise.all(started), admin, url });
  } finally {
    await harness.close();
    await admin.close();
  }
}

/** A folder with a configuration, and a provider that answers at once. */
export async function startHarness(gateway: Record<string, unknown>): Promise<ServeHarness> {
  const harness = await ServeHarness.start();
  const answer = JSON.stringify({
    id: 'x',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Yes.' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: TOKENS },
  });
  harness.upstream.respond((_, response) => {
    // Requests are not kept for later.
    harness.upstream.forget();
    response.setHeader('content-type', 'application/json');
    response.end(answer);
  });
  await harness.configure({ m: MODEL }, gateway);
  return harness;
}

export async function status({ harness }: Fleet, replica: ServeProcess, key: string): Promise<number> {
  const response = await harness.send(replica.url, BODY, key);
  await response.text();
  return response.status;
}

export const ACTOR = { who: 'bench', source: 'bench' };

/** Creates a key and waits until all replicas know it. */
export async function createKey(
  fleet: Fleet,
  budget?: { readonly usd: number; readonly mode: 'hard' | 'soft' },
  rates: readonly RateSettings[] = [],
  name = `k${performance.now()}`,
) {
  const budgets = budget === undefined ? [] : [{ ...budget, period: 'total', timeZone: 'UTC', model: '*' } as const];
  const key = await fleet.admin.createKey(ACTOR, { name, limits: { budgets, rates } });
  for (const replica of fleet.replicas) {
    // A request without a model is refused after its key was checked, and costs nothing.
    await until(async () => (await fleet.harness.send(replica.url, { model: 'up/none' }, key)).status !== 401);
  }
  return key;
}

export async function until(look: () => Promise<boolean>, milliseconds = 60_000): Promise<number> {
  const start = performance.now();
  while (!(await look())) {
    if (performance.now() - start > milliseconds) throw new Error('a condition was not met in time');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return performance.now() - start;
}

/** A row whose number must not be above a limit. */
export function atMost(what: string, value: number, limit: number, show: (value: number) => string): Figure {
  return { what, measured: show(value), wanted: `at most ${show(limit)}`, holds: value <= limit };
}

export function percentile(values: readonly number[], share: number): number {
  return (
    [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? Number.NaN
  );
}
