import type { Usage } from '../wire/event.ts';

/** Upper edges in seconds. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];

/** Labels in one text, since they are the key of a counter on the hot path. */
type Labels = string;

export interface Distribution {
  readonly counts: number[];
  sum: number;
  count: number;
}

/**
 * Counters on the hot path: plain numbers in maps. The library that writes Prometheus' format reads
 * them when somebody asks (metrics-route.ts).
 */
export class Metrics {
  static readonly buckets: readonly number[] = BUCKETS;
  /** `route|status` -> requests. */
  readonly requests = new Map<Labels, number>();
  /** `route` -> seconds until the end of the answer. */
  readonly durations = new Map<Labels, Distribution>();
  /** `model` -> seconds until the first byte of the upstream's answer. */
  readonly firstBytes = new Map<Labels, Distribution>();
  /** `model|kind` -> tokens. */
  readonly tokens = new Map<Labels, number>();
  /** `model` -> USD. */
  readonly cost = new Map<Labels, number>();
  /** `provider|error_type` -> failures. */
  readonly upstreamErrors = new Map<Labels, number>();
  /** `kind` -> repairs of tool calls. */
  readonly repairs = new Map<Labels, number>();
  active = 0;

  request(route: string, status: number, seconds: number): void {
    add(this.requests, `${route}|${status}`, 1);
    observe(this.durations, route, seconds);
  }

  answer(model: string, usage: Usage | undefined, cost: number | undefined, firstByteSeconds: number): void {
    observe(this.firstBytes, model, firstByteSeconds);
    if (cost !== undefined) add(this.cost, model, cost);
    if (usage === undefined) return;
    add(this.tokens, `${model}|input`, usage.input);
    add(this.tokens, `${model}|output`, usage.output);
    if (usage.cacheRead) add(this.tokens, `${model}|cache_read`, usage.cacheRead);
    if (usage.cacheWrite) add(this.tokens, `${model}|cache_write`, usage.cacheWrite);
  }

  upstreamError(provider: string, errorType: string): void {
    add(this.upstreamErrors, `${provider}|${errorType}`, 1);
  }

  repair(kind: string): void {
    add(this.repairs, kind, 1);
  }
}

function add(counter: Map<Labels, number>, labels: Labels, amount: number): void {
  counter.set(labels, (counter.get(labels) ?? 0) + amount);
}

function observe(distributions: Map<Labels, Distribution>, labels: Labels, seconds: number): void {
  let found = distributions.get(labels);
  if (found === undefined) {
    found = { counts: new Array(BUCKETS.length).fill(0), sum: 0, count: 0 };
    distributions.set(labels, found);
  }
  const bucket = BUCKETS.findIndex((edge) => seconds <= edge);
  if (bucket >= 0) found.counts[bucket] = (found.counts[bucket] ?? 0) + 1;
  found.sum += seconds;
  found.count += 1;
}
