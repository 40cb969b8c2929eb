import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { EMPTY_CATALOG } from '../../src/catalog/public/catalog.ts';
import { buildRegistry } from '../../src/catalog/registry/registry.ts';
import { loadSettings } from '../../src/config/load/load.ts';
import { KeyStore } from '../../src/gateway/access/key-store.ts';
import type { Ledger } from '../../src/gateway/accounting/ledger.ts';
import { Metrics } from '../../src/gateway/accounting/metrics.ts';
import type { Log } from '../../src/gateway/gateway-deps.ts';
import { GatewayState } from '../../src/gateway/gateway-state.ts';
import { Pools } from '../../src/gateway/pools/pools.ts';
import { readUsageReport, type UsageReport } from '../../src/gateway/reports/usage-report.ts';
import { type Listen, startGateway } from '../../src/gateway/server.ts';
import { openState } from '../../src/gateway/state/state-database.ts';
import { undiciTransport } from '../../src/provider/transport/undici-transport.ts';
import { startUpstream, type Upstream } from '../upstream/upstream.ts';

export const KEY = 'svc_fixed_key_for_tests';

export interface TestGateway {
  readonly url: string;
  readonly upstream: Upstream;
  readonly store: KeyStore;
  readonly metrics: Metrics;
  readonly ledger: Ledger;
  /** The state, for making its disk full. */
  readonly database: DatabaseSync;
  /** Lines of the log as JSON text. */
  readonly lines: readonly string[];
  /** Sums of the ledger, after pending rows are written. */
  usage(): UsageReport;
  /** Rows of the ledger in the state, with `cost` in USD. */
  rows(): readonly Record<string, unknown>[];
  keysChanged(): void;
  /** What a second process does when it starts on the same state. */
  restarted(): void;
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>;
  get(path: string, headers?: Record<string, string>): Promise<Response>;
  close(): Promise<void>;
}

export interface TestGatewayOptions {
  readonly config?: (upstream: string) => Record<string, unknown>;
  readonly listen?: Partial<Listen>;
}

/** One provider for each format, `chat/m`, `messages/m` and `responses/m`, all at the simulated upstream. */
export function providers(url: string): Record<string, unknown> {
  const model = {
    cost: { input: 1, output: 2, cache_read: 0.1, cache_write: 1.25 },
    modalities: { input: ['text', 'image', 'pdf', 'audio'], output: ['text'] },
    limit: { context: 128_000, output: 4_096 },
    reasoning: true,
  };
  const models = { m: { id: 'up-m', ...model }, free: { cost: { input: 0, output: 0 } } };
  const options = { baseURL: `${url}/v1`, apiKey: 'sk-house-canary' };
  return {
    chat: { options, models },
    messages: { npm: '@ai-sdk/anthropic', options, models },
    responses: { npm: '@ai-sdk/openai', options, models },
  };
}

/** The gateway on a free port over the simulated upstream, with its state in a separate folder. */
export async function startTestGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  const upstream = await startUpstream();
  const folder = await mkdtemp(path.join(tmpdir(), 'svc-gateway-'));
  const config = options.config?.(upstream.url) ?? { provider: providers(upstream.url) };
  const env = { SVC_CONFIG_CONTENT: JSON.stringify(config), XDG_CONFIG_HOME: folder, SVC_MANAGED_CONFIG_DIR: folder };
  const settings = await loadSettings({ env, platform: 'linux', home: folder, cwd: folder, trustedWorkspace: true });
  const registry = buildRegistry({ settings, catalog: EMPTY_CATALOG, env });
  const database = await openState(path.join(folder, 'gateway.db'));
  const lines: string[] = [];
  const write = (fields: unknown, message: string) => void lines.push(JSON.stringify({ fields, message }));
  const log: Log = { debug: write, info: write, warn: write, error: write };
  const transport = undiciTransport();
  const { dispatcher, fetch: send } = transport;
  const input = { database, settings: () => settings.gateway, fixedKeys: [KEY], log, fetch: send };
  const state = new GatewayState(input);
  const { keys, limits, ledger, running } = state;
  const metrics = new Metrics(() => ledger.waiting);
  const listing = { listed: true, whenListed: async () => undefined, refreshListings: async () => undefined };
  const gateway = await startGateway(
    {
      settings: () => settings,
      registry: () => registry,
      listing,
      pools: new Pools(
        () => settings,
        () => registry,
        log,
      ),
      keys,
      limits,
      running,
      ledger,
      metrics,
      transport,
      dispatcher,
      log,
      health: state.health,
      live: state.live,
      admin: state.admin,
      signIns: state.signIns,
      presence: state.presence,
      version: '0.0.0-test',
    },
    { host: '127.0.0.1', port: 0, ...options.listen },
  );
  const authorized = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
  return {
    url: gateway.url,
    upstream,
    store: new KeyStore(database),
    metrics,
    ledger,
    database,
    lines,
    usage: () => {
      ledger.flush();
      return readUsageReport(database, { since: 0, by: ['model'] });
    },
    rows: () => {
      ledger.flush();
      return database.prepare('SELECT *, cost_nano / 1e9 AS cost FROM usage ORDER BY seq').all();
    },
    keysChanged: () => keys.reload(),
    restarted: () => void new GatewayState(input),
    post: (where, body, headers = {}) =>
      fetch(gateway.url + where, {
        method: 'POST',
        headers: { ...authorized, ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    get: (where, headers = {}) => fetch(gateway.url + where, { headers }),
    close: async () => {
      await gateway.close(0);
      state.dispose();
      ledger.flush();
      database.close();
      // Do not wait for idle connections of an interrupted test.
      await dispatcher.destroy();
      await upstream.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
