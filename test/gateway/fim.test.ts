import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { KEY, type UnderTest } from './gateway-under-test.ts';
import { gatewayOfManyProviders } from './many-providers.ts';

const HOLE = { model: 'mistral/codestral-x', prompt: 'const a = ', suffix: ';', max_tokens: 100, stream: true };
const piece = (content: string) =>
  `data: ${JSON.stringify({ id: 'x', choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`;

describe('code completion on its way through', () => {
  let under: UnderTest;

  before(async () => {
    under = await gatewayOfManyProviders();
  });
  after(() => under.close());
  afterEach(() => {
    under.upstream.respond(undefined);
    assert.equal(under.metrics.active, 0);
  });

  async function open(): Promise<IncomingMessage> {
    const headers = { authorization: `Bearer ${KEY}` };
    const client = httpRequest(`${under.url}/fim/completions`, { method: 'POST', headers });
    client.on('error', () => undefined);
    client.end(JSON.stringify(HOLE));
    const [response] = await once(client, 'response');
    response.on('error', () => undefined);
    return response;
  }

  it('costs nothing when it failed before its first word, streamed or not', async () => {
    const rows = under.rows().length;
    for (const stream of [true, false]) {
      const answer = await under.post('/fim/completions', { ...HOLE, stream, prompt: '[[scenario:status-500]]' });
      assert.equal(answer.status, 503, await answer.text());
    }
    assert.equal(under.rows().length, rows);
    assert.equal((await under.post('/fim/completions', { ...HOLE, stream: false })).status, 200);
    assert.equal(under.rows().length, rows + 1);
  });

  it('waits for a client that reads slowly, and ends with one that goes', async () => {
    let written = 0;
    let gone = false;
    const text = 'x'.repeat(16_000);
    under.upstream.respond(async (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const closed = once(response, 'close').then(() => {
        gone = true;
      });
      while (!gone && written < 200_000_000) {
        written += text.length;
        if (!response.write(piece(text))) await Promise.race([once(response, 'drain'), closed]);
      }
      response.end();
    });
    const rows = under.rows().length;
    const response = await open();
    response.pause();
    // The upstream is held up when it has not written for many turns.
    for (let before = -1, turns = 0; turns < 300 && written < 200_000_000; turns += 1) {
      if (written !== before) turns = 0;
      before = written;
      await new Promise(setImmediate);
    }
    assert.ok(written < 50_000_000, `${written} bytes were taken for a client that reads none`);
    assert.equal(gone, false);
    response.destroy();
    while (!gone || under.metrics.active > 0) await new Promise(setImmediate);
    const [row, ...more] = under.rows().slice(rows);
    assert.deepEqual([row?.outcome, row?.estimated, more], ['client-gone', 1, []]);
  });
});
