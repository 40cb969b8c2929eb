import assert from 'node:assert/strict';
import type { BudgetSettings } from '../../../src/config/settings/settings.ts';
import { openPostgres } from '../../../src/gateway/postgres/open-postgres.ts';
import type { StateAdmin } from '../../../src/gateway/state-admin.ts';
import { ServeHarness, type ServeProcess } from '../serve-harness.ts';
import { type PostgresServer, query, startPostgres } from './postgres-server.ts';

export const ACTOR = { who: 'test', source: 'test' };

/** A hard budget of 20 USD. */
export const BUDGET = { usd: 20, period: 'total', timeZone: 'UTC', mode: 'hard', model: '*' } as const;

/** Gateways that share a state in a real Postgres. Each test has a database and a folder of its own. */
export class FleetHarness {
  server!: PostgresServer;
  harness!: ServeHarness;
  /** The address of the state. */
  url!: string;
  admin!: StateAdmin;

  /** The model `up/m` costs 1 USD for a million tokens of input, 2 USD for output. */
  configure(gateway: Record<string, unknown> = {}): Promise<void> {
    return this.harness.configure({ m: { cost: { input: 1, output: 2 } } }, { state: this.url, ...gateway });
  }

  createKey(name: string, budgets: readonly BudgetSettings[] = [], organization?: string): Promise<string> {
    const limits = { budgets, rates: [] };
    return this.admin.createKey(ACTOR, organization === undefined ? { name, limits } : { name, limits, organization });
  }

  /** Sends a request and returns its status. */
  async status({ url }: ServeProcess, key: string, more: Record<string, unknown> = {}): Promise<number> {
    const response = await this.harness.send(url, more, key);
    await response.text();
    return response.status;
  }

  /** Attempts in the ledger. */
  async stored(url = this.url): Promise<number> {
    const [row] = await query(url, 'SELECT count(*) AS n FROM svc.usage WHERE attempt > 0');
    return Number(row?.n);
  }

  /** Fails unless what was spent is the sum of the rows. */
  async consistent(): Promise<void> {
    assert.deepEqual((await this.admin.check()).differences, []);
  }
}

/** Registers what starts and stops the fleet of a suite. */
export function startFleet(): FleetHarness {
  const fleet = new FleetHarness();
  before(async () => {
    fleet.server = await startPostgres();
  });
  after(() => fleet.server?.close());
  beforeEach(async () => {
    fleet.url = await fleet.server.database();
    fleet.admin = await openPostgres(fleet.url);
    fleet.harness = await ServeHarness.start();
    await fleet.configure();
  });
  afterEach(async () => {
    await fleet.admin?.close();
    await fleet.harness?.close();
  });
  return fleet;
}
