import assert from 'node:assert/strict';
import { startTestGateway, type TestGateway } from './gateway-under-test.ts';
import { FORMATS, UPSTREAMS } from './many-providers.ts';

/** Token counts of upstreams in the fields of each format, as JSON text, because not all are numbers. */
const USAGES = {
  'parts of a token': '1.5',
  'more than anybody has': '1e308',
  'more than a whole number holds': '9007199254740993',
  'more than a number holds': '1e999',
  negative: '-7',
  text: '"12"',
  'an object': '{"__proto__":{"a":1}}',
} as const;

describe('absurd usage', () => {
  let gateway: TestGateway;

  before(async () => {
    gateway = await startTestGateway();
  });
  after(() => gateway.close());

  /** An answer of one format whose counts are all `count`. */
  function answer(wire: string, count: string, stream: boolean): string {
    const usage =
      `{"prompt_tokens":${count},"completion_tokens":${count},"input_tokens":${count},"output_tokens":${count},
      "cache_read_input_tokens":${count},"prompt_tokens_details":{"cached_tokens":${count}}}`.replaceAll('\n', '');
    const frame = (data: string) => `data: ${data}\n\n`;
    if (wire === 'messages') {
      const whole = `{"type":"message","role":"assistant","content":[{"type":"text","text":"Hi"}],"stop_reason":"end_turn","usage":${usage}}`;
      if (!stream) return whole;
      const delta = `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":${usage}}`;
      return [`{"type":"message_start","message":${whole}}`, delta, '{"type":"message_stop"}'].map(frame).join('');
    }
    if (wire === 'responses') {
      const message = '{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Hi"}]}';
      const whole = `{"object":"response","status":"completed","output":[${message}],"usage":${usage}}`;
      return stream ? frame(`{"type":"response.completed","response":${whole}}`) : whole;
    }
    const choice = (name: string) => `{"index":0,"${name}":{"content":"Hi"},"finish_reason":"stop"}`;
    if (!stream) return `{"choices":[${choice('message')}],"usage":${usage}}`;
    return `${frame(`{"choices":[${choice('delta')}]}`)}${frame(`{"choices":[],"usage":${usage}}`)}${frame('[DONE]')}`;
  }

  for (const [what, count] of Object.entries(USAGES)) {
    it(`absurd usage: neither blocks other ledger rows nor stops budgets: ${what}`, async () => {
      gateway.upstream.respond((request, response) => {
        const stream = request.body.stream === true;
        const type = stream ? 'text/event-stream' : 'application/json';
        response.writeHead(200, { 'content-type': type }).end(answer(request.wire, count, stream));
      });
      const before = gateway.rows().length;
      let asked = 0;
      for (const { path, body } of FORMATS) {
        for (const up of UPSTREAMS) {
          for (const stream of [true, false]) {
            const response = await gateway.post(path, { model: `${up}/m`, ...body, stream });
            assert.equal(response.status, 200, `${path} over ${up}, stream ${stream}: ${await response.text()}`);
            asked += 1;
          }
        }
      }
      const rows = gateway.rows().slice(before);
      assert.deepEqual([rows.length, gateway.ledger.waiting, gateway.ledger.broken], [asked, 0, false]);
      for (const row of rows) {
        const { input, output, cost } = row;
        assert.ok(Number.isSafeInteger(input) && Number.isSafeInteger(output), JSON.stringify(row));
        assert.ok(Number(cost) >= 0 && Number(cost) < 10, JSON.stringify(row));
      }
    });
  }
});
