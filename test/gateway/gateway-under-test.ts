import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { LiveRegistry } from '../../src/catalog/live-registry.ts';
import { type CatalogData, EMPTY_CATALOG } from '../../src/catalog/public/catalog.ts';
import { buildRegistry } from '../../src/catalog/registry/registry.ts';
import { loadSettings } from '../../src/config/load/load.ts';
import type { Log } from '../../src/gateway/accounting/log.ts';
import { Metrics } from '../../src/gateway/accounting/metrics.ts';
import { Pools } from '../../src/gateway/pools/pools.ts';
import { type Listen, startGateway } from '../../src/gateway/server.ts';
import { ServedWindows } from '../../src/provider/served-window.ts';
import { undiciTransport } from '../../src/provider/transport/undici-transport.ts';
import { startUpstream, type Upstream } from '../upstream/upstream.ts';
import { type NewKey, StateUnderTest, type UsageReport, type UsageRow } from './state-under-test.ts';

export const KEY = 'svc_fixed_key_for_tests';

export interface TestGateway {
  readonly url: string;
  readonly upstream: Upstream;
  /** The state that the gateway uses. Rows of the ledger may still wait in memory. */
  readonly state: StateUnderTest;
  /** Lines of the log as JSON text. */
  readonly lines: readonly string[];
  /** Requests that are being answered. */
  readonly active: number;
  /** Rows of the ledger that are not written, and whether the last write failed or no more rows fit into memory. */
  readonly ledger: { readonly waiting: number; readonly broken: boolean; readonly full: boolean };
  /** Creates a key that is valid at once. */
  createKey(key: NewKey): string;
  /** The gateway reads the keys again, as it does each second after a change by another process. */
  keysChanged(): void;
  /** Repairs of tool calls by kind. */
  repairs(): Promise<ReadonlyMap<string, number>>;
  /** Counts an answer in the metrics. */
  measure: Metrics['answer'];
  /** Adds rows to the ledger, as answers do. */
  record(...rows: readonly UsageRow[]): void;
  /** Writes rows of the ledger that wait. @returns whether they are written. */
  flush(): boolean;
  /** Sums of the ledger, after pending rows are written. */
  usage(): UsageReport;
  /** Rows of the ledger in the state, with `cost` in USD, after pending rows are written. @param after their `seq`. */
  rows(after?: number): readonly Record<string, unknown>[];
  /** What a second process does when it starts on the same state. */
  restarted(): void;
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>;
  get(path: string, headers?: Record<string, string>): Promise<Response>;
  close(): Promise<void>;
}

export interface TestGatewayOptions {
  readonly config?: (upstream: string) => Record<string, unknown>;
  readonly listen?: Partial<Listen>;
  /** Default: no models. */
  readonly catalog?: CatalogData;
  /** The upstream answers questions about the windows of models. */
  readonly tellsWindows?: boolean;
  /** Milliseconds of silence before a heartbeat. */
  readonly heartbeatMs?: number;
  /** Variables of the environment for connections to providers. Default: those of the process. */
  readonly env?: Readonly<Record<string, string>>;
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
  const upstream = await startUpstream(undefined, options.tellsWindows);
  const folder = await mkdtemp(path.join(tmpdir(), 'svc-gateway-'));
  const config = options.config?.(upstream.url) ?? { provider: providers(upstream.url) };
  const env = { SVC_CONFIG_CONTENT: JSON.stringify(config), XDG_CONFIG_HOME: folder, SVC_MANAGED_CONFIG_DIR: folder };
  const settings = await loadSettings({ env, platform: 'linux', home: folder, cwd: folder, trustedWorkspace: true });
  const registry = buildRegistry({ settings, catalog: options.catalog ?? EMPTY_CATALOG, env });
  const state = await StateUnderTest.open(path.join(folder, 'gateway.db'));
  const lines: string[] = [];
  const write = (fields: unknown, message: string) => void lines.push(JSON.stringify({ fields, message }));
  const log: Log = { debug: write, info: write, warn: write, error: write };
  const transport = undiciTransport(options.env === undefined ? {} : { env: options.env });
  const { dispatcher, fetch: send } = transport;
  const input = { settings: () => settings.gateway, fixedKeys: [KEY], log, fetch: send };
  const parts = state.gateway(input);
  const { keys, limits, ledger, running } = parts;
  const metrics = new Metrics(() => ledger.waiting);
  const windows = new ServedWindows(transport);
  const listModels = async () => [];
  const unlisted = () => undefined;
  const live = new LiveRegistry(registry, { listModels, windows, unlisted, wanted: () => false });
  const gateway = await startGateway(
    {
      settings: () => settings,
      registry: () => live.current,
      listing: live,
      pools: new Pools(
        () => settings,
        () => live.current,
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
      health: parts.health,
      live: parts.live,
      admin: parts.admin,
      signIns: parts.signIns,
      reports: parts.reports,
      presence: parts.presence,
      heartbeatMs: options.heartbeatMs,
      version: '0.0.0-test',
    },
    { host: '127.0.0.1', port: 0, ...options.listen },
  );
  const authorized = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
  return {
    url: gateway.url,
    upstream,
    state,
    lines,
    get active() {
      return metrics.active;
    },
    ledger,
    createKey: (key) => {
      const created = state.createKey(key);
      keys.reload();
      return created;
    },
    keysChanged: () => keys.reload(),
    repairs: () => metrics.repairs(),
    measure: (...answer) => metrics.answer(...answer),
    record: (...rows) => {
      for (const row of rows) ledger.record(row);
    },
    flush: () => ledger.flush(),
    usage: () => {
      ledger.flush();
      return state.report({ since: 0, by: ['model'] });
    },
    rows: (after = 0) => {
      ledger.flush();
      return state.rows(after);
    },
    restarted: () => void state.gateway(input),
    post: (where, body, headers = {}) =>
      fetch(gateway.url + where, {
        method: 'POST',
        headers: { ...authorized, ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    get: (where, headers = {}) => fetch(gateway.url + where, { headers }),
    close: async () => {
      await gateway.close(0);
      parts.dispose();
      ledger.flush();
      state.close();
      // Do not wait for idle connections of an interrupted test.
      await dispatcher.destroy();
      await upstream.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
