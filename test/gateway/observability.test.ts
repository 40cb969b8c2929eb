import { strict as assert } from 'node:assert';
import { readFile } from 'node:fs/promises';
import { chatRequest } from './chat-request.ts';
import { KEY, providers, startTestGateway, type TestGateway } from './gateway-under-test.ts';

describe('logs and metrics of requests', () => {
  let gateway: TestGateway;

  before(async () => {
    gateway = await startTestGateway({
      config: (url) => ({
        provider: providers(url),
        gateway: { metricLabels: ['organization', 'key'], organizations: { acme: {} } },
      }),
    });
  });
  after(() => gateway.close());

  const requestLine = (id: string | null) => {
    const line = gateway.lines.findLast((each) => each.includes('"message":"request"') && each.includes(`"${id}"`));
    return JSON.parse(line ?? '{}').fields;
  };

  it('X-Request-Id: an answer has the id of the client, and the log and the ledger an id of their own', async () => {
    const own: string[] = [];
    for (let request = 0; request < 2; request += 1) {
      const response = await gateway.post('/chat/completions', chatRequest('chat/m'), { 'x-request-id': 'job-7/a.b' });
      await response.arrayBuffer();
      assert.equal(response.headers.get('x-request-id'), 'job-7/a.b');
      own.push(requestLine('job-7/a.b').id);
    }
    assert.equal(new Set(own).size, 2);
    for (const id of own) assert.match(id, /^req_[0-9a-f]{32}$/);
    assert.equal(gateway.rows().length, 2, 'both requests are counted');
  });

  it('X-Request-Id: one that can’t be sent back is replaced', async () => {
    for (const id of ['a b', '<b>', 'ä', 'x'.repeat(129), '"']) {
      const response = await gateway.get('/healthz', { 'x-request-id': Buffer.from(id).toString('latin1') });
      assert.match(response.headers.get('x-request-id') ?? '', /^req_[0-9a-f]{32}$/, id);
    }
  });

  it('log: the line of a request has its tokens, cost and times, as the ledger', async () => {
    for (const stream of [false, true]) {
      const response = await gateway.post('/chat/completions', { ...chatRequest('chat/m'), stream });
      await response.text();
      const fields = requestLine(response.headers.get('x-request-id'));
      const row = gateway.rows().at(-1);
      assert.deepEqual([fields.inputTokens, fields.outputTokens, fields.costUsd], [row?.input, row?.output, row?.cost]);
      assert.ok(
        fields.costUsd > 0 && fields.firstByteMs > 0 && fields.ms >= fields.firstByteMs,
        JSON.stringify(fields),
      );
    }
  });

  it('metrics: tokens and cost have the chosen labels, with at most 200 values each', async () => {
    for (let number = 0; number < 210; number += 1) {
      const labels = { organization: 'acme', key: `key-${number}` };
      gateway.measure('chat/m', labels, { usage: { input: 1, output: 1 }, cost: 1, firstByteSeconds: 1 });
    }
    const text = await (await gateway.get('/metrics', { authorization: `Bearer ${KEY}` })).text();
    const series = text
      .split('\n')
      .filter((line) => line.startsWith('svc_gateway_cost_usd_total{model="chat/m",organization="acme"'));
    assert.ok(series.length <= 201, `${series.length}`);
    assert.ok(series.some((line) => line.includes('key="key-0"')));
    assert.ok(series.some((line) => line.includes('key="other"')));
  });
});

describe('the dashboard for Grafana', () => {
  it('dashboard: each of its metrics is one of the gateway', async () => {
    const gateway = await startTestGateway();
    try {
      const text = await (await gateway.get('/metrics')).text();
      const dashboard = await readFile(new URL('../../docs/grafana/svc-gateway.json', import.meta.url), 'utf8');
      const used = new Set(
        [...dashboard.matchAll(/svc_gateway_[a-z_]+/g)].map(([name]) => name.replace(/_bucket$/, '')),
      );
      assert.ok(used.size > 8);
      for (const name of used) assert.ok(text.includes(`# TYPE ${name} `), name);
    } finally {
      await gateway.close();
    }
  });
});
