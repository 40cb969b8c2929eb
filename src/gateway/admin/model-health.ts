import type { Model, Provider } from '../../catalog/model.ts';
import type * as api from '../../protocol/admin-api/schemas.ts';
import type { UpstreamReport } from '../accounting/upstream-health.ts';
import type { Models } from '../dispatch/models.ts';
import { type HealthSources, readHealth } from '../operations/health-report.ts';
import type { MemberReport } from '../pools/member-health.ts';
import { isoTime } from './key-view.ts';

/** All models that can be called, the pools first, with price and health. */
export async function describeModels(deps: Models & HealthSources): Promise<api.Model[]> {
  const known = await knownHealth(deps);
  const pools = [...deps.pools.all.values()].map(({ ref, model, settings, members: list }) => ({
    ...describeModel(model, combine(list.map((member) => healthOf(known, member.model.ref)))),
    id: ref,
    pool: {
      strategy: settings.strategy,
      affinity: settings.affinity,
      members: list.map((member) => ({
        model: member.model.ref,
        weight: member.weight,
        health: healthOf(known, member.model.ref),
      })),
    },
  }));
  const models = [...deps.registry().models.values()].filter(
    ({ ref, endpoint }) => endpoint.problem === undefined && deps.pools.find(ref) === undefined,
  );
  return [...pools, ...models.map((model) => describeModel(model, healthOf(known, model.ref)))];
}

export async function describeProviders(deps: Models & HealthSources): Promise<api.Provider[]> {
  const known = await knownHealth(deps);
  const configured = deps.settings().providers;
  return [...deps.registry().providers.values()]
    .filter(({ id, endpoint }) => endpoint.problem === undefined || configured.has(id))
    .map((provider) => describeProvider(provider, known));
}

function describeProvider(provider: Provider, known: KnownHealth): api.Provider {
  const models = [...provider.models.values()];
  const { problem } = provider.endpoint;
  return {
    id: provider.id,
    name: provider.name,
    models: models.length,
    formats: [...new Set([provider.endpoint.format, ...models.map(({ endpoint }) => endpoint.format)])],
    problem: problem === undefined ? null : String(problem),
    health: combine(models.map(({ ref }) => healthOf(known, ref))),
  };
}

function describeModel(model: Model, health: api.Health): api.Model {
  const { cost } = model;
  return {
    id: model.ref,
    name: model.name,
    provider: model.provider,
    price: cost
      ? {
          input: cost.input,
          output: cost.output,
          cache_read: cost.cacheRead ?? null,
          cache_write: cost.cacheWrite ?? null,
          cache_write_1h: cost.cacheWrite1h ?? null,
        }
      : null,
    context: model.limit.context,
    health,
    pool: null,
  };
}

/** By the name of the model. */
interface KnownHealth {
  readonly upstreams: ReadonlyMap<string, UpstreamReport>;
  readonly members: ReadonlyMap<string, MemberReport>;
}

async function knownHealth(deps: HealthSources): Promise<KnownHealth> {
  const { upstreams, members } = await readHealth(deps);
  return {
    upstreams: new Map(upstreams.map((report) => [report.model, report])),
    members: new Map(members.map((report) => [report.member, report])),
  };
}

function healthOf({ upstreams, members }: KnownHealth, ref: string): api.Health {
  const upstream = upstreams.get(ref);
  const member = members.get(ref);
  const cooling = (member?.coolingMs ?? 0) > 0;
  return {
    state: cooling ? 'cooling' : stateOf(upstream?.answeredAt, upstream?.failedAt),
    cooling_until: cooling ? isoTime(Date.now() + (member?.coolingMs ?? 0)) : null,
    last_error: (cooling ? member?.cause : undefined) ?? upstream?.lastError ?? null,
    last_error_at: isoTime((cooling ? member?.failedAt : undefined) ?? upstream?.failedAt),
    in_flight: upstream?.inFlight ?? 0,
    first_byte_ms: member?.firstByteMs ?? upstream?.firstByteMs ?? null,
  };
}

function stateOf(answeredAt = 0, failedAt = 0): api.Health['state'] {
  if (answeredAt === 0 && failedAt === 0) return 'unknown';
  return failedAt > answeredAt ? 'failing' : 'ok';
}

/** The worst state is only shown if no model works. */
const ORDER = ['ok', 'failing', 'cooling', 'unknown'] as const;

function combine(parts: readonly api.Health[]): api.Health {
  const last = parts.reduce<api.Health | undefined>(
    (latest, part) => ((part.last_error_at ?? '') > (latest?.last_error_at ?? '') ? part : latest),
    undefined,
  );
  const cooling = parts.flatMap(({ cooling_until }) => cooling_until ?? []).sort();
  const times = parts.flatMap(({ first_byte_ms }) => first_byte_ms ?? []);
  const state = ORDER.find((each) => parts.some((part) => part.state === each)) ?? 'unknown';
  return {
    state,
    cooling_until: state === 'cooling' ? (cooling[0] ?? null) : null,
    last_error: last?.last_error ?? null,
    last_error_at: last?.last_error_at ?? null,
    in_flight: parts.reduce((sum, part) => sum + part.in_flight, 0),
    first_byte_ms: times.length === 0 ? null : Math.min(...times),
  };
}
