import { type Attributes, type HrTime, ValueType } from '@opentelemetry/api';
import { hrTime } from '@opentelemetry/core';
import { emptyResource } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  type CollectionResult,
  type DataPoint,
  DataPointType,
  type Histogram,
  type HistogramMetricData,
  type MetricProducer,
} from '@opentelemetry/sdk-metrics';
import { defined } from '../../base/json.ts';

/** Boundaries that the conventions give for tokens, and for seconds. */
const TOKENS = [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864];
const SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const FIRST_TOKEN = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];

const METRICS = {
  duration: { name: 'gen_ai.client.operation.duration', unit: 's', description: 'Duration of a request.' },
  firstToken: { name: 'gen_ai.server.time_to_first_token', unit: 's', description: 'Time to the first byte.' },
  tokens: { name: 'gen_ai.client.token.usage', unit: '{token}', description: 'Tokens of a request.' },
} as const;

/** Sets of attributes that are counted apart. Clients may name models that no list has. */
const MAX_SERIES = 2_000;

/** The values of one attempt. Times in seconds. */
interface Measured {
  readonly duration: number;
  readonly firstToken?: number | undefined;
  readonly input?: number | undefined;
  readonly output?: number | undefined;
}

/**
 * The metrics of requests to upstreams, with the names and boundaries of the conventions for generative AI. The
 * histograms of the OpenTelemetry package look up each value by all of its attributes, which takes a tenth of the CPU
 * of a request (`npm run bench:gateway -- --full`); here an attempt is looked up once.
 */
export class AttemptMetrics implements MetricProducer {
  readonly #start = hrTime();
  readonly #series = new Map<string, Series>();

  /**
   * @param key stands for the attributes, which are requested when it is new.
   * @param errorType of a failed attempt.
   */
  record(key: string, attributes: () => Attributes, errorType: string | undefined, measured: Measured): void {
    const name = errorType === undefined ? key : `${key} ${errorType}`;
    let series = this.#series.get(name);
    if (series === undefined) {
      const failed = defined({ 'error.type': errorType });
      series = this.#add(name, { ...attributes(), ...failed });
    }
    series.record(measured);
  }

  async collect(): Promise<CollectionResult> {
    const times = [this.#start, hrTime()] as const;
    const all = [...this.#series.values()];
    const metrics = [
      metricOf(
        METRICS.duration,
        all.map(({ duration }) => duration),
        times,
      ),
      metricOf(
        METRICS.firstToken,
        all.map(({ firstToken }) => firstToken),
        times,
      ),
      metricOf(
        METRICS.tokens,
        all.flatMap(({ input, output }) => [input, output]),
        times,
      ),
    ];
    const scopeMetrics = [
      { scope: { name: 'svc' }, metrics: metrics.filter(({ dataPoints }) => dataPoints.length > 0) },
    ];
    return { resourceMetrics: { resource: emptyResource(), scopeMetrics }, errors: [] };
  }

  #add(name: string, attributes: Attributes): Series {
    if (this.#series.size < MAX_SERIES) {
      const series = new Series(attributes);
      this.#series.set(name, series);
      return series;
    }
    const rest = this.#series.get('') ?? new Series({ 'otel.metric.overflow': true });
    this.#series.set('', rest);
    return rest;
  }
}

/** The values of attempts with the same attributes. */
class Series {
  readonly duration: Values;
  readonly firstToken: Values;
  readonly input: Values;
  readonly output: Values;

  constructor(attributes: Attributes) {
    this.duration = new Values(attributes, SECONDS);
    this.firstToken = new Values(attributes, FIRST_TOKEN);
    this.input = new Values({ ...attributes, 'gen_ai.token.type': 'input' }, TOKENS);
    this.output = new Values({ ...attributes, 'gen_ai.token.type': 'output' }, TOKENS);
  }

  record({ duration, firstToken, input, output }: Measured): void {
    this.duration.add(duration);
    if (firstToken !== undefined) this.firstToken.add(firstToken);
    if (input !== undefined) this.input.add(input);
    if (output !== undefined) this.output.add(output);
  }
}

/** The values of one data point since the start. */
class Values {
  readonly attributes: Attributes;
  readonly #boundaries: number[];
  readonly #counts: number[];
  #sum = 0;
  #min = Number.POSITIVE_INFINITY;
  #max = Number.NEGATIVE_INFINITY;
  count = 0;

  constructor(attributes: Attributes, boundaries: number[]) {
    this.attributes = attributes;
    this.#boundaries = boundaries;
    this.#counts = new Array(boundaries.length + 1).fill(0);
  }

  add(value: number): void {
    let bucket = 0;
    for (const boundary of this.#boundaries) {
      if (value <= boundary) break;
      bucket += 1;
    }
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#sum += value;
    this.#min = Math.min(this.#min, value);
    this.#max = Math.max(this.#max, value);
    this.count += 1;
  }

  /** Counts are copied: values may be added while they are sent. */
  snapshot(): Histogram {
    return {
      buckets: { boundaries: this.#boundaries, counts: [...this.#counts] },
      sum: this.#sum,
      count: this.count,
      min: this.#min,
      max: this.#max,
    };
  }
}

function metricOf(
  descriptor: (typeof METRICS)[keyof typeof METRICS],
  values: readonly Values[],
  [startTime, endTime]: readonly [HrTime, HrTime],
): HistogramMetricData {
  const dataPoints = values
    .filter(({ count }) => count > 0)
    .map(
      (each): DataPoint<Histogram> => ({
        startTime,
        endTime,
        attributes: each.attributes,
        value: each.snapshot(),
      }),
    );
  return {
    dataPointType: DataPointType.HISTOGRAM,
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
    descriptor: { ...descriptor, valueType: ValueType.DOUBLE },
    dataPoints,
  };
}
