import type { Usage } from '../../wire/event.ts';

/** Upper edges in seconds. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];

/** A value with the labels that it stands under, in the order of their names. */
export type Counted = readonly [labels: readonly string[], value: number];

export interface Distribution {
  readonly counts: number[];
  sum: number;
  count: number;
}

/** Tokens of one model by kind. */
interface TokenCounts {
  input: number;
  output: number;
  cache_read: number;
  cache_write: number;
}

/**
 * Counters on the hot path: plain numbers, found by names that live long and are never put together. The library
 * that writes Prometheus' format reads them when somebody asks (metrics-text.ts).
 */
export class Metrics {
  static readonly buckets: readonly number[] = BUCKETS;
  /** `route` -> seconds until the end of the answer. */
  readonly durations = new Map<string, Distribution>();
  /** `model` -> seconds until the first byte of the upstream's answer. */
  readonly firstBytes = new Map<string, Distribution>();
  /** `model` -> USD. */
  readonly cost = new Map<string, number>();
  /** `kind` -> repairs of tool calls. */
  readonly repairs = new Map<string, number>();
  active = 0;
  readonly #requests = new Map<string, Map<number, number>>();
  readonly #tokens = new Map<string, TokenCounts>();
  readonly #upstreamErrors = new Map<string, Map<string, number>>();

  /** Requests by route and status. */
  get requests(): Counted[] {
    return [...this.#requests].flatMap(([route, by]) =>
      [...by].map(([status, count]) => [[route, `${status}`], count] as const),
    );
  }

  /** Tokens by model and kind; of kinds that have come up. */
  get tokens(): Counted[] {
    return [...this.#tokens].flatMap(([model, { input, output, cache_read, cache_write }]) => [
      [[model, 'input'], input] as const,
      [[model, 'output'], output] as const,
      ...Object.entries({ cache_read, cache_write }).flatMap(([kind, count]) =>
        count > 0 ? [[[model, kind], count] as const] : [],
      ),
    ]);
  }

  /** Failures by provider and error_type. */
  get upstreamErrors(): Counted[] {
    return [...this.#upstreamErrors].flatMap(([provider, by]) =>
      [...by].map(([type, count]) => [[provider, type], count] as const),
    );
  }

  request(route: string, status: number, seconds: number): void {
    add(of(this.#requests, route), status, 1);
    observe(this.durations, route, seconds);
  }

  answer(model: string, usage: Usage | undefined, cost: number | undefined, firstByteSeconds: number): void {
    observe(this.firstBytes, model, firstByteSeconds);
    if (cost !== undefined) add(this.cost, model, cost);
    if (usage === undefined) return;
    let counts = this.#tokens.get(model);
    if (counts === undefined) {
      counts = { input: 0, output: 0, cache_read: 0, cache_write: 0 };
      this.#tokens.set(model, counts);
    }
    counts.input += usage.input;
    counts.output += usage.output;
    counts.cache_read += usage.cacheRead ?? 0;
    counts.cache_write += usage.cacheWrite ?? 0;
  }

  upstreamError(provider: string, errorType: string): void {
    add(of(this.#upstreamErrors, provider), errorType, 1);
  }

  repair(kind: string): void {
    add(this.repairs, kind, 1);
  }
}

function of<K>(counters: Map<string, Map<K, number>>, name: string): Map<K, number> {
  let found = counters.get(name);
  if (found === undefined) {
    found = new Map();
    counters.set(name, found);
  }
  return found;
}

function add<K>(counter: Map<K, number>, label: K, amount: number): void {
  counter.set(label, (counter.get(label) ?? 0) + amount);
}

function observe(distributions: Map<string, Distribution>, label: string, seconds: number): void {
  let found = distributions.get(label);
  if (found === undefined) {
    found = { counts: new Array(BUCKETS.length).fill(0), sum: 0, count: 0 };
    distributions.set(label, found);
  }
  let bucket = 0;
  while (seconds > (BUCKETS[bucket] ?? Number.POSITIVE_INFINITY)) bucket += 1;
  if (bucket < BUCKETS.length) found.counts[bucket] = (found.counts[bucket] ?? 0) + 1;
  found.sum += seconds;
  found.count += 1;
}
