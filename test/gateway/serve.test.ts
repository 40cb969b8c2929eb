import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gatewayLaunch } from '../../src/extension/gateway/launch.ts';
import { play } from '../upstream/scenarios.ts';
import { startUpstream, type Upstream } from '../upstream/upstream.ts';

const CLI = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
const KEY = 'svc_key_of_the_parent';

interface Running {
  readonly child: ChildProcess;
  readonly url: string;
  /** Resolves when the log has a line with this text. */
  logged(text: string): Promise<void>;
}

describe('svc serve', () => {
  let folder: string;
  let upstream: Upstream;
  const children: ChildProcess[] = [];

  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'svc-serve-'));
    upstream = await startUpstream();
    await configure({ m: { cost: { input: 1, output: 2 } } });
  });
  afterEach(async () => {
    for (const child of children.splice(0)) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    await upstream.close();
    await rm(folder, { recursive: true, force: true });
  });

  const configure = (models: Record<string, unknown>, gateway: Record<string, unknown> = {}) => {
    const options = { baseURL: `${upstream.url}/v1`, apiKey: 'sk-canary' };
    const provider = { up: { options, models }, listed: { options } };
    return writeFile(path.join(folder, 'svc.jsonc'), JSON.stringify({ provider, gateway }));
  };
  const env = () => ({
    PATH: process.env.PATH,
    HOME: folder,
    XDG_CONFIG_HOME: path.join(folder, 'config'),
    XDG_DATA_HOME: path.join(folder, 'data'),
    XDG_CACHE_HOME: path.join(folder, 'cache'),
    SVC_MANAGED_CONFIG_DIR: path.join(folder, 'managed'),
    SVC_DISABLE_CATALOG_REFRESH: '1',
  });

  async function serve(args: string[] = [], key = KEY, cwd = folder): Promise<Running> {
    const child = spawn(
      process.execPath,
      [CLI, 'serve', '--port', '0', '--config', path.join(folder, 'svc.jsonc'), ...args],
      { cwd, env: { ...env(), SVC_GATEWAY_KEY: key }, stdio: ['pipe', 'pipe', 'pipe'] },
    );
    children.push(child);
    let log = '';
    const waiting = new Set<() => void>();
    child.stderr?.on('data', (chunk) => {
      log += chunk;
      for (const look of waiting) look();
    });
    const logged = (text: string) =>
      new Promise<void>((resolve) => {
        const look = () => {
          if (!log.includes(text)) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      });
    const url = await new Promise<string>((resolve, reject) => {
      let said = '';
      child.stdout?.on('data', (chunk) => {
        said += chunk;
        const found = /listening on (http\S+)/.exec(said)?.[1];
        if (found) resolve(found);
      });
      child.once('exit', (code) => reject(new Error(`${code}: ${log}`)));
    });
    return { child, url, logged };
  }

  const svc = (...args: string[]) => promisify(execFile)(process.execPath, [CLI, ...args], { cwd: folder, env: env() });
  const send = (url: string, more: Record<string, unknown> = {}, key = KEY, text = 'Hi') =>
    fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({ model: 'up/m', messages: [{ role: 'user', content: text }], ...more }),
    });
  const database = () => path.join(folder, 'data', 'svc', 'gateway.db');

  it('waits for the lists of endpoints: neither /models nor a request comes too early', async () => {
    let answer: (() => void) | undefined;
    const asked = new Promise<void>((resolve) => {
      upstream.respond((request, response) => {
        if (!request.path.endsWith('/models')) return void play(request, response);
        answer = () => void response.end(JSON.stringify({ data: [{ id: 'late' }] }));
        resolve();
      });
    });
    const { url } = await serve();
    await asked;
    assert.equal((await fetch(`${url}/readyz`)).status, 503);
    const models = fetch(`${url}/models`);
    const said = send(url, { model: 'listed/late' });
    answer?.();
    const { data } = JSON.parse(await (await models).text());
    assert.deepEqual(data.map((item: { id: string }) => item.id).sort(), ['listed/late', 'up/m']);
    assert.equal((await said).status, 200);
    assert.equal((await fetch(`${url}/readyz`)).status, 200);
  });

  it('leaves the project’s configuration out with --no-project, which the editor passes for an untrusted folder', async () => {
    const project = path.join(folder, 'project');
    await mkdir(project);
    const options = { baseURL: `${upstream.url}/v1`, apiKey: 'k' };
    await writeFile(
      path.join(project, 'svc.jsonc'),
      JSON.stringify({ provider: { own: { options, models: { m: {} } } } }),
    );
    const ids = async (args: string[]) => {
      const { url } = await serve(args, KEY, project);
      const { data } = JSON.parse(await (await fetch(`${url}/models`)).text());
      return data.map(({ id }: { id: string }) => id).filter((id: string) => !id.startsWith('listed/'));
    };
    assert.deepEqual((await ids([])).sort(), ['own/m', 'up/m']);
    assert.deepEqual(await ids(['--no-project']), ['up/m']);
    const place = { cli: CLI, folder: project, home: folder };
    assert.deepEqual(gatewayLaunch({ ...place, trusted: true }), { args: [CLI, 'serve'], cwd: project });
    assert.deepEqual(gatewayLaunch({ ...place, trusted: false }), {
      args: [CLI, 'serve', '--no-project'],
      cwd: folder,
    });
  });

  it('takes keys made, rotated and revoked beside it, keeps only hashes, and sums usage up', async () => {
    const { url, child } = await serve();
    const made = (await svc('keys', 'create', '--name', 'ann', '--budget', '1')).stdout.trim().split('\n').at(-1) ?? '';
    assert.match(made, /^svc_[\w-]{43}$/);
    const until = async (status: number) => {
      for (;;) {
        const response = await send(url, {}, made);
        await response.text();
        if (response.status === status) return;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    };
    await until(200);
    child.kill('SIGTERM');
    assert.deepEqual(await once(child, 'exit'), [0, null]);
    const { stdout } = await svc('usage', '--json', '--by', 'key');
    const { rows } = JSON.parse(stdout);
    assert.equal(rows[0].key, 'ann');
    assert.equal(rows[0].input_tokens, 11 * rows[0].requests);
    assert.ok(!(await readFile(database())).includes(made), 'the key is nowhere in the file');
    await svc('keys', 'revoke', 'ann');
    assert.match((await svc('keys', 'list')).stdout, /ann\s+revoked/);
  });

  it('loses no row that was answered longer ago than a batch, and no key, when it is killed', async () => {
    const { url, child } = await serve();
    await svc('keys', 'create', '--name', 'kept');
    const ids: string[] = [];
    let running = true;
    const load = Array.from({ length: 4 }, async () => {
      while (running) {
        try {
          const response = await send(url);
          await response.text();
          ids.push(response.headers.get('x-request-id') ?? '');
        } catch {
          return;
        }
      }
    });
    while (ids.length < 100) await new Promise(setImmediate);
    const answered = [...ids];
    // Twice a batch, while requests go on.
    await new Promise((resolve) => setTimeout(resolve, 500));
    child.kill('SIGKILL');
    running = false;
    await Promise.all([once(child, 'exit'), ...load]);
    const state = new DatabaseSync(database());
    const stored = new Set(
      state
        .prepare('SELECT request_id FROM usage')
        .all()
        .map((row) => row.request_id),
    );
    assert.deepEqual(
      answered.filter((id) => !stored.has(id)),
      [],
    );
    assert.equal(state.prepare('PRAGMA integrity_check').get()?.integrity_check, 'ok');
    assert.equal(state.prepare('SELECT count(*) AS n FROM keys').get()?.n, 1);
    state.close();
  });

  it('takes a changed configuration while a stream goes on', async () => {
    const { url, child } = await serve();
    const stream = await send(url, { stream: true }, KEY, '[[scenario:stall-mid-stream]]');
    const reader = stream.body?.getReader();
    await reader?.read();
    await configure({ m: {}, later: {} });
    let status = 0;
    while (status !== 200) {
      const response = await send(url, { model: 'up/later' });
      status = response.status;
      await response.text();
    }
    const next = reader?.read();
    child.kill('SIGTERM');
    // The stream is still open: it ends with the drain, not with the change.
    assert.equal((await Promise.race([next, upstream.request(0).then(({ closed }) => closed)])) !== undefined, true);
  }).timeout(15_000);

  it('asks providers without models for theirs', async () => {
    const { url } = await serve();
    for (let status = 0; status !== 200; ) {
      const response = await send(url, { model: 'listed/up-small' });
      status = response.status;
      await response.text();
    }
  });

  it('lets running streams end when it is told to stop, and takes no new request', async () => {
    const { url, child, logged } = await serve(['--drain', '5']);
    let finish: () => void = () => undefined;
    upstream.respond((_request, response) => {
      const chunk = (delta: unknown, reason: string | null) =>
        `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`;
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(chunk({ content: 'one' }, null));
      finish = () => void response.end(`${chunk({ content: 'two' }, 'stop')}data: [DONE]\n\n`);
    });
    const stream = await send(url, { stream: true });
    child.kill('SIGTERM');
    await logged('stopping');
    await assert.rejects(fetch(`${url}/healthz`));
    finish();
    assert.match(await stream.text(), /two[\s\S]*\[DONE\]/);
    assert.deepEqual(await once(child, 'exit'), [0, null]);
  });

  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    it(`loses no row of the ledger to ${signal}`, async () => {
      const { url, child } = await serve();
      for (let asked = 0; asked < 3; asked += 1) await (await send(url)).text();
      child.kill(signal);
      assert.deepEqual(await once(child, 'exit'), [0, null]);
      const state = new DatabaseSync(database());
      assert.equal(state.prepare('SELECT count(*) AS n FROM usage').get()?.n, 3);
      state.close();
    });
  }

  it('counts the streams that it cuts off when their time is over', async () => {
    const { url, child, logged } = await serve(['--drain', '0']);
    const streams = await Promise.all(
      Array.from({ length: 5 }, async () => {
        const stream = await send(url, { stream: true }, KEY, '[[scenario:stall-mid-stream]]');
        await stream.body?.getReader().read();
      }),
    );
    child.kill('SIGTERM');
    await logged('requests were cut off');
    assert.deepEqual(await once(child, 'exit'), [0, null]);
    const state = new DatabaseSync(database());
    const rows = state.prepare("SELECT count(*) AS n FROM usage WHERE outcome = 'client-gone' AND cost > 0").get();
    assert.equal(rows?.n, streams.length);
    state.close();
  });

  it('ends with its parent: when its input closes', async () => {
    const { child } = await serve(['--exit-with-stdin']);
    child.stdin?.end();
    assert.deepEqual(await once(child, 'exit'), [0, null]);
  });

  it('ends with its parent: when that process is gone', async () => {
    const parent = spawn(process.execPath, ['-e', 'process.stdin.resume()']);
    const { child } = await serve(['--parent-pid', String(parent.pid)]);
    parent.kill('SIGKILL');
    assert.deepEqual(await once(child, 'exit'), [0, null]);
  });

  it('does not listen to the world without a stored key, nor on a port that is taken', async () => {
    const { url } = await serve();
    await Promise.all([
      assert.rejects(serve(['--host', '0.0.0.0']), /needs a key in the key store/),
      assert.rejects(serve(['--port', new URL(url).port]), /is in use/),
      assert.rejects(serve([], 'short'), /16 characters/),
    ]);
    await svc('keys', 'create', '--name', 'world');
    const open = await serve(['--host', '0.0.0.0']);
    assert.match(open.url, /^http:\/\/0\.0\.0\.0:\d+$/);
  });
});
