import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { KEY, startTestGateway, type TestGateway } from './gateway-under-test.ts';

const UPSTREAMS = ['chat', 'messages', 'responses'] as const;

/** curl as a user calls it, with the last line of a stream and of an interrupted one. */
const CURL = [
  { path: '/v1/chat/completions', field: 'messages', more: {}, end: /data: \[DONE\]$/, failed: /^data: \{"error":/ },
  {
    path: '/responses',
    field: 'input',
    more: {},
    end: /^event: response\.completed/,
    failed: /^event: response\.failed/,
  },
  {
    path: '/v1/messages',
    field: 'messages',
    more: { max_tokens: 99 },
    end: /^event: message_stop/,
    failed: /^event: error/,
  },
] as const;

async function curl(gateway: TestGateway, path: string, body: unknown): Promise<{ status: string; text: string }> {
  const { stdout } = await promisify(execFile)('curl', [
    ...['-sSN', '-w', '\n%{http_code}', gateway.url + path, '-H', `authorization: Bearer ${KEY}`],
    ...['-H', 'content-type: application/json', '-d', JSON.stringify(body)],
  ]);
  const cut = stdout.lastIndexOf('\n');
  return { status: stdout.slice(cut + 1), text: stdout.slice(0, cut).trimEnd() };
}

describe('curl', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startTestGateway();
  });
  after(() => gateway.close());

  for (const { path, field, more, end, failed } of CURL) {
    for (const up of UPSTREAMS) {
      it(`curl: ${path} over ${up}, streamed and whole, with errors before and during the stream`, async () => {
        const ask = (scenario: string, stream: boolean) => {
          const content = `Hi [[scenario:${scenario}]]`;
          return curl(gateway, path, { model: `${up}/m`, ...more, [field]: [{ role: 'user', content }], stream });
        };
        const last = (text: string) => text.split('\n\n').at(-1) ?? '';
        const streamed = await ask('text-and-tools', true);
        assert.equal(streamed.status, '200');
        assert.match(last(streamed.text), end);
        const whole = await ask('text-and-tools', false);
        assert.equal(whole.status, '200');
        const said = JSON.stringify(JSON.parse(whole.text));
        for (const part of ['Hello, wörld 👋.', 'weather', 'Oslo', 'clock']) assert.ok(said.includes(part), part);
        const early = await ask('status-429-retry-after-7', true);
        assert.deepEqual([early.status, JSON.parse(early.text).error_type], ['429', 'rate_limit_exceeded']);
        const late = await ask('reset-mid-stream', true);
        assert.equal(late.status, '200');
        assert.match(last(late.text), failed);
      });
    }
  }
});
