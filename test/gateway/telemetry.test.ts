import { strict as assert } from 'node:assert';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import protobuf from 'protobufjs';
import { TraceLimit } from '../../src/gateway/telemetry/trace-limit.ts';
import { startUpstream } from '../upstream/upstream.ts';
import { KEY, ServeHarness } from './serve-harness.ts';

/** The part of OTLP's schema (opentelemetry-proto, trace/v1 and metrics/v1) that the tests read. */
const SCHEMA = `
syntax = "proto3";
message AnyValue { oneof value { string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4; } }
message KeyValue { string key = 1; AnyValue value = 2; }
message Resource { repeated KeyValue attributes = 1; }
message Status { string message = 2; int32 code = 3; }
message Span {
  bytes trace_id = 1; bytes span_id = 2; string trace_state = 3; bytes parent_span_id = 4; string name = 5; int32 kind = 6;
  fixed64 start_time_unix_nano = 7; fixed64 end_time_unix_nano = 8; repeated KeyValue attributes = 9; Status status = 15;
}
message ScopeSpans { repeated Span spans = 2; }
message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
message TracesData { repeated ResourceSpans resource_spans = 1; }
message HistogramDataPoint {
  fixed64 start_time_unix_nano = 2; fixed64 time_unix_nano = 3; fixed64 count = 4; double sum = 5;
  repeated fixed64 bucket_counts = 6; repeated double explicit_bounds = 7; repeated KeyValue attributes = 9;
}
message Histogram { repeated HistogramDataPoint data_points = 1; }
message Metric { string name = 1; string unit = 3; Histogram histogram = 9; }
message ScopeMetrics { repeated Metric metrics = 2; }
message ResourceMetrics { Resource resource = 1; repeated ScopeMetrics scope_metrics = 2; }
message MetricsData { repeated ResourceMetrics resource_metrics = 1; }
`;

interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: number; readonly doubleValue?: number };
}

interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  /** 2: server, 3: client. */
  readonly kind: number;
  readonly status?: { readonly code: number };
  readonly attributes: readonly Attribute[];
}

interface Point {
  readonly attributes: readonly Attribute[];
  readonly sum: number;
  readonly count: number;
  readonly bucketCounts: readonly number[];
  readonly explicitBounds: readonly number[];
  readonly startTimeUnixNano: number;
  readonly timeUnixNano: number;
}

const { root } = protobuf.parse(SCHEMA);

function decode(type: string, bytes: Buffer) {
  const message = root.lookupType(type).decode(bytes);
  return root.lookupType(type).toObject(message, { bytes: String, longs: Number, enums: Number });
}

const attributesOf = (list: readonly Attribute[]) =>
  Object.fromEntries(list.map(({ key, value }) => [key, value.stringValue ?? value.intValue ?? value.doubleValue]));

const hex = (base64: string) => Buffer.from(base64, 'base64').toString('hex');

