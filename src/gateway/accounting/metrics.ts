import {
  AggregatorRegistry,
  Counter,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  type LabelValues,
  Registry,
} from 'prom-client';
import type { Usage } from '../../wire/event.ts';
import type { MemberReport } from '../pools/member-health.ts';

/** Upper bounds of the histograms, in seconds. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];
const PREFIX = 'svc_gateway_';

/** Labels that `gateway.metricLabels` adds. */
const CHOSEN = ['organization', 'key'] as const;
/** Each value of a label is a series of its own. Later values are counted as `other`. */
const MAX_VALUES = 200;

export type ChosenLabels = { readonly [Label in (typeof CHOSEN)[number]]?: string };

export interface MeasuredAnswer {
  readonly usage: Usage;
  /** USD; undefined: no price is known. */
  readonly cost: number | undefined;
  readonly firstByteSeconds: number;
}

/** Amounts that wait until a counter is read, because prom-client takes long to find a series by its labels. */
class Tally {
  readonly #waiting = new Map<string, { readonly labels: LabelValues<string>; amount: number }>();

  add(labels: LabelValues<string>, amount: number): void {
    let series = '';
    for (const name in labels) series += `${name} ${labels[name]}\n`;
    const found = this.#waiting.get(series);
    if (found === undefined) this.#waiting.set(series, { labels, amount });
    else found.amount += amount;
  }

  move(counter: Counter): void {
    for (const { labels, amount } of this.#waiting.values()) counter.inc(labels, amount);
    this.#waiting.clear();
  }
}

/** Adds up counters and histograms of several workers. @param parts results of `toJson`. */
export async function mergeCounts(parts: readonly string[]): Promise<string> {
  const merged = await AggregatorRegistry.aggregate(parts.map((part) => JSON.parse(part))).getMetricsAsJSON();
  return JSON.stringify(merged.filter(({ type }) => COUNTING.has(String(type))));
}

/** The others tell the present of a process. */
const COUNTING: ReadonlySet<string> = new Set(['counter', 'histogram', 'summary']);

/** The metrics of one gateway, with those of its process. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #requests = this.#tally('requests_total', 'Requests by route and status.', ['route', 'status']);
  readonly #tokens = this.#tally('tokens_total', 'Tokens by model and kind.', ['model', 'kind', ...CHOSEN]);
  readonly #cost = this.#tally('cost_usd_total', 'Cost in USD by model.', ['model', ...CHOSEN]);
  readonly #upstreamErrors = this.#counter(
    'upstream_errors_total',
    'Failures of upstreams by provider and error_type.',
    ['provider', 'error_type'],
  );
  readonly #reloads = this.#counter('config_reload_failed_total', 'Reloads of a configuration with a mistake.', []);
  readonly #repairs = this.#counter('tool_call_repairs_total', 'Repairs of tool calls by kind.', ['kind']);
  readonly #durations = this.#histogram('request_seconds', 'Seconds until the end of an answer.', 'route');
  readonly #firstBytes = this.#histogram('first_byte_seconds', 'Seconds until an upstream’s first byte.', 'model');
  readonly #seen = { organization: new Set<string>(), key: new Set<string>() };
  /** Requests that are being answered. */
  active = 0;
  /** The results of `toJson` of all workers. Absent: this process is the only one. */
  ofAllWorkers: (() => Promise<readonly string[]>) | undefined;

