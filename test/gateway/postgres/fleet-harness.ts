import assert from 'node:assert/strict';
import { svc } from '../../cli/run-svc.ts';
import { ProjectFolder } from '../../config/project-folder.ts';
import { ServeHarness, type ServeProcess } from '../serve-harness.ts';
import { sharedBreakablePostgres, sharedPostgres } from '../shared-servers.ts';
import { type PostgresServer, query } from './postgres-server.ts';

/** Options of a hard budget of 20 USD. */
export const BUDGET: readonly string[] = ['--budget', '20', '--mode', 'hard'];

/** Runs `svc` in this process with a state. @returns its output. @throws if it fails. */
export async function svcWith(state: string, ...args: string[]): Promise<string> {
  using folder = new ProjectFolder();
  // A key can only be created for an organization that is configured.
  const gateway = { state, organizations: { acme: {} } };
  folder.env.SVC_CONFIG_CONTENT = JSON.stringify({ gateway });
  const { code, out, err } = await svc(folder, args);
  assert.equal(code, 0, `svc ${args.join(' ')}: ${err}${out}`);
  return out;
}

/** Gateways that share a state in a real Postgres. Each test has a database and a folder of its own. */
export class FleetHarness {
  server!: PostgresServer;
  harness!: ServeHarness;
  /** The address of the state. */
  url!: string;

  /** The model `up/m` costs 1 USD for a million tokens of input, 2 USD for output. */
  configure(gateway: Record<string, unknown> = {}): Promise<void> {
    return this.harness.configure({ m: { cost: { input: 1, output: 2 } } }, { state: this.url, ...gateway });
  }

  /** @param options of `svc keys create`. @returns the key. */
  async createKey(name: string, ...options: readonly string[]): Promise<string> {
    const out = await svcWith(this.url, 'keys', 'create', name, ...options);
    return out.trim().split('\n').at(-1) ?? '';
  }

  async revokeKey(name: string): Promise<void> {
    await svcWith(this.url, 'keys', 'revoke', name);
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
  async consistent(url = this.url): Promise<void> {
    assert.match(await svcWith(url, 'state', 'check'), /^The state is consistent/);
  }
}

export interface FleetOptions {
  /** Its tests kill, freeze or copy the server. */
  readonly breaks: boolean;
}

/** Registers what starts and stops the fleet of a suite. */
export function startFleet({ breaks }: FleetOptions = { breaks: false }): FleetHarness {
  const fleet = new FleetHarness();
  before(async () => {
    fleet.server = await (breaks ? sharedBreakablePostgres() : sharedPostgres());
  });
  beforeEach(async () => {
    fleet.url = await fleet.server.database();
    // The command creates the tables.
    await svcWith(fleet.url, 'keys', 'list');
    fleet.harness = await ServeHarness.start();
    await fleet.configure();
  });
  afterEach(async () => {
    await fleet.harness?.close();
    if (!breaks) return;
    // A test that failed may have left it frozen or ended.
    fleet.server?.signal('SIGCONT');
    await fleet.server?.start();
  });
  return fleet;
}
