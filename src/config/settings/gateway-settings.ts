import { parseDuration } from '../../base/duration.ts';
import { arrayOrEmpty, defined, type JsonObject, objectOrEmpty } from '../../base/json.ts';
import { credential, credentials, number, text, texts } from './fields.ts';
import { BUDGET_MODES, BUDGET_PERIODS, LIMIT_DEFAULTS, LIMIT_OWNERS } from './limit-values.ts';
import type { Credential } from './origin.ts';
import type {
  AdminSettings,
  GatewaySettings,
  LedgerRetention,
  LimitSettings,
  OrganizationSettings,
  PoolSettings,
  TelemetrySettings,
} from './settings.ts';
import { child, getEntries, plain, type Tree } from './tree.ts';

/** The `gateway` section with its defaults. */
export function readGateway(node: Tree | undefined): GatewaySettings {
  const fields = objectOrEmpty(node && plain(node));
  const listen = objectOrEmpty(fields.listen);
  return {
    listen: { host: text(listen.host) ?? '127.0.0.1', port: number(listen.port) ?? 4180 },
    maxBodyBytes: number(fields.maxBodyBytes) ?? 25_165_824,
    maxBufferedBytes: number(fields.maxBufferedBytes),
    publicUrl: text(fields.publicUrl),
    connectionAge: parseDuration(text(fields.connectionAge) ?? '') ?? 5 * 60_000,
    allowedOrigins: texts(fields.allowedOrigins) ?? [],
    allowedHosts: texts(fields.allowedHosts) ?? [],
    organizations: new Map(
      [...getEntries(child(node, 'organizations'))].map(([id, { value }]) => [id, readOrganization(id, value)]),
    ),
    limits: readLimits(fields),
    unpricedModels: texts(fields.unpricedModels) ?? [],
    users: byKey(fields.users, (user) => readLimits(objectOrEmpty(user))),
    alertWebhook: credential(child(child(node, 'alerts'), 'webhook')),
    retention: readRetention(fields.retention),
    state: readState(child(node, 'state')),
    rateStore: readRateStore(child(node, 'rates')),
    maxStale: parseDuration(text(fields.maxStale) ?? '') ?? 15 * 60_000,
    embeddingModels: byKey(fields.embeddingModels, (model) => {
      const { name, dimensions, context } = objectOrEmpty(model);
      return defined({ name: text(name), dimensions: number(dimensions), context: number(context) });
    }),
    transcriptionModels: byKey(fields.transcriptionModels, (model) =>
      defined({ name: text(objectOrEmpty(model).name) }),
    ),
    aliases: byKey(fields.aliases, (ref) => text(ref) ?? ''),
    fallback: byKey(fields.fallback, (refs) => texts(refs) ?? []),
    telemetry: readTelemetry(child(node, 'telemetry')),
    admin: readAdmin(fields.admin),
    metricLabels: new Set(texts(fields.metricLabels)),
    pools: byKey(fields.pools, readPool),
  };
}

function readLimits({ budgets, rates }: JsonObject): LimitSettings {
  return {
    budgets: list(budgets).map(({ usd, period, timeZone, mode, model, each }) => ({
      usd: number(usd) ?? 0,
      period: BUDGET_PERIODS.find((known) => known === period) ?? LIMIT_DEFAULTS.period,
      timeZone: text(timeZone) ?? LIMIT_DEFAULTS.timeZone,
      mode: BUDGET_MODES.find((known) => known === mode) ?? LIMIT_DEFAULTS.mode,
      model: text(model) ?? LIMIT_DEFAULTS.model,
      each: LIMIT_OWNERS.find((known) => known === each),
    })),
    rates: list(rates).map(({ requests, tokens, parallel, model, each }) => ({
      ...defined({ requests: number(requests), tokens: number(tokens), parallel: number(parallel) }),
      model: text(model) ?? LIMIT_DEFAULTS.model,
      each: LIMIT_OWNERS.find((known) => known === each),
    })),
  };
}

function list(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.map(objectOrEmpty) : [];
}

function readState(node: Tree | undefined): Credential | undefined {
  const found = credential(node);
  return found?.secret.reveal() === 'sqlite' ? undefined : found;
}

/** The limits of all requests together may be there instead. */
function readRateStore(node: Tree | undefined): GatewaySettings['rateStore'] {
  const found = credential(node);
  const name = found?.secret.reveal() ?? 'state';
  return name === 'memory' || name === 'state' ? name : (found ?? 'state');
}

function readRetention(value: unknown): LedgerRetention {
  const { usage, rollup } = objectOrEmpty(value);
  const milliseconds = (each: unknown) => parseDuration(text(each) ?? '') ?? Number.POSITIVE_INFINITY;
  return { usage: milliseconds(usage), rollup: milliseconds(rollup) };
}

function readOrganization(id: string, node: Tree): OrganizationSettings {
  const fields = objectOrEmpty(plain(node));
  const { name, policy } = fields;
  const { allow, deny } = objectOrEmpty(policy);
  return {
    id,
    name: text(name) ?? id,
    policy: { ...defined({ allow: texts(allow) }), deny: texts(deny) ?? [] },
    byok: credentials(child(node, 'byok')),
    limits: readLimits(fields),
  };
}

function readTelemetry(node: Tree | undefined): TelemetrySettings | undefined {
  const { endpoint, serviceName, sample } = objectOrEmpty(node && plain(node));
  const address = text(endpoint);
  if (address === undefined) return undefined;
  return {
    endpoint: address,
    headers: credentials(child(node, 'headers')),
    serviceName: text(serviceName) ?? 'svc-gateway',
    sample: number(sample) ?? 1,
  };
}

const SESSION_MS = 12 * 3_600_000;

function readAdmin(value: unknown): AdminSettings | undefined {
  if (value === undefined || value === false) return undefined;
  const { session, timeZone } = objectOrEmpty(value);
  return {
    sessionMs: parseDuration(text(session) ?? '') ?? SESSION_MS,
    timeZone: text(timeZone) ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
  };
}

function readPool(value: unknown): PoolSettings {
  const { name, models, weights, strategy, affinity, hedgeAfter } = objectOrEmpty(value);
  return {
    ...defined({ name: text(name), hedgeAfter: number(hedgeAfter) }),
    models: texts(models) ?? [],
    weights: arrayOrEmpty(weights).map((weight) => number(weight) ?? 1),
    strategy: strategy === 'least-busy' || strategy === 'latency' ? strategy : 'weighted',
    affinity: affinity !== false,
  };
}

function byKey<T>(value: unknown, read: (item: unknown) => T): ReadonlyMap<string, T> {
  return new Map(Object.entries(objectOrEmpty(value)).map(([key, item]) => [key, read(item)]));
}