  /** @param rowsWaiting rows of the ledger that are not written yet. */
  constructor(rowsWaiting: () => number) {
    collectDefaultMetrics({ register: this.#registry });
    this.#gauge('requests_active', 'Requests that are being answered.', () => this.active);
    this.#gauge('ledger_rows_waiting', 'Rows of the ledger that are not written yet.', rowsWaiting);
  }

  request(route: string, status: number, seconds: number): void {
    this.#requests.add({ route, status }, 1);
    this.#durations.observe({ route }, seconds);
  }

  /** @param chosen the labels that the configuration adds to tokens and cost. */
  answer(model: string, chosen: ChosenLabels, { usage, cost, firstByteSeconds }: MeasuredAnswer): void {
    this.#firstBytes.observe({ model }, firstByteSeconds);
    const labels = { model, ...this.#bounded(chosen) };
    if (cost !== undefined) this.#cost.add(labels, cost);
    this.#tokens.add({ ...labels, kind: 'input' }, usage.input);
    this.#tokens.add({ ...labels, kind: 'output' }, usage.output);
    if (usage.cacheRead) this.#tokens.add({ ...labels, kind: 'cache_read' }, usage.cacheRead);
    if (usage.cacheWrite) this.#tokens.add({ ...labels, kind: 'cache_write' }, usage.cacheWrite);
    if (usage.cacheWrite1h) this.#tokens.add({ ...labels, kind: 'cache_write_1h' }, usage.cacheWrite1h);
  }

  #bounded(chosen: ChosenLabels): ChosenLabels {
    const result: { -readonly [Label in keyof ChosenLabels]: ChosenLabels[Label] } = {};
    for (const label of CHOSEN) {
      const value = chosen[label];
      if (value === undefined) continue;
      const seen = this.#seen[label];
      if (seen.size < MAX_VALUES) seen.add(value);
      result[label] = seen.has(value) ? value : 'other';
    }
    return result;
  }

  upstreamError(provider: string, errorType: string): void {
    this.#upstreamErrors.inc({ provider, error_type: errorType });
  }

  /** A part of the new configuration is not used, because it has a mistake. */
  reloadFailed(): void {
    this.#reloads.inc();
  }

  repair(kind: string): void {
    this.#repairs.inc({ kind });
  }

  /** Repairs of tool calls so far, by kind. */
  async repairs(): Promise<ReadonlyMap<string, number>> {
    const { values } = await this.#repairs.get();
    return new Map(values.map(({ labels, value }) => [String(labels.kind), value]));
  }

  /** Reports the members of pools from now on. */
  watchMembers(report: () => readonly MemberReport[]): void {
    const help = 'Whether a member of a pool gets requests (1) or cools down after a failure (0).';
    const registers = [this.#registry];
    new Gauge({
      name: `${PREFIX}pool_member_available`,
      help,
      labelNames: ['member'],
      registers,
      // The worst of all workers, not their sum.
      aggregator: 'min',
      collect() {
        for (const { member, coolingMs } of report()) this.set({ member }, coolingMs > 0 ? 0 : 1);
      },
    });
  }

  /** The metrics of this process as JSON. */
  async toJson(): Promise<string> {
    return JSON.stringify(await this.#registry.getMetricsAsJSON());
  }

  /** All metrics in Prometheus' text format: of all workers together if this is one of several. */
  async write(): Promise<{ readonly text: string; readonly contentType: string }> {
    const { contentType } = this.#registry;
    if (this.ofAllWorkers === undefined) return { text: await this.#registry.metrics(), contentType };
    const parts = await this.ofAllWorkers();
    return {
      text: await AggregatorRegistry.aggregate(parts.map((part) => JSON.parse(part))).metrics(),
      contentType,
    };
  }

  #counter(name: string, help: string, labelNames: string[]): Counter {
    return new Counter({ name: PREFIX + name, help, labelNames, registers: [this.#registry] });
  }

  /** A counter to which each request adds. */
  #tally(name: string, help: string, labelNames: string[]): Tally {
    const tally = new Tally();
    new Counter({
      name: PREFIX + name,
      help,
      labelNames,
      registers: [this.#registry],
      collect() {
        tally.move(this);
      },
    });
    return tally;
  }

  #histogram(name: string, help: string, label: string): Histogram {
    return new Histogram({
      name: PREFIX + name,
      help,
      labelNames: [label],
      buckets: BUCKETS,
      registers: [this.#registry],
    });
  }

  #gauge(name: string, help: string, read: () => number): void {
    const registers = [this.#registry];
    new Gauge({
      name: PREFIX + name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  }
}
