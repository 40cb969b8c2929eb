import {
  type Attributes,
  type Context,
  context as contexts,
  diag,
  type Histogram,
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
import { BasicTracerProvider, BatchSpanProcessor, ParentBasedSampler } from '@opentelemetry/sdk-trace-base';
import type { ProviderKind } from '../../catalog/model.ts';
import type { TelemetrySettings } from '../../config/settings/settings.ts';
import type { ServedModel } from '../dispatch/pipeline.ts';
import type { Log } from '../gateway-deps.ts';
import type { RequestContext } from '../http/request-context.ts';
import { BoundedSampler } from './bounded-sampler.ts';
import type { AttemptEnd, AttemptRecord, RequestRecord, Telemetry } from './telemetry.ts';

/** Milliseconds between two exports of metrics. */
const METRICS_MS = 15_000;
/** Milliseconds that an export may take, with the packages' own retries. */
const EXPORT_MS = 2_500;
/** Milliseconds that the last export may take. */
const CLOSE_MS = 3_000;
/** Milliseconds between two log lines about a collector that can't be reached. */
const COMPLAINT_MS = 60_000;
const MAX_COMPLAINT = 300;

/** Boundaries that the conventions give for tokens, and for seconds. */
const TOKENS = [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864];
const SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const FIRST_TOKEN = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];

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

  constructor({ endpoint, headers, serviceName, sample }: TelemetrySettings, log: Log) {
    diag.setLogger(complaints(log));
    const base = endpoint.replace(/\/$/, '');
    const secrets = Object.fromEntries([...headers].map(([name, { secret }]) => [name, secret.reveal()]));
    const resource = resourceFromAttributes({ 'service.name': serviceName });
    this.#traces = new BasicTracerProvider({
      resource,
      sampler: new ParentBasedSampler({ root: new BoundedSampler(sample) }),
      spanProcessors: [
        new BatchSpanProcessor(
          new OTLPTraceExporter({ url: `${base}/v1/traces`, headers: secrets, timeoutMillis: EXPORT_MS }),
        ),
      ],
    });
    this.#meters = new MeterProvider({
      resource,
      readers: [
        new PeriodicExportingMetricReader({
          exporter: new OTLPMetricExporter({ url: `${base}/v1/metrics`, headers: secrets, timeoutMillis: EXPORT_MS }),
          exportIntervalMillis: METRICS_MS,
        }),
      ],
    });
    const meter = this.#meters.getMeter('svc');
    const histogram = (name: string, unit: string, description: string, boundaries: number[]) =>
      meter.createHistogram(name, { unit, description, advice: { explicitBucketBoundaries: boundaries } });
    this.#recorder = {
      tracer: this.#traces.getTracer('svc'),
      propagator: new W3CTraceContextPropagator(),
      tokens: histogram('gen_ai.client.token.usage', '{token}', 'Tokens of a request.', TOKENS),
      duration: histogram('gen_ai.client.operation.duration', 's', 'Duration of a request.', SECONDS),
      firstToken: histogram('gen_ai.server.time_to_first_token', 's', 'Time to the first byte.', FIRST_TOKEN),
    };
  }

  begin(context: RequestContext): RequestRecord {
    return new OpenRequest(this.#recorder, context);
  }

  async close(): Promise<void> {
    const timeout = new Promise((resolve) => setTimeout(resolve, CLOSE_MS).unref());
    await Promise.race([Promise.allSettled([this.#traces.shutdown(), this.#meters.shutdown()]), timeout]);
    diag.disable();
  }
}

interface Recorder {
  readonly tracer: Tracer;
  readonly propagator: W3CTraceContextPropagator;
  readonly tokens: Histogram;
  readonly duration: Histogram;
  readonly firstToken: Histogram;
}

const HEADERS_IN = {
  get: (context: RequestContext, name: string) => context.header(name),
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
  readonly #request: RequestContext;
  readonly #context: Context;
  readonly #span: Span;

  constructor(recorder: Recorder, request: RequestContext) {
    const parent = recorder.propagator.extract(ROOT_CONTEXT, request, HEADERS_IN);
    const { method = 'GET' } = request.request;
    this.#recorder = recorder;
    this.#request = request;
    this.#span = recorder.tracer.startSpan(
      method,
      { kind: SpanKind.SERVER, attributes: { 'http.request.method': method, 'svc.request.id': request.id } },
      parent,
    );
    this.#context = trace.setSpan(parent, this.#span);
  }

  attempt(model: ServedModel): AttemptRecord {
    return new OpenAttempt(this.#recorder, this.#context, this.#request, model);
  }

  end(status: number): void {
    const { route = 'none', organization, model, key, errorType } = this.#request.logFields;
    this.#span.updateName(`${this.#request.request.method} ${route}`);
    this.#span.setAttributes({ 'http.route': route, 'http.response.status_code': status });
    this.#span.setAttributes(known({ 'svc.organization': organization, 'svc.model': model, 'svc.key': key }));
    if (errorType !== undefined) this.#span.setAttribute('error.type', errorType);
    if (status >= 500) this.#span.setStatus({ code: SpanStatusCode.ERROR });
    this.#span.end();
  }
}

/** A client span for one request to an upstream. */
class OpenAttempt implements AttemptRecord {
  readonly headers: Record<string, string> = {};
  readonly #recorder: Recorder;
  readonly #span: Span;
  readonly #attributes: Attributes;
  readonly #began = performance.now();

  constructor(recorder: Recorder, parent: Context, request: RequestContext, model: ServedModel) {
    const { endpoint } = model;
    const operation = OPERATIONS[request.logFields.route ?? ''] ?? 'chat';
    this.#recorder = recorder;
    this.#attributes = {
      'gen_ai.operation.name': operation,
      'gen_ai.provider.name': PROVIDER_NAMES[endpoint.kind] ?? model.provider,
      'gen_ai.request.model': model.id,
      ...serverOf(endpoint.baseURL),
    };
    this.#span = recorder.tracer.startSpan(
      `${operation} ${model.id}`,
      { kind: SpanKind.CLIENT, attributes: { ...this.#attributes, 'svc.model': model.ref } },
      parent,
    );
    recorder.propagator.inject(trace.setSpan(parent, this.#span), this.headers, HEADERS_OUT);
  }

  end(result: AttemptEnd): void {
    const error = 'error' in result ? result.error : result.answer?.error;
    const answer = 'error' in result ? undefined : result.answer;
    const attributes = { ...this.#attributes, ...(error ? { 'error.type': error.errorType } : {}) };
    if (error) {
      this.#span.setStatus({ code: SpanStatusCode.ERROR });
      this.#span.setAttributes(
        known({ 'error.type': error.errorType, 'http.response.status_code': error.upstreamStatus }),
      );
    }
    if (answer) {
      this.#span.setAttributes(
        known({
          'gen_ai.response.model': answer.answeredBy,
          'gen_ai.usage.input_tokens': answer.usage?.input,
          'gen_ai.usage.output_tokens': answer.usage?.output,
          'gen_ai.usage.cache_read.input_tokens': answer.usage?.cacheRead,
          'svc.outcome': answer.outcome,
        }),
      );
      this.#measure(answer);
    }
    this.#recorder.duration.record((performance.now() - this.#began) / 1000, attributes, contexts.active());
    this.#span.end();
  }

  #measure({
    usage,
    firstByteMs,
  }: {
    usage: { input: number; output: number } | undefined;
    firstByteMs: number;
  }): void {
    const { tokens, firstToken } = this.#recorder;
    if (firstByteMs > 0) firstToken.record(firstByteMs / 1000, this.#attributes);
    if (usage === undefined) return;
    tokens.record(usage.input, { ...this.#attributes, 'gen_ai.token.type': 'input' });
    tokens.record(usage.output, { ...this.#attributes, 'gen_ai.token.type': 'output' });
  }
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
