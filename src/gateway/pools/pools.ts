import { defined } from '../../base/json.ts';
import type { Model } from '../../catalog/model.ts';
import type { Registry } from '../../catalog/registry/registry.ts';
import { type ModelCost, RATES } from '../../config/settings/configured-model.ts';
import type { PoolSettings, Settings } from '../../config/settings/settings.ts';
import type { Log } from '../accounting/log.ts';
import { MemberHealth } from './member-health.ts';

/** A model of a pool. */
export interface Member<M = Model> {
  readonly model: M;
  /** The share of the requests, relative to the other members. */
  readonly weight: number;
}

/** Several models under one name. */
export interface Pool<M = Model> {
  /** The name, in the form of a model's reference. */
  readonly ref: string;
  /** The common abilities of all members, as one model: the smallest limits and the highest prices. */
  readonly model: M;
  /** At least one. */
  readonly members: readonly Member<M>[];
  readonly settings: PoolSettings;
}

/** The pools of the current configuration, and the health of their members. */
export class Pools {
  readonly health: MemberHealth;
  readonly #settings: () => Settings;
  readonly #registry: () => Registry;
  #built: { settings: Settings; registry: Registry; pools: ReadonlyMap<string, Pool> } | undefined;

  constructor(settings: () => Settings, registry: () => Registry, log: Log) {
    this.#settings = settings;
    this.#registry = registry;
    this.health = new MemberHealth(log);
  }

  /** Finds a pool by its name. */
  find(ref: string): Pool | undefined {
    return this.all.get(ref);
  }

  /** By name. A pool without any available member is not contained. */
  get all(): ReadonlyMap<string, Pool> {
    const [settings, registry] = [this.#settings(), this.#registry()];
    if (this.#built?.settings !== settings || this.#built.registry !== registry) {
      const pools = new Map<string, Pool>();
      for (const [ref, pool] of settings.gateway.pools) {
        const built = buildPool(ref, pool, registry);
        if (built) pools.set(ref, built);
      }
      this.#built = { settings, registry, pools };
    }
    return this.#built.pools;
  }
}

function buildPool(ref: string, settings: PoolSettings, registry: Registry): Pool | undefined {
  const members = settings.models.flatMap((name, index) => {
    const model = registry.models.get(name);
    if (model === undefined || model.endpoint.problem !== undefined) return [];
    return { model, weight: settings.weights?.[index] ?? 1 };
  });
  const model = combinedModel(
    ref,
    settings.name,
    members.map(({ model }) => model),
  );
  return model && { ref, model, members, settings };
}

function combinedModel(ref: string, name: string | undefined, models: readonly Model[]): Model | undefined {
  const [first, ...rest] = models;
  if (first === undefined) return undefined;
  const slash = ref.indexOf('/');
  const every = (has: (model: Model) => boolean) => models.every(has);
  return {
    ...first,
    ref,
    id: ref,
    provider: ref.slice(0, slash),
    key: ref.slice(slash + 1),
    name: name ?? ref,
    toolCall: every((model) => model.toolCall),
    reasoning: every((model) => model.reasoning),
    temperature: every((model) => model.temperature),
    attachment: every((model) => model.attachment),
    structuredOutput: every((model) => model.structuredOutput),
    fim: every((model) => model.fim),
    edit: every((model) => model.edit !== undefined) ? first.edit : undefined,
    modalities: {
      input: first.modalities.input.filter((kind) => rest.every((model) => model.modalities.input.includes(kind))),
      output: first.modalities.output.filter((kind) => rest.every((model) => model.modalities.output.includes(kind))),
    },
    limit: {
      context: smallest(models.map(({ limit }) => limit.context)),
      output: smallest(models.map(({ limit }) => limit.output)),
    },
    cost: highestCost(models),
    options: {},
    variants: new Map([...first.variants].filter(([variant]) => rest.every((model) => model.variants.has(variant)))),
    origin: undefined,
    source: 'config',
  };
}

/** The smallest known limit; 0 if none is known. */
function smallest(limits: readonly number[]): number {
  const known = limits.filter((limit) => limit > 0);
  return known.length === 0 ? 0 : Math.min(...known);
}

/** The highest price of each kind; undefined if no member has a price. */
function highestCost(models: readonly Model[]): ModelCost | undefined {
  const costs = models.flatMap(({ cost }) => cost ?? []);
  if (costs.length === 0) return undefined;
  const highest = (kind: (typeof RATES)[number]) => {
    const prices = costs.flatMap((cost) => cost[kind] ?? []);
    return prices.length === 0 ? undefined : Math.max(...prices);
  };
  const rates = Object.fromEntries(RATES.map((kind) => [kind, highest(kind)]));
  return { ...defined(rates), input: highest('input') ?? 0, output: highest('output') ?? 0 };
}
