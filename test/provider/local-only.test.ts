import assert from 'node:assert/strict';
import type { LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { converse } from '../../src/provider/converse.ts';
import { localConnector, permittedAddresses } from '../../src/provider/transport/local-only.ts';
import { Agent } from '../../src/provider/transport/undici.ts';
import { undiciTransport } from '../../src/provider/transport/undici-transport.ts';
import { SvcError } from '../../src/wire/errors/svc-error.ts';
import { svc } from '../cli/run-svc.ts';
import { ProjectFolder } from '../config/project-folder.ts';
import { startUpstream, type Upstream } from '../upstream/upstream.ts';
import { ask, modelAt } from './test-model.ts';

/** Addresses for documentation (RFC 5737, RFC 3849): nobody answers there. */
const FAR = ['203.0.113.7', '198.51.100.1', '[2001:db8::1]', '[::ffff:203.0.113.7]', '10.1.2.3', '192.168.1.1'];

describe('localOnly', () => {
  let upstream: Upstream;
  beforeEach(async () => {
    upstream = await startUpstream();
  });
  afterEach(() => upstream.close());

  async function failure(url: string, transport = undiciTransport({ env: {}, localOnly: { networks: [] } })) {
    try {
      const { signal } = new AbortController();
      const response = await transport.send({ method: 'POST', url, headers: {}, body: '{}', signal });
      for await (const _ of response.body);
      return undefined;
    } catch (thrown) {
      return thrown;
    } finally {
      await transport.close();
    }
  }

  it('localOnly: permits this machine and the networks, in any notation', () => {
    const permits = permittedAddresses({ networks: ['10.0.0.0/8', 'fd00::/8', '192.168.1.5', '10.0.0.0/99', 'x'] });
    const cases = {
      '127.0.0.1': true,
      '127.9.9.9': true,
      '::1': true,
      '[::1]': true,
      '::ffff:127.0.0.1': true,
      '10.200.0.1': true,
      '::ffff:10.0.0.1': true,
      'fd12::1': true,
      '192.168.1.5': true,
      '192.168.1.6': false,
      '11.0.0.1': false,
      'fe80::1%eth0': false,
      '8.8.8.8': false,
      '::ffff:8.8.8.8': false,
      '2001:4860:4860::8888': false,
      localhost: false,
    };
    assert.deepEqual(Object.fromEntries(Object.keys(cases).map((each) => [each, permits(each)])), cases);
  });

  it('localOnly: a request to this machine is sent, one to any other address is refused by name', async () => {
    assert.equal(await failure(`${upstream.url}/v1/chat/completions`), undefined);
    assert.equal(await failure(`${upstream.url.replace('127.0.0.1', 'localhost')}/v1/chat/completions`), undefined);
    for (const host of FAR) {
      const error = await failure(`http://${host}:9/v1`);
      assert.ok(error instanceof SvcError, String(error));
      assert.equal(error.errorType, 'permission_denied');
      assert.match(error.message, /`localOnly`/);
      assert.equal(error.retryable, false);
    }
    assert.equal(upstream.requests.length, 2);
  });

  it('localOnly: a change applies to the next request, without a new transport', async () => {
    const transport = undiciTransport({ env: {} });
    const { signal } = new AbortController();
    const send = (url: string) => transport.send({ method: 'POST', url, headers: {}, body: '{}', signal });
    transport.restrict({ networks: [] });
    await assert.rejects(send('http://203.0.113.7:9/'), /localOnly/);
    transport.restrict({ networks: ['127.0.0.0/8'] });
    const response = await send(`${upstream.url}/v1/chat/completions`);
    for await (const _ of response.body);
    transport.restrict(undefined);
    const again = await send(`${upstream.url}/v1/chat/completions`);
    for await (const _ of again.body);
    assert.equal(upstream.requests.length, 2);
    await transport.close();
  });

  it('localOnly: of a name, only permitted addresses are used, and it is looked up once', async () => {
    const seen: string[] = [];
    const answers: LookupAddress[][] = [
      [
        { address: '203.0.113.7', family: 4 },
        { address: '127.0.0.1', family: 4 },
      ],
      // A name that changes its address between two requests.
      [{ address: '203.0.113.7', family: 4 }],
    ];
    const connect = localConnector({ networks: [] }, 1000, (host, _options, done) => {
      seen.push(host);
      done(null, answers.shift() ?? []);
    });
    const agent = new Agent({ connect, keepAliveTimeout: 1 });
    const { port } = new URL(upstream.url);
    for (let at = 0; at < 3; at++) {
      const { body } = await agent.request({
        origin: `http://models.test:${port}`,
        path: '/v1/models',
        method: 'GET',
        headers: { connection: 'close' },
      });
      await body.dump();
    }
    assert.deepEqual(seen, ['models.test']);
    await assert.rejects(
      agent.request({ origin: `http://outside.test:${port}`, path: '/', method: 'GET' }),
      (error: unknown) => error instanceof SvcError && error.message.includes('localOnly'),
    );
    await agent.close();
  });

  it('localOnly: no proxy gets a request, also one on this machine', async () => {
    const seen: string[] = [];
    const proxy = createServer((request, response) => {
      seen.push(`${request.url}`);
      response.end('{}');
    });
    proxy.on('connect', (request, socket) => {
      seen.push(`${request.url}`);
      socket.destroy();
    });
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const env = { HTTP_PROXY: address, HTTPS_PROXY: address };
    for (const url of ['http://203.0.113.7/v1', 'https://203.0.113.7/v1']) {
      const error = await failure(url, undiciTransport({ env, localOnly: { networks: [] } }));
      assert.match(String(error), /localOnly/);
    }
    assert.deepEqual(seen, []);
    proxy.close();
  });

  it('localOnly: a redirect to another host is not followed', async () => {
    upstream.respond((_request, response) => void response.writeHead(307, { location: 'http://203.0.113.7/' }).end());
    assert.match(String(await failure(`${upstream.url}/v1`)), /redirects/);
  });

  it('localOnly: `fetch` of the transport, for the catalog and webhooks, is refused too', async () => {
    const transport = undiciTransport({ env: {}, localOnly: { networks: [] } });
    await assert.rejects(transport.fetch('http://203.0.113.7/hook'), (error: unknown) =>
      String(objectCause(error)).includes('localOnly'),
    );
    await transport.close();
  });

  it('localOnly: a conversation fails at once, without another attempt', async () => {
    const transport = undiciTransport({ env: {}, localOnly: { networks: [] } });
    const { signal } = new AbortController();
    const events = [];
    for await (const event of converse(modelAt('http://203.0.113.7/v1'), ask('q'), { transport, signal }))
      events.push(event);
    const [event] = events;
    assert.ok(event?.type === 'error' && event.error.message.includes('`localOnly`'), JSON.stringify(events));
    await transport.close();
  });

  it('localOnly: the terminal follows svc.jsonc, and a project can’t turn it off', async () => {
    using folder = new ProjectFolder();
    const provider = (baseURL: string) => ({ options: { baseURL }, models: { m: {} } });
    folder.global({
      localOnly: true,
      provider: { far: provider('http://203.0.113.7:9/v1'), near: provider(`${upstream.url}/v1`) },
    });
    folder.write('project/svc.jsonc', { localOnly: false });
    const far = await svc(folder, ['chat', '-m', 'far/m', 'hello']);
    assert.equal(far.code, 1);
    assert.match(far.err, /`localOnly`/);
    assert.match(far.err, /A project cannot set localOnly/);
    const near = await svc(folder, ['chat', '-m', 'near/m', 'hello']);
    assert.equal(near.code, 0, near.err);
    // A value that can't be read restricts.
    folder.global({ localOnly: 'yes', provider: { far: provider('http://203.0.113.7:9/v1') } });
    assert.match((await svc(folder, ['chat', '-m', 'far/m', 'hello'])).err, /is not on this machine/);
    folder.global({ localOnly: { networks: ['x'] }, provider: { far: provider('http://203.0.113.7:9/v1') } });
    assert.match((await svc(folder, ['chat', '-m', 'far/m', 'hello'])).err, /is not on this machine/);
  });
});

function objectCause(error: unknown): unknown {
  return error instanceof Error ? error.cause : error;
}
