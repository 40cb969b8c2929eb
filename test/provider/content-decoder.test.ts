import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { brotliCompressSync, createBrotliCompress, createDeflate, createGzip, deflateSync, gzipSync } from 'node:zlib';
import { converse } from '../../src/provider/converse.ts';
import { fetchTransport } from '../../src/provider/transport/fetch-transport.ts';
import { undiciTransport } from '../../src/provider/transport/undici-transport.ts';
import { foldEvents } from '../../src/wire/fold.ts';
import { streamFrames, wholeBody } from '../upstream/answers.ts';
import { startUpstream, type Upstream } from '../upstream/upstream.ts';
import { ask, modelAt } from './test-model.ts';

const SCRIPT = { text: ['Hello', ', wörld ', '👋.'] };
const SAID = 'Hello, wörld 👋.';
const FRAMES = streamFrames('chat', SCRIPT).map((frame) => `${frame}\n\n`);
const WHOLE = JSON.stringify(wholeBody('chat', SCRIPT));
/** Few bytes that decode to more than the limit of an answer. */
const BOMB = gzipSync(
  Buffer.concat([
    Buffer.from('{"x":"'),
    Buffer.alloc(80 * 1024 * 1024, 'x'),
    Buffer.from('","error":{"message":"Too far behind."}}'),
  ]),
  { level: 1 },
);

const CODINGS = {
  gzip: { stream: () => createGzip(), whole: gzipSync },
  'x-gzip': { stream: () => createGzip(), whole: gzipSync },
  GZIP: { stream: () => createGzip(), whole: gzipSync },
  deflate: { stream: () => createDeflate(), whole: deflateSync },
  br: { stream: () => createBrotliCompress(), whole: brotliCompressSync },
} as const;

/** An upstream may compress an answer without a request for it. */
describe('compressed answers of a provider', () => {
  let upstream: Upstream;
  const undici = undiciTransport();
  const transports = { fetch: fetchTransport(fetch), undici };
  before(async () => {
    upstream = await startUpstream();
  });
  after(async () => {
    await undici.close();
    await upstream.close();
  });

  async function run(way: keyof typeof transports, stream = true, shown?: (text: string) => void) {
    const options = { transport: transports[way], signal: new AbortController().signal, retry: { limit: 0 } };
    const events = [];
    for await (const event of converse(modelAt(`${upstream.url}/v1`), ask('Hi', { stream }), options)) {
      if (event.type === 'text') shown?.(event.text);
      events.push(event);
    }
    const answer = foldEvents(events);
    return { ...answer, text: answer.parts.map((part) => (part.type === 'text' ? part.text : '')).join('') };
  }
  const head = (response: ServerResponse, encoding: string, type = 'text/event-stream', status = 200) =>
    response.writeHead(status, { 'content-type': type, 'content-encoding': encoding });

  for (const way of ['fetch', 'undici'] as const) {
    for (const [encoding, { stream, whole }] of Object.entries(CODINGS)) {
      it(`content decoder: decodes each flushed frame of ${encoding} (${way})`, async () => {
        const shown = Promise.withResolvers<void>();
        upstream.respond(async (_request, response) => {
          const zip = stream();
          zip.pipe(head(response, encoding));
          for (const frame of FRAMES.slice(0, 3)) zip.write(frame);
          zip.flush(() => undefined);
          // The rest is sent after the flushed part was read.
          await shown.promise;
          zip.end(FRAMES.slice(3).join(''));
        });
        const seen = await run(way, true, () => shown.resolve());
        assert.deepEqual([seen.text, seen.finish], [SAID, 'stop']);
        upstream.respond((_request, response) => void head(response, encoding, 'application/json').end(whole(WHOLE)));
        assert.equal((await run(way, false)).text, SAID);
      });
    }

    it(`content decoder: reports an incomplete or damaged answer (${way})`, async () => {
      const bytes = gzipSync(FRAMES.slice(0, 3).join(''));
      for (const damaged of [bytes.subarray(0, -8), Buffer.concat([bytes.subarray(0, 10), Buffer.alloc(50, 0xff)])]) {
        upstream.respond((_request, response) => void head(response, 'gzip').end(damaged));
        const { error, finish } = await run(way);
        // `fetch` treats the end of the connection as the end of the compressed bytes; the answer is still cut off.
        assert.equal(error?.errorType ?? finish, way === 'fetch' && !error ? 'closed' : 'upstream_disconnect');
      }
    });

    it(`content decoder: does not wait for the rest if the connection breaks (${way})`, async () => {
      let breakOff = () => undefined as unknown;
      upstream.respond((_request, response) => {
        const zip = createGzip();
        zip.pipe(head(response, 'gzip'));
        zip.write(FRAMES.slice(0, 3).join(''));
        zip.flush(() => undefined);
        breakOff = () => response.socket?.resetAndDestroy();
      });
      const { text, error } = await run(way, true, () => void breakOff());
      assert.match(text, /^Hello/);
      assert.equal(error?.errorType, 'upstream_disconnect');
    });

    it(`content decoder: limits apply to decoded bytes (${way})`, async () => {
      upstream.respond((_request, response) => void head(response, 'gzip', 'application/json').end(BOMB));
      const answer = await run(way, false);
      assert.match(answer.error?.message ?? '', /larger than 64 MB/);
      upstream.respond((_request, response) => void head(response, 'gzip', 'text/event-stream').end(BOMB));
      assert.match((await run(way)).error?.message ?? '', /larger than 64 MB|not JSON/);
      upstream.respond((_request, response) => void head(response, 'gzip', 'application/json', 400).end(BOMB));
      const refused = await run(way, false);
      assert.equal(refused.error?.errorType, 'invalid_request');
      assert.doesNotMatch(refused.error?.message ?? '', /Too far behind/);
    });
  }

  it('content decoder: rejects unknown encodings (undici)', async () => {
    for (const encoding of ['compress', 'gzip, br']) {
      upstream.respond((_request, response) => void head(response, encoding).end(FRAMES.join('')));
      const { error, text } = await run('undici');
      assert.deepEqual([error?.errorType, text], ['upstream_invalid_response', '']);
      assert.match(error?.message ?? '', new RegExp(`encoding ${encoding}`));
    }
    upstream.respond((_request, response) => void head(response, 'identity').end(FRAMES.join('')));
    assert.equal((await run('undici')).text, SAID);
  });
});
