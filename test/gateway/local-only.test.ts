import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { COMPILE_CACHE } from '../compile-cache.ts';
import { CLI } from '../svc-program.ts';
import { play } from '../upstream/scenarios.ts';
import { startUpstream, type Upstream } from '../upstream/upstream.ts';
import { KEY } from './serve-harness.ts';
import { until } from './until.ts';

/** Addresses for documentation (RFC 5737): nobody answers there. */
const FAR = '203.0.113';

describe('localOnly in a running gateway', () => {
  let folder: string;
  let upstream: Upstream;
  let child: ReturnType<typeof spawn>;
  let log = '';

  beforeEach(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'svc-local-only-'));
    upstream = await startUpstream();
    log = '';
  });
  afterEach(async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    await upstream.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const opened = () => {
    const file = path.join(folder, 'connections.txt');
    return existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  };
  const left = () => opened().filter((line) => line.includes(FAR) || line.includes('.test'));

  function configure(localOnly: unknown): void {
    const provider = (baseURL: string) => {
      return { options: { baseURL, apiKey: 'k' }, models: { m: { cost: { input: 1, output: 2 } } } };
    };
    writeFileSync(
      path.join(folder, 'svc.jsonc'),
      JSON.stringify({
        localOnly,
        provider: {
          near: provider(`${upstream.url}/v1`),
          far: provider(`http://${FAR}.1/v1`),
          // Its list is requested when the gateway starts.
          listed: { options: { baseURL: `http://${FAR}.2/v1`, apiKey: 'k' } },
        },
        gateway: {
          pools: { pool: { models: ['near/m', 'far/m'], weights: [1000, 1] } },
          budgets: [{ usd: 0.00001, period: 'month', model: 'near/*' }],
          alerts: { webhook: `http://${FAR}.3/hook` },
          telemetry: { endpoint: `http://${FAR}.4:4318` },
        },
      }),
    );
  }

  async function serve(): Promise<string> {
    const preload = pathToFileURL(path.join(import.meta.dirname, 'connect-log.mjs')).href;
    child = spawn(
      process.execPath,
      ['--import', preload, CLI, 'serve', '--port', '0', '--config', path.join(folder, 'svc.jsonc')],
      {
        cwd: folder,
        stdio: ['pipe', 'pipe', 'pipe'],
        env: {
          PATH: process.env.PATH,
          NODE_COMPILE_CACHE: COMPILE_CACHE,
          HOME: folder,
          SVC_GATEWAY_KEY: KEY,
          SVC_CATALOG_URL: `http://${FAR}.5/models.json`,
          HTTP_PROXY: `http://${FAR}.6:3128`,
          HTTPS_PROXY: `http://${FAR}.6:3128`,
          CONNECT_LOG: path.join(folder, 'connections.txt'),
        },
      },
    );
    child.stderr?.on('data', (chunk) => (log += chunk));
    let said = '';
    child.stdout?.on('data', (chunk) => (said += chunk));
    await until('the gateway to listen', () => said.includes('listening on '));
    return /listening on (http\S+)/.exec(said)?.[1] ?? '';
  }

  async function ask(url: string, model: string): Promise<{ status: number; text: string }> {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}` },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }] }),
    });
    return { status: response.status, text: await response.text() };
  }

  it('localOnly: lists, catalog, fallbacks, redirects, webhooks, telemetry and proxies open no connection outside', async () => {
    configure(true);
    const url = await serve();
    assert.equal((await ask(url, 'near/m')).status, 200);
    const far = await ask(url, 'far/m');
    assert.match(far.text, /localOnly/);
    // A redirect of a permitted server.
    upstream.respond((_request, response) => void response.writeHead(307, { location: `http://${FAR}.7/` }).end());
    assert.notEqual((await ask(url, 'near/m')).status, 200);
    // The other member of a pool.
    upstream.respond((_request, response) => void response.writeHead(500).end('{}'));
    assert.notEqual((await ask(url, 'pool')).status, 200);
    // The alert of a budget.
    upstream.respond(play);
    for (let at = 0; at < 3; at += 1) await ask(url, 'near/m');
    await until('the alert of the budget', () => log.includes('"alert":"budget"'));
    child.kill('SIGTERM');
    await once(child, 'exit');
    assert.ok(opened().includes('connect 127.0.0.1'), 'connections are noticed');
    assert.deepEqual(left(), []);
    assert.match(log, /no telemetry is sent/);
  });

  it('localOnly: turned on while the gateway runs, it holds for all that was allowed before', async () => {
    configure(undefined);
    const url = await serve();
    await until('connections outside', () => left().length > 0);
    configure(true);
    await until('the refusal', async () => (await ask(url, 'far/m')).text.includes('localOnly'));
    const before = left().length;
    for (const model of ['far/m', 'near/m', 'pool']) await ask(url, model);
    child.kill('SIGTERM');
    await once(child, 'exit');
    assert.deepEqual(left().slice(before), []);
  });
});
