import {
  type Attributes,
  type Context,
  diag,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import {
  AlwaysOnSampler,
  BasicTracerProvider,
  BatchSpanProcessor,
  ParentBasedSampler,
} from '@opentelemetry/sdk-trace-base';
import type { ProviderKind } from '../../catalog/model.ts';
import type { TelemetrySettings } from '../../config/settings/settings.ts';
import type { SvcError } from '../../wire/errors/svc-error.ts';
import type { Log } from '../accounting/log.ts';
import type { ServedModel } from '../dispatch/models.ts';
import type { RelayedAnswer } from '../relay/relay-request.ts';
import { AttemptMetrics } from './attempt-metrics.ts';
import type { AttemptEnd, AttemptRecord, RecordedRequest, RequestRecord, Telemetry } from './telemetry.ts';
import { TraceLimit } from './trace-limit.ts';

/** Milliseconds between two exports of metrics. */
const METRICS_MS = 15_000;
/** Milliseconds that an export may take, with the packages' own retries. */
const EXPORT_MS = 2_500;
/** Milliseconds that the last export may take. */
const CLOSE_MS = 3_000;
/** Milliseconds between two log lines about a collector that can't be reached. */
const COMPLAINT_MS = 60_000;
const MAX_COMPLAINT = 300;

/** `gen_ai.provider.name` by kind; other providers have their own id. */
const PROVIDER_NAMES: Partial<Record<ProviderKind, string>> = {
  openai: 'openai',
  anthropic: 'anthropic',
  azure: 'azure.ai.openai',
  mistral: 'mistral_ai',
  deepseek: 'deepseek',
};

/** `gen_ai.operation.name` by route; all others are `chat`. */
const OPERATIONS: Readonly<Record<string, string>> = {
  '/embeddings': 'embeddings',
  '/fim/completions': 'text_completion',
  '/edit/completions': 'text_completion',
};

/** OpenTelemetry over OTLP/HTTP with protobuf, from the official packages. */
export class OpenTelemetry implements Telemetry {
  readonly #traces: BasicTracerProvider;
  readonly #meters: MeterProvider;
  readonly #recorder: Recorder;

  /** @param permits whether data may be sent now. What may not is left out. */
  constructor({ endpoint, headers, serviceName, sample }: TelemetrySettings, log: Log, permits: () => boolean) {
    diag.setLogger(complaints(log));
    const base = endpoint.replace(/\/$/, '');
    const secrets = Object.fromEntries([...headers].map(([name, { secret }]) => [name, secret.reveal()]));
    const resource = resourceFromAttributes({ 'service.name': serviceName });
    this.#traces = new BasicTracerProvider({
      resource,
      sampler: new ParentBasedSampler({ root: new AlwaysOnSampler() }),
      spanProcessors: [
        new BatchSpanProcessor(
          guarded(
            new OTLPTraceExporter({ url: `${base}/v1/traces`, headers: secrets, timeoutMillis: EXPORT_MS }),
            permits,
          ),
        ),
      ],
    });
    const metrics = new AttemptMetrics();
    this.#meters = new MeterProvider({
      resource,
      readers: [
        new PeriodicExportingMetricReader({
          exporter: guarded(
            new OTLPMetricExporter({ url: `${base}/v1/metrics`, headers: secrets, timeoutMillis: EXPORT_MS }),
            permits,
          ),
          exportIntervalMillis: METRICS_MS,
          metricProducers: [metrics],
        }),
      ],
    });
    this.#recorder = {
      tracer: this.#traces.getTracer('svc'),
      propagator: new W3CTraceContextPropagator(),
      limit: new TraceLimit(sample),
      metrics,
    };
  }

  begin(request: RecordedRequest): RequestRecord {
    return new OpenRequest(this.#recorder, request);
  }

  async close(): Promise<void> {
    const timeout = new Promise<'late'>((resolve) => setTimeout(resolve, CLOSE_MS, 'late').unref());
    const ended = await Promise.race([Promise.allSettled([this.#traces.shutdown(), this.#meters.shutdown()]), timeout]);
    if (ended === 'late') diag.error('The last part was not sent before the end.');
    diag.disable();
  }
}

interface Exporter<T> {
  export(items: T, done: (result: { code: number }) => void): void;
}

function guarded<T, E extends Exporter<T>>(exporter: E & Exporter<T>, permits: () => boolean): E {
  const send = exporter.export.bind(exporter);
  exporter.export = (items, done) => (permits() ? send(items, done) : done({ code: 0 }));
  return exporter;
}

interface Recorder {
  readonly tracer: Tracer;
  readonly propagator: W3CTraceContextPropagator;
  readonly limit: TraceLimit;
  readonly metrics: AttemptMetrics;
}

const HEADERS_IN = {
  get: (request: RecordedRequest, name: string) => request.header(name),
  keys: () => ['traceparent', 'tracestate'],
};
const HEADERS_OUT = {
  set: (headers: Record<string, string>, name: string, value: string) => {
    headers[name] = value;
  },
};

/** A server span for the request of a client, below the span that its `traceparent` names. */
class OpenRequest implements RequestRecord {
  readonly #recorder: Recorder;
  readonly #request: RecordedRequest;
  /** Absent: the request is not traced. */
  readonly #traced: Traced | undefined;

  constructor(recorder: Recorder, request: RecordedRequest) {
    this.#recorder = recorder;
    this.#request = request;
    const named = request.header('traceparent') !== undefined;
    const parent = named ? recorder.propagator.extract(ROOT_CONTEXT, request, HEADERS_IN) : ROOT_CONTEXT;
    if (trace.getSpanContext(parent) === undefined && !recorder.limit.take()) return;
    const { method = 'GET' } = request.request;
    const attributes = { 'http.request.method': method, 'svc.request.id': request.id };
    const span = recorder.tracer.startSpan(method, { kind: SpanKind.SERVER, attributes }, parent);
    this.#traced = { span, context: trace.setSpan(parent, span) };
  }

  attempt(model: ServedModel): AttemptRecord {
    return new OpenAttempt(this.#recorder, this.#traced?.context, this.#request, model);
  }

  end(status: number): void {
    if (this.#traced === undefined) return;
    const { span } = this.#traced;
    const { route = 'none', organization, model, key, errorType } = this.#request.logFields;
    span.updateName(`${this.#request.request.method} ${route}`);
    span.setAttributes({ 'http.route': route, 'http.response.status_code': status });
    span.setAttributes(known({ 'svc.organization': organization, 'svc.model': model, 'svc.key': key }));
    if (errorType !== undefined) span.setAttribute('error.type', errorType);
    if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end();
  }
}

interface Traced {
  readonly span: Span;
  readonly context: Context;
}

/** A client span for one request to an upstream, if it is traced, and its metrics. */
class OpenAttempt implements AttemptRecord {
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly #metrics: AttemptMetrics;
  readonly #span: Span | undefined;
  readonly #operation: string;
  readonly #model: ServedModel;
  readonly #began = performance.now();

  /** @param parent absent: not traced. */
  constructor(recorder: Recorder, parent: Context | undefined, request: RecordedRequest, model: ServedModel) {
    this.#metrics = recorder.metrics;
    this.#operation = OPERATIONS[request.logFields.route ?? ''] ?? 'chat';
    this.#model = model;
    if (parent === undefined) return;
    this.#span = recorder.tracer.startSpan(
      `${this.#operation} ${model.id}`,
      { kind: SpanKind.CLIENT, attributes: { ...attributesOf(this.#operation, model), 'svc.model': model.ref } },
      parent,
    );
    const headers: Record<string, string> = {};
    recorder.propagator.inject(trace.setSpan(parent, this.#span), headers, HEADERS_OUT);
    this.headers = headers;
  }

  end(result: AttemptEnd): void {
    const error = 'error' in result ? result.error : result.answer?.error;
    const answer = 'error' in result ? undefined : result.answer;
    if (this.#span !== undefined) endSpan(this.#span, error, answer);
    const key = `${this.#operation} ${this.#model.ref}`;
    this.#metrics.record(key, () => attributesOf(this.#operation, this.#model), error?.errorType, {
      duration: (performance.now() - this.#began) / 1000,
      firstToken: answer !== undefined && answer.firstByteMs > 0 ? answer.firstByteMs / 1000 : undefined,
      input: answer?.usage?.input,
      output: answer?.usage?.output,
    });
  }
}

function endSpan(span: Span, error: SvcError | undefined, answer: RelayedAnswer | undefined): void {
  if (error) {
    span.setStatus({ code: SpanStatusCode.ERROR });
    span.setAttributes(known({ 'error.type': error.errorType, 'http.response.status_code': error.upstreamStatus }));
  }
  if (answer) {
    span.setAttributes(
      known({
        'gen_ai.response.model': answer.answeredBy,
        'gen_ai.usage.input_tokens': answer.usage?.input,
        'gen_ai.usage.output_tokens': answer.usage?.output,
        'gen_ai.usage.cache_read.input_tokens': answer.usage?.cacheRead,
        'svc.outcome': answer.outcome,
      }),
    );
  }
  span.end();
}

function attributesOf(operation: string, { endpoint, provider, id }: ServedModel): Attributes {
  return {
    'gen_ai.operation.name': operation,
    'gen_ai.provider.name': PROVIDER_NAMES[endpoint.kind] ?? provider,
    'gen_ai.request.model': id,
    ...serverOf(endpoint.baseURL),
  };
}

/** Attributes without those that are undefined. */
function known(attributes: Readonly<Record<string, string | number | undefined>>): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));
}

const SERVERS = new Map<string, Attributes>();

function serverOf(baseURL: string | undefined): Attributes {
  if (baseURL === undefined) return {};
  let attributes = SERVERS.get(baseURL);
  if (attributes === undefined) {
    const { hostname, port, protocol } = new URL(baseURL);
    attributes = { 'server.address': hostname, 'server.port': Number(port) || (protocol === 'http:' ? 80 : 443) };
    SERVERS.set(baseURL, attributes);
  }
  return attributes;
}

/** Messages of the packages as log lines, at most one a minute, because each export may fail. */
function complaints(log: Log) {
  let last = Number.NEGATIVE_INFINITY;
  const complain = (message: string) => {
    if (performance.now() - last < COMPLAINT_MS) return;
    last = performance.now();
    log.warn({ error: message.slice(0, MAX_COMPLAINT) }, 'telemetry could not be sent');
  };
  const nothing = () => undefined;
  return { error: complain, warn: complain, info: nothing, debug: nothing, verbose: nothing };
}
