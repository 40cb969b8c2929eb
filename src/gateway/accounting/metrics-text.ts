import { Counter, collectDefaultMetrics, Gauge, type Metric, Registry } from 'prom-client';
import type { GatewayDeps } from '../gateway-deps.ts';
import { type Counted, type Distribution, Metrics } from './metrics.ts';

/** The counters in Prometheus' text format, with those of the process. Loaded when first asked for. */
export async function writeMetrics(deps: GatewayDeps): Promise<{ text: string; contentType: string }> {
  const registry = registryOf(deps);
  return { text: await registry.metrics(), contentType: registry.contentType };
}

const REGISTRIES = new WeakMap<Metrics, Registry>();

function registryOf(deps: GatewayDeps): Registry {
  const { metrics, ledger } = deps;
  const present = REGISTRIES.get(metrics);
  if (present) return present;
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  counter(registry, 'requests_total', 'Requests by route and status.', ['route', 'status'], () => metrics.requests);
  counter(registry, 'tokens_total', 'Tokens by model and kind.', ['model', 'kind'], () => metrics.tokens);
  counter(registry, 'cost_usd_total', 'Cost in USD by model.', ['model'], () => single(metrics.cost));
  counter(
    registry,
    'upstream_errors_total',
    'Failures of upstreams by provider and error_type.',
    ['provider', 'error_type'],
    () => metrics.upstreamErrors,
  );
  counter(registry, 'tool_call_repairs_total', 'Repairs of tool calls by kind.', ['kind'], () =>
    single(metrics.repairs),
  );
  gauge(registry, 'requests_active', 'Requests that are being answered.', () => metrics.active);
  gauge(registry, 'ledger_rows_waiting', 'Rows of the ledger that are not written yet.', () => ledger.waiting);
  histogram(registry, 'request_seconds', 'Seconds until the end of an answer.', 'route', metrics.durations);
  histogram(registry, 'first_byte_seconds', 'Seconds until an upstream’s first byte.', 'model', metrics.firstBytes);
  REGISTRIES.set(metrics, registry);
  return registry;
}

function counter(
  registry: Registry,
  name: string,
  help: string,
  labelNames: string[],
  read: () => readonly Counted[],
): void {
  new Counter({
    name: `svc_gateway_${name}`,
    help,
    labelNames,
    registers: [registry],
    collect() {
      this.reset();
      for (const [labels, value] of read()) {
        this.inc(Object.fromEntries(labelNames.map((label, index) => [label, labels[index] ?? ''])), value);
      }
    },
  });
}

function single(values: ReadonlyMap<string, number>): readonly Counted[] {
  return [...values].map(([label, value]) => [[label], value]);
}

function gauge(registry: Registry, name: string, help: string, read: () => number): void {
  new Gauge({
    name: `svc_gateway_${name}`,
    help,
    registers: [registry],
    collect() {
      this.set(read());
    },
  });
}

/** The library's own histogram wants each observation; ours are counted already. */
function histogram(
  registry: Registry,
  name: string,
  help: string,
  label: string,
  distributions: ReadonlyMap<string, Distribution>,
): void {
  const full = `svc_gateway_${name}`;
  const get = async () => ({
    name: full,
    help,
    type: 'histogram',
    aggregator: 'sum',
    values: [...distributions].flatMap(([key, { counts, sum, count }]) => {
      let below = 0;
      const buckets = Metrics.buckets.map((le, index) => {
        below += counts[index] ?? 0;
        return { metricName: `${full}_bucket`, labels: { [label]: key, le }, value: below };
      });
      return [
        ...buckets,
        { metricName: `${full}_bucket`, labels: { [label]: key, le: '+Inf' }, value: count },
        { metricName: `${full}_sum`, labels: { [label]: key }, value: sum },
        { metricName: `${full}_count`, labels: { [label]: key }, value: count },
      ];
    }),
  });
  registry.registerMetric({ name: full, help, get, reset: () => undefined } as unknown as Metric);
}
