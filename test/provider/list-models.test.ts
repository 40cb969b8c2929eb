import assert from 'node:assert/strict';
import { listModels, testConnection } from '../../src/provider/list-models.ts';
import { fetchTransport } from '../../src/provider/transport/fetch-transport.ts';
import { startUpstream, type Upstream } from '../upstream/upstream.ts';
import { modelAt } from './test-model.ts';

describe('the models of an endpoint', () => {
  let upstream: Upstream;
  const options = { transport: fetchTransport(fetch), signal: new AbortController().signal, provider: 'up' };
  beforeEach(async () => {
    upstream = await startUpstream();
  });
  afterEach(() => upstream.close());

  it('are listed with what the endpoint says about them', async () => {
    const models = await listModels(modelAt(`${upstream.url}/v1`).endpoint, options);
    assert.deepEqual(models, [{ id: 'up-small' }, { id: 'up-large', name: 'Up Large', contextLength: 128_000 }]);
    assert.equal(upstream.requests[0]?.path, '/v1/models');
    assert.equal(upstream.requests[0]?.headers.authorization, 'Bearer sk-test');
  });

  for (const [given, real] of [
    ['', '/v1/models'],
    ['/v1', '/models'],
  ] as const) {
    it(`are found at ${real} when the base URL ends with "${given}"`, async () => {
      upstream.respond((request, response) => {
        if (request.path === real) response.end('{"data":[{"id":"a"}]}');
        else response.writeHead(404).end('not here');
      });
      assert.deepEqual(await listModels(modelAt(upstream.url + given).endpoint, options), [{ id: 'a' }]);
    });
  }

  it('may be a bare list, or names only', async () => {
    upstream.respond((_, response) => void response.end('["a",{"name":"b"},{"id":5},null]'));
    assert.deepEqual(await listModels(modelAt(upstream.url).endpoint, options), [{ id: 'a' }, { id: 'b' }]);
  });

  it('tell a wrong key from a wrong address and from nobody there', async () => {
    const test = async (): Promise<string> => {
      const result = await testConnection(modelAt(upstream.url).endpoint, options);
      return result.ok ? 'ok' : result.error.errorType;
    };
    assert.equal(await test(), 'ok');
    upstream.respond((_, response) => void response.writeHead(401).end('{"error":{"message":"bad key"}}'));
    assert.equal(await test(), 'authentication_required');
    upstream.respond((_, response) => void response.writeHead(200).end('<html></html>'));
    assert.equal(await test(), 'upstream_invalid_response');
    await upstream.close();
    assert.equal(await test(), 'network_error');
    upstream = await startUpstream();
  });

  it('are not waited for beyond the time given', async () => {
    upstream.respond(() => undefined);
    const result = await testConnection(modelAt(upstream.url).endpoint, { ...options, timeout: 50 });
    assert.equal(result.ok ? '' : result.error.errorType, 'upstream_timeout');
    assert.equal(await upstream.requests[0]?.closed, true);
  });

  it('stop when the signal fires', async () => {
    const controller = new AbortController();
    upstream.respond(() => controller.abort(new Error('closed the dialog')));
    await assert.rejects(
      listModels(modelAt(upstream.url).endpoint, { ...options, signal: controller.signal }),
      /closed the dialog/,
    );
  });
});
