import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage, ServerResponse } from 'node:http';
import { brotliCompressSync, createBrotliCompress, createDeflate, createGzip, deflateSync, gzipSync } from 'node:zlib';
import { streamFrames, type Wire, wholeBody } from '../upstream/answers.ts';
import { KEY, startTestGateway, type TestGateway } from './gateway-under-test.ts';

const UPSTREAMS = ['chat', 'messages', 'responses'] as const;
const SCRIPT = { text: ['Hello', ', wörld ', '👋.'] };
const framesOf = (wire: Wire) => streamFrames(wire, SCRIPT).map((frame) => `${frame}\n\n`);
const begun = (wire: Wire) => framesOf(wire).findIndex((frame) => frame.includes('wörld')) + 1;

const CODINGS = {
  gzip: { stream: () => createGzip(), whole: gzipSync },
  deflate: { stream: () => createDeflate(), whole: deflateSync },
  br: { stream: () => createBrotliCompress(), whole: brotliCompressSync },
} as const;

/** An upstream may compress an answer without a request for it. */
describe('compressed answers', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startTestGateway();
  });
  after(() => gateway.close());

  const send = (model: string, stream: boolean) =>
    gateway.post('/chat/completions', { model, stream, messages: [{ role: 'user', content: 'Hi' }] });
  const head = (response: ServerResponse, encoding: string, type = 'text/event-stream', status = 200) =>
    response.writeHead(status, { 'content-type': type, 'content-encoding': encoding });
  const typeOf = (text: string) => JSON.parse(text).error_type;

  for (const up of UPSTREAMS) {
    it(`compressed answer: the client receives everything up to a broken connection of a ${up} upstream`, async () => {
      gateway.upstream.respond(({ wire }, response) => {
        const zip = createGzip();
        const bytes: Buffer[] = [];
        zip.on('data', (chunk) => bytes.push(chunk));
        zip.write(framesOf(wire).slice(0, begun(wire)).join(''));
        zip.flush(() => {
          response.socket?.cork();
          head(response, 'gzip').write(Buffer.concat(bytes));
          response.socket?.write('no chunk\r\n');
          response.socket?.uncork();
        });
      });
      const answer = await send(`${up}/m`, true);
      const text = await answer.text();
      assert.equal(answer.status, 200, text);
      assert.match(text, /wörld[\s\S]*"upstream_disconnect"/);
    });

    for (const [encoding, { stream, whole }] of Object.entries(CODINGS)) {
      it(`compressed answer: the client receives each flushed frame decoded: ${encoding} of ${up}`, async () => {
        const shown = Promise.withResolvers<void>();
        gateway.upstream.respond(async ({ wire }, response) => {
          const zip = stream();
          zip.pipe(head(response, encoding));
          for (const frame of framesOf(wire).slice(0, begun(wire))) zip.write(frame);
          zip.flush(() => undefined);
          // The rest is sent after the flushed part was read.
          await shown.promise;
          zip.end(framesOf(wire).slice(begun(wire)).join(''));
        });
        const answer = await send(`${up}/m`, true);
        assert.equal(answer.headers.get('content-encoding'), null);
        let text = '';
        for await (const bytes of answer.body ?? []) {
          text += Buffer.from(bytes).toString();
          if (text.includes('wörld')) shown.resolve();
        }
        assert.match(text, /👋[\s\S]*\[DONE\]/);
        gateway.upstream.respond(({ wire }, response) => {
          head(response, encoding, 'application/json').end(whole(JSON.stringify(wholeBody(wire, SCRIPT))));
        });
        assert.match(await (await send(`${up}/m`, false)).text(), /Hello, wörld 👋\./);
      });
    }

    it(`compressed answer: damaged, cut off or unreadable ones are errors (${up})`, async () => {
      gateway.upstream.respond((_request, response) => void head(response, 'zstd', 'application/json').end('?'));
      for (const stream of [true, false]) {
        const answer = await send(`${up}/m`, stream);
        const text = await answer.text();
        assert.deepEqual([answer.status, typeOf(text)], [503, 'upstream_invalid_response']);
        assert.match(text, /the encoding zstd/);
      }
      gateway.upstream.respond(({ wire }, response) => {
        head(response, 'gzip', 'application/json').end(
          gzipSync(JSON.stringify(wholeBody(wire, SCRIPT))).subarray(0, -9),
        );
      });
      const cut = await send(`${up}/m`, false);
      assert.deepEqual([cut.status, typeOf(await cut.text())], [503, 'upstream_disconnect']);
      gateway.upstream.respond(({ wire }, response) => {
        const zip = gzipSync(framesOf(wire).slice(0, begun(wire)).join(''));
        head(response, 'gzip').end(zip.subarray(0, -8));
      });
      const text = await (await send(`${up}/m`, true)).text();
      assert.match(text, /wörld[\s\S]*"error":\{/);
      assert.ok(!text.includes('[DONE]'));
    });
  }

  it('stream without a content type: is recognised, also after blank lines', async () => {
    gateway.upstream.respond(async ({ wire }, response) => {
      response.writeHead(200).write('\n\n');
      await new Promise(setImmediate);
      response.end(framesOf(wire).join(''));
    });
    const text = await (await send('chat/m', true)).text();
    assert.match(text, /wörld[\s\S]*\[DONE\]/);
  });

  it('duplicate content type: the first one is used', async () => {
    gateway.upstream.respond(({ wire }, response) => {
      response.writeHead(200, ['content-type', 'text/event-stream', 'content-type', 'application/json']);
      response.end(framesOf(wire).join(''));
    });
    assert.match(await (await send('chat/m', true)).text(), /👋[\s\S]*\[DONE\]/);
  });

  it('compressed answer: one that decodes to too many bytes is rejected, also in an error', async () => {
    const parts = ['{"x":"', 'x'.repeat(80 * 1024 * 1024), '","error":{"message":"Too far behind."}}'];
    const bomb = gzipSync(parts.join(''), { level: 1 });
    gateway.upstream.respond((_request, response) => void head(response, 'gzip', 'application/json').end(bomb));
    const answer = await send('chat/m', false);
    assert.equal(answer.status, 503);
    assert.match(await answer.text(), /answer is larger than 64 MB/);
    gateway.upstream.respond((_request, response) => void head(response, 'gzip', 'application/json', 400).end(bomb));
    const refused = await send('chat/m', false);
    const text = await refused.text();
    assert.deepEqual([refused.status, typeOf(text)], [400, 'invalid_request']);
    assert.doesNotMatch(text, /Too far behind/);
  });

  it('compressed answer: decoding pauses for a slow client', async () => {
    const frame = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: ' '.repeat(100_000) } }] })}\n\n`;
    const many = gzipSync(frame.repeat(600));
    const sent = Promise.withResolvers<void>();
    gateway.upstream.respond((_request, response) => void head(response, 'gzip').end(many, () => sent.resolve()));
    let slow: ServerResponse | undefined;
    const note = (message: unknown) => {
      const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
      if (request.headers['x-slow'] !== undefined && response instanceof ServerResponse) slow = response;
    };
    subscribe('http.server.request.start', note);
    try {
      const asked = httpRequest(`${gateway.url}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${KEY}`, 'x-slow': '1' },
      });
      asked.end(JSON.stringify({ model: 'chat/m', stream: true, messages: [{ role: 'user', content: 'Hi' }] }));
      const [answer]: IncomingMessage[] = await once(asked, 'response');
      await sent.promise;
      // The client does not read: wait until the buffer has not grown for many turns of the event loop.
      let held = -1;
      for (let same = 0; same < 5_000; ) {
        await new Promise(setImmediate);
        const now = slow?.writableLength ?? 0;
        same = now === held ? same + 1 : 0;
        held = now;
      }
      assert.ok(held < 8 * 1024 * 1024, `${held} bytes are held`);
      let length = 0;
      for await (const bytes of answer ?? []) length += bytes.length;
      assert.ok(length > 600 * 100_000, `${length}`);
    } finally {
      unsubscribe('http.server.request.start', note);
    }
  });
});
