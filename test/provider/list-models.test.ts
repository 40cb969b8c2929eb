import assert from 'node:assert/strict';
import { listModels, testConnection } from '../../src/provider/list-models.ts';
import { fetchTransport } from '../../src/provider/transport/fetch-transport.ts';
import { startUpstream, type Upstream } from '../upstream/upstream.ts';
import { modelAt } from './test-model.ts';

describe('listModels', () => {
  let upstream: Upstream;
  const options = { transport: fetchTransport(fetch), signal: new AbortController().signal, provider: 'up' };
  beforeEach(async () => {
    upstream = await startUpstream();
  });
  afterEach(() => upstream.close());

  it('listModels: returns the models with the properties that the endpoint reports', async () => {
    const models = await listModels(modelAt(`${upstream.url}/v1`).endpoint, options);
    assert.deepEqual(models, [{ id: 'up-small' }, { id: 'up-large', name: 'Up Large', contextLength: 128_000 }]);
    assert.equal(upstream.requests[0]?.path, '/v1/models');
    assert.equal(upstream.requests[0]?.headers.authorization, 'Bearer sk-test');
  });

  for (const [given, real] of [
    ['', '/v1/models'],
    ['/v1', '/models'],
  ] as const) {
    it(`listModels: requests ${real} if the base URL ends with "${given}"`, async () => {
      upstream.respond((request, response) => {
        if (request.path === real) response.end('{"data":[{"id":"a"}]}');
        else response.writeHead(404).end('not here');
      });
      assert.deepEqual(await listModels(modelAt(upstream.url + given).endpoint, options), [{ id: 'a' }]);
    });
  }

  it('listModels: accepts a bare list and a list of names', async () => {
    upstream.respond((_, response) => void response.end('["a",{"name":"b"},{"id":5},null]'));
    assert.deepEqual(await listModels(modelAt(upstream.url).endpoint, options), [{ id: 'a' }, { id: 'b' }]);
  });

  it('listModels: distinguishes a wrong key, a wrong address and a refused connection', async () => {
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

  it('listModels: ends at the time limit', async () => {
    upstream.respond(() => undefined);
    const result = await testConnection(modelAt(upstream.url).endpoint, { ...options, timeout: 1_000 });
    assert.equal(result.ok ? '' : result.error.errorType, 'upstream_timeout');
    assert.equal(await upstream.requests[0]?.closed, true);
  });

  it('listModels: ends when the signal fires', async () => {
    const controller = new AbortController();
    upstream.respond(() => controller.abort(new Error('closed the dialog')));
    await assert.rejects(
      listModels(modelAt(upstream.url).endpoint, { ...options, signal: controller.signal }),
      /closed the dialog/,
    );
  });
});
