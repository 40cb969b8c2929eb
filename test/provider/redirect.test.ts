import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { listModels } from '../../src/provider/list-models.ts';
import { fetchTransport } from '../../src/provider/transport/fetch-transport.ts';
import type { Transport } from '../../src/provider/transport/transport.ts';
import { undiciTransport } from '../../src/provider/transport/undici-transport.ts';
import { startUpstream, type Upstream } from '../upstream/upstream.ts';
import { modelAt } from './test-model.ts';

const BODY = '{"prompt":"private"}';

/** Credentials and prompts belong to one origin, for any answer of an upstream. */
describe('redirects', () => {
  let upstream: Upstream;
  let other: Upstream;
  const undici = undiciTransport();
  const transports: readonly (readonly [string, Transport])[] = [
    ['fetch', fetchTransport(fetch)],
    ['undici', undici],
  ];
  beforeEach(async () => {
    upstream = await startUpstream();
    other = await startUpstream((_request, response) => void response.end('stolen'));
  });
  afterEach(async () => {
    await upstream.close();
    await other.close();
  });
  after(() => undici.close());

  const post = (transport: Transport, body: string | Readable = BODY) => {
    const { signal } = new AbortController();
    const headers = { authorization: 'Bearer sk-test', 'content-type': 'application/json' };
    return transport.send({ method: 'POST', url: `${upstream.url}/a`, headers, body, signal });
  };
  const to = (status: number, location: string) =>
    upstream.respond(({ path }, response) => {
      if (path === '/a') response.writeHead(status, { location }).end();
      else response.end('here');
    });

  for (const [way, transport] of transports) {
    for (const status of [301, 302, 307, 308]) {
      it(`redirect: within the origin it is followed with method, body and key: ${status} (${way})`, async () => {
        to(status, '/b');
        const answer = await post(transport);
        assert.equal(answer.status, 200);
        for await (const _ of answer.body);
        const { method, path, bytes, headers } = await upstream.request(1);
        assert.deepEqual(
          [method, path, bytes.toString(), headers.authorization],
          ['POST', '/b', BODY, 'Bearer sk-test'],
        );
      });

      it(`redirect: to another origin it is rejected: ${status} (${way})`, async () => {
        const { port } = new URL(upstream.url);
        const elsewhere = [
          `${other.url}/b`,
          other.url.replace('http:', ''),
          `http://localhost:${port}/b`,
          `https://127.0.0.1:${port}/b`,
          `http://user:word@127.0.0.1:${new URL(other.url).port}/b`,
        ];
        for (const location of elsewhere) {
          to(status, location);
          await assert.rejects(post(transport), /redirects to .*; the request was not sent there/, location);
        }
        assert.equal(other.requests.length, 0);
        assert.equal(upstream.requests.length, elsewhere.length);
      });
    }

    it(`redirect: a redirect to itself ends (${way})`, async () => {
      to(307, '/a');
      await assert.rejects(post(transport), /a redirect that can’t be followed/);
      assert.equal(upstream.requests.length, 4);
    });

    it(`redirect: an invalid or missing address is an error (${way})`, async () => {
      to(307, 'http://[');
      await assert.rejects(post(transport), /redirects to an invalid address/);
      upstream.respond((_request, response) => void response.writeHead(307).end());
      assert.equal((await post(transport)).status, 307);
      to(303, `${other.url}/b`);
      assert.equal((await post(transport)).status, 303);
      assert.equal(other.requests.length, 0);
    });

    it(`redirect: is not followed if the body was a stream that is already sent (${way})`, async () => {
      to(307, '/b');
      await assert.rejects(post(transport, Readable.from([Buffer.from(BODY)])), /the request was not sent there/);
      assert.equal(upstream.requests.length, 1);
    });

    it(`redirect: the model list is not requested from another origin (${way})`, async () => {
      upstream.respond((_request, response) => void response.writeHead(302, { location: other.url }).end());
      const options = { transport, signal: new AbortController().signal };
      await assert.rejects(listModels(modelAt(upstream.url).endpoint, options), /redirects to/);
      assert.equal(other.requests.length, 0);
    });
  }
});