describe('telemetry', () => {
  it('OpenTelemetry: a receiver gets traces and metrics of requests, without their content', async () => {
    const harness = await ServeHarness.start();
    const receiver = await startUpstream((_request, response) => void response.end());
    const file = path.join(harness.folder, 'svc.jsonc');
    const options = { baseURL: `${harness.upstream.url}/v1`, apiKey: 'sk-canary-of-the-provider' };
    const broken = { baseURL: 'http://127.0.0.1:1/v1', apiKey: 'k' };
    const telemetry = { endpoint: receiver.url, headers: { 'x-key': 'telemetry-key' }, serviceName: 'our-gateway' };
    const pools = { 'team/m': { models: ['broken/m', 'up/m'], weights: [1e9, 1e-9], affinity: false } };
    await writeFile(
      file,
      JSON.stringify({
        provider: { up: { options, models: { m: {} } }, broken: { options: broken, models: { m: {} } } },
        gateway: { telemetry, pools },
      }),
    );
    try {
      const { child, url } = await harness.serve();
      const trace = '0af7651916cd43dd8448eb211c80319c';
      const response = await fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${KEY}`,
          'content-type': 'application/json',
          traceparent: `00-${trace}-b7ad6b7169203331-01`,
        },
        body: JSON.stringify({ model: 'team/m', messages: [{ role: 'user', content: 'secret-question' }] }),
      });
      assert.equal(response.status, 200, await response.text());
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      await ended;

      const spans: Span[] = [];
      const metrics = new Map<string, Point[]>();
      const names = new Set<unknown>();
      for (const { path: at, bytes, headers } of receiver.requests) {
        assert.equal(headers['content-type'], 'application/x-protobuf');
        assert.equal(headers['x-key'], 'telemetry-key');
        const text = bytes.toString('latin1');
        for (const secret of ['secret-question', 'sk-canary', KEY]) assert.ok(!text.includes(secret), secret);
        if (at === '/v1/traces') {
          for (const { resource, scopeSpans } of decode('TracesData', bytes).resourceSpans) {
            names.add(attributesOf(resource.attributes)['service.name']);
            for (const scope of scopeSpans) spans.push(...scope.spans);
          }
        } else if (at === '/v1/metrics') {
          for (const { scopeMetrics } of decode('MetricsData', bytes).resourceMetrics) {
            for (const metric of scopeMetrics[0].metrics) metrics.set(metric.name, metric.histogram.dataPoints);
          }
        } else assert.fail(at);
      }

      assert.deepEqual([...names], ['our-gateway']);
      const server = spans.find(({ kind }) => kind === 2);
      assert.equal(server?.name, 'POST /chat/completions');
      assert.equal(hex(server?.traceId ?? ''), trace);
      assert.equal(hex(server?.parentSpanId ?? ''), 'b7ad6b7169203331');
      assert.equal(attributesOf(server?.attributes ?? [])['http.response.status_code'], 200);

      const attempts = spans.filter(({ kind }) => kind === 3);
      assert.deepEqual(
        attempts.map(({ parentSpanId }) => parentSpanId),
        [server?.spanId, server?.spanId],
      );
      const [failed, answered] = attempts;
      assert.equal(attributesOf(failed?.attributes ?? [])['error.type'], 'network_error');
      assert.equal(failed?.status?.code, 2);
      assert.equal(answered?.name, 'chat m');
      const found = attributesOf(answered?.attributes ?? []);
      assert.deepEqual(
        {
          operation: found['gen_ai.operation.name'],
          provider: found['gen_ai.provider.name'],
          model: found['gen_ai.request.model'],
          input: found['gen_ai.usage.input_tokens'],
          output: found['gen_ai.usage.output_tokens'],
        },
        { operation: 'chat', provider: 'up', model: 'm', input: 11, output: 7 },
      );
      const sent = harness.upstream.requests.find(({ method }) => method === 'POST')?.headers.traceparent;
      assert.equal(sent, `00-${trace}-${hex(answered?.spanId ?? '')}-01`);

      const tokens = metrics
        .get('gen_ai.client.token.usage')
        ?.map(({ attributes, sum }) => [attributesOf(attributes)['gen_ai.token.type'], sum]);
      assert.deepEqual(tokens, [
        ['input', 11],
        ['output', 7],
      ]);
      for (const point of metrics.get('gen_ai.client.token.usage') ?? []) {
        // 7 and 11 are more than 4 and at most 16.
        assert.equal(
          point.explicitBounds.findIndex((bound) => bound >= point.sum),
          2,
        );
        assert.deepEqual(point.bucketCounts.slice(0, 4), [0, 0, 1, 0]);
        assert.equal(point.bucketCounts.length, point.explicitBounds.length + 1);
        assert.equal(Number(point.count), 1);
        assert.ok(Number(point.timeUnixNano) > Number(point.startTimeUnixNano));
      }
      const durations = metrics.get('gen_ai.client.operation.duration')?.map((each) => attributesOf(each.attributes));
      assert.deepEqual(
        durations?.map((each) => [each['server.port'] === 1, each['error.type']]),
        [
          [true, 'network_error'],
          [false, undefined],
        ],
      );
      assert.ok(metrics.has('gen_ai.server.time_to_first_token'));
    } finally {
      await harness.close();
      await receiver.close();
    }
  });

  it('OpenTelemetry: a receiver that can’t be reached delays no request, and its key is not logged', async () => {
    const harness = await ServeHarness.start();
    await harness.configure(
      { m: {} },
      { telemetry: { endpoint: 'http://127.0.0.1:1', headers: { authorization: 'Bearer telemetry-canary' } } },
    );
    try {
      const { child, url, logged } = await harness.serve();
      let log = '';
      child.stderr?.on('data', (chunk) => {
        log += chunk;
      });
      const response = await fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'up/m', messages: [{ role: 'user', content: 'Hi' }] }),
      });
      assert.equal(response.status, 200);
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      await logged('telemetry could not be sent');
      assert.equal(await ended, 0);
      assert.ok(!log.includes('telemetry-canary'));
    } finally {
      await harness.close();
    }
  });

  it('OpenTelemetry: at most 200 traces a second are recorded, of the configured share', () => {
    const recordedOf = (share: number, traces: number) => {
      const limit = new TraceLimit(share);
      return Array.from({ length: traces }, () => limit.take()).filter(Boolean).length;
    };
    assert.equal(recordedOf(1, 200), 200);
    // A new second may begin meanwhile.
    const many = recordedOf(1, 5_000);
    assert.ok(many >= 200 && many <= 400, String(many));
    assert.equal(recordedOf(0, 100), 0);
  });
});
