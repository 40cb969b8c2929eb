import type * as z from 'zod';
import { parseDuration } from '../../base/duration.ts';
import { defined } from '../../base/json.ts';
import { adminSchema, gatewaySchema, listenSchema } from '../schema/schema.ts';
import { parseSection } from '../schema/valid-part.ts';
import { credential, credentials } from './fields.ts';
import type { AdminSettings, GatewaySettings, LimitSettings, TelemetrySettings } from './settings.ts';
import { child, type Tree, unescapedKey } from './tree.ts';

type Parsed = z.output<typeof gatewaySchema>;

/**
 * The `gateway` section with the defaults of its schema. Credentials are read from the tree, because they have a place.
 */
export function readGateway(node: Tree | undefined, schema: z.ZodType<Parsed> = gatewaySchema): GatewaySettings {
  const parsed = parseSection(schema, node);
  return {
    listen: parsed.listen ?? listenSchema.parse({}),
    maxBodyBytes: parsed.maxBodyBytes,
    maxBufferedBytes: parsed.maxBufferedBytes,
    publicUrl: parsed.publicUrl,
    connectionAge: milliseconds(parsed.connectionAge),
    allowedOrigins: parsed.allowedOrigins ?? [],
    allowedHosts: parsed.allowedHosts ?? [],
    organizations: byKey(parsed.organizations, ({ name, policy, ...limits }, id) => ({
      id,
      name: name ?? id,
      policy: { ...defined({ allow: policy?.allow }), deny: policy?.deny ?? [] },
      byok: credentials(child(child(child(node, 'organizations'), id), 'byok')),
      limits: limitsOf(limits),
    })),
    limits: limitsOf({ budgets: parsed.budgets, rates: Array.isArray(parsed.rates) ? parsed.rates : [] }),
    unpricedModels: parsed.unpricedModels ?? [],
    fimModels: parsed.fimModels ?? [],
    users: byKey(parsed.users, limitsOf),
    alertWebhook: credential(child(child(node, 'alerts'), 'webhook')),
    retention: { usage: milliseconds(parsed.retention?.usage), rollup: milliseconds(parsed.retention?.rollup) },
    state: parsed.state === 'sqlite' ? undefined : credential(child(node, 'state')),
    ...defined({ statePasswordCommand: parsed.statePasswordCommand }),
    // The limits of all requests together may be there instead.
    rateStore: typeof parsed.rates === 'string' ? parsed.rates : 'state',
    maxStale: milliseconds(parsed.maxStale),
    embeddingModels: byKey(parsed.embeddingModels, (model) => model),
    transcriptionModels: byKey(parsed.transcriptionModels, (model) => model),
    aliases: byKey(parsed.aliases, (ref) => ref),
    fallback: byKey(parsed.fallback, (refs) => refs),
    telemetry: readTelemetry(parsed.telemetry, child(child(node, 'telemetry'), 'headers')),
    admin: readAdmin(parsed.admin),
    metricLabels: new Set(parsed.metricLabels),
    pools: byKey(parsed.pools, (pool) => pool),
  };
}

function limitsOf({ budgets, rates }: NonNullable<Parsed['users']>[string]): LimitSettings {
  return { budgets: budgets ?? [], rates: rates ?? [] };
}

/** A number for a duration that the schema has checked. Absent: without an end. */
function milliseconds(duration: string | undefined): number {
  return parseDuration(duration ?? '') ?? Number.POSITIVE_INFINITY;
}

function readTelemetry(parsed: Parsed['telemetry'], headers: Tree | undefined): TelemetrySettings | undefined {
  return parsed && { ...parsed, headers: credentials(headers) };
}

function readAdmin(parsed: Parsed['admin']): AdminSettings | undefined {
  if (parsed === undefined || parsed === false) return undefined;
  const { session, timeZone } = parsed === true ? adminSchema.parse({}) : parsed;
  return {
    sessionMs: milliseconds(session),
    timeZone: timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
  };
}

function byKey<T, R>(
  members: Readonly<Record<string, T>> | undefined,
  read: (member: T, key: string) => R,
): ReadonlyMap<string, R> {
  return new Map(
    Object.entries(members ?? {}).map(([name, member]) => {
      const key = unescapedKey(name);
      return [key, read(member, key)];
    }),
  );
}
