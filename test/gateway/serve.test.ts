import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import path from 'node:path';
import { gatewayLaunch } from '../../src/extension/gateway/launch.ts';
import { CLI } from '../svc-program.ts';
import { play } from '../upstream/scenarios.ts';
import { KEY, ServeHarness } from './serve-harness.ts';
import { until } from './until.ts';

describe('svc serve', () => {
  let harness: ServeHarness;

  beforeEach(async () => {
    harness = await ServeHarness.start();
  });
  afterEach(() => harness.close());

  it('svc serve: /models and requests wait for the model lists of the endpoints', async () => {
    let answer: (() => void) | undefined;
    const asked = new Promise<void>((resolve) => {
      harness.upstream.respond((request, response) => {
        if (!request.path.endsWith('/models')) return void play(request, response);
        answer = () => void response.end(JSON.stringify({ data: [{ id: 'late' }] }));
        resolve();
      });
    });
    const gateway = await harness.serve();
    const { url } = gateway;
    await asked;
    assert.equal((await fetch(`${url}/readyz`)).status, 503);
    const models = fetch(`${url}/models`);
    const said = harness.send(url, { model: 'listed/late' });
    answer?.();
    const { data } = JSON.parse(await (await models).text());
    assert.deepEqual(data.map((item: { id: string }) => item.id).sort(), ['listed/late', 'up/m']);
    assert.equal((await said).status, 200);
    assert.equal((await fetch(`${url}/readyz`)).status, 200);
    assert.equal((await fetch(`${url}/metrics`)).status, 200);
    await gateway.logged('"route":"/metrics"');
    // A balancer asks each second: only a probe that fails has a line.
    const probes = gateway
      .written()
      .split('\n')
      .filter((line) => line.includes('"route":"/readyz"'));
    assert.deepEqual(
      probes.map((line) => JSON.parse(line).status),
      [503],
    );
  });

  it('svc serve: --no-project ignores the configuration of the project', async () => {
    const project = path.join(harness.folder, 'project');
    await mkdir(project);
    const options = { baseURL: `${harness.upstream.url}/v1`, apiKey: 'k' };
    await writeFile(
      path.join(project, 'svc.jsonc'),
      JSON.stringify({ provider: { own: { options, models: { m: {} } } } }),
    );
    const ids = async (args: string[]) => {
      const { url } = await harness.serve(args, KEY, project);
      const { data } = JSON.parse(await (await fetch(`${url}/models`)).text());
      return data.map(({ id }: { id: string }) => id).filter((id: string) => !id.startsWith('listed/'));
    };
    assert.deepEqual((await ids([])).sort(), ['own/m', 'up/m']);
    assert.deepEqual(await ids(['--no-project']), ['up/m']);
    const place = { cli: CLI, folder: project, home: harness.folder };
    assert.deepEqual(gatewayLaunch({ ...place, trusted: true }), { args: [CLI, 'serve'], cwd: project });
    assert.deepEqual(gatewayLaunch({ ...place, trusted: false }), {
      args: [CLI, 'serve', '--no-project'],
      cwd: harness.folder,
    });
  });

  it('svc serve: applies keys that svc keys creates, rotates and revokes, stores hashes only and sums up usage', async () => {
    const { url, child } = await harness.serve();
    const made =
      (await harness.svc('keys', 'create', '--name', 'ann', '--budget', '1')).stdout.trim().split('\n').at(-1) ?? '';
    assert.match(made, /^svc_[\w-]{43}$/);
    // The gateway checks for new keys periodically and reports nothing: send requests until one is accepted.
    await until('the gateway accepts the new key', async () => {
      const response = await harness.send(url, {}, made);
      await response.text();
      return response.status === 200;
    });
    child.kill('SIGTERM');
    assert.deepEqual(await once(child, 'exit'), [0, null]);
    const { stdout } = await harness.svc('usage', '--json', '--by', 'key');
    const { rows } = JSON.parse(stdout);
    assert.equal(rows[0].key, 'ann');
    assert.equal(rows[0].input_tokens, 11 * rows[0].requests);
    assert.ok(!(await readFile(harness.database)).includes(made), 'the key is nowhere in the file');
    await harness.svc('keys', 'revoke', 'ann');
    assert.match((await harness.svc('keys', 'list')).stdout, /ann\s+revoked/);
  });

  it('svc serve: applies a changed configuration during a stream', async () => {
    const { url, child, logged } = await harness.serve();
    const stream = await harness.send(url, { stream: true }, KEY, '[[scenario:stall-mid-stream]]');
    const reader = stream.body?.getReader();
    await reader?.read();
    await harness.configure({ m: {}, later: {} });
    await logged('the configuration was reloaded');
    const response = await harness.send(url, { model: 'up/later' });
    assert.equal(response.status, 200, await response.text());
    const next = reader?.read();
    child.kill('SIGTERM');
    // The stream is still open: it ends with the drain, not with the change.
    assert.equal(
      (await Promise.race([next, harness.upstream.request(0).then(({ closed }) => closed)])) !== undefined,
      true,
    );
  });

  it('svc serve: removes an allowed host name that is no longer listed, also for open connections', async () => {
    await harness.configure({ m: {} }, { allowedHosts: ['gw.example'] });
    const { url, logged } = await harness.serve();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const sockets = new Set<unknown>();
    const get = async () => {
      const asked = request(`${url}/models`, { agent, headers: { host: 'gw.example' } }).end();
      asked.once('socket', (socket) => sockets.add(socket));
      const [answer] = await once(asked, 'response');
      answer.resume();
      await once(answer, 'end');
      return answer.statusCode;
    };
    assert.equal(await get(), 200);
    await harness.configure({ m: {} });
    await logged('the configuration was reloaded');
    assert.equal(await get(), 403);
    assert.equal(sockets.size, 1);
    agent.destroy();
  });

  it('svc serve: requests the models of providers without a configured list', async () => {
    const { url } = await harness.serve();
    const response = await harness.send(url, { model: 'listed/up-small' });
    assert.equal(response.status, 200, await response.text());
  });

  it('svc serve: on SIGTERM, active streams end normally and new requests are rejected', async () => {
    const { url, child, logged } = await harness.serve(['--drain', '5']);
    let finish: () => void = () => undefined;
    harness.upstream.respond((_request, response) => {
      const chunk = (delta: unknown, reason: string | null) =>
        `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`;
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(chunk({ content: 'one' }, null));
      finish = () => void response.end(`${chunk({ content: 'two' }, 'stop')}data: [DONE]\n\n`);
    });
    const stream = await harness.send(url, { stream: true });
    child.kill('SIGTERM');
    await logged('stopping');
    await assert.rejects(fetch(`${url}/healthz`));
    finish();
    assert.match(await stream.text(), /two[\s\S]*\[DONE\]/);
    assert.deepEqual(await once(child, 'exit'), [0, null]);
  });

  it('svc serve: ends with its parent when its input closes', async () => {
    const { child } = await harness.serve(['--exit-with-stdin']);
    child.stdin?.end();
    assert.deepEqual(await once(child, 'exit'), [0, null]);
  });

  it('svc serve: ends with its parent when the process is gone', async () => {
    const parent = spawn(process.execPath, ['-e', 'process.stdin.resume()']);
    const { child } = await harness.serve(['--parent-pid', String(parent.pid)]);
    parent.kill('SIGKILL');
    assert.deepEqual(await once(child, 'exit'), [0, null]);
  });

  it('svc serve: does not listen on all addresses without a stored key, nor on a used port', async () => {
    const { url } = await harness.serve();
    await Promise.all([
      assert.rejects(harness.serve(['--host', '0.0.0.0']), /requires a key in the key store/),
      assert.rejects(harness.serve(['--port', new URL(url).port]), /is in use/),
      assert.rejects(harness.serve([], 'short'), /16 characters/),
    ]);
    await harness.svc('keys', 'create', '--name', 'world');
    const open = await harness.serve(['--host', '0.0.0.0']);
    assert.match(open.url, /^http:\/\/0\.0\.0\.0:\d+$/);
  });
});
