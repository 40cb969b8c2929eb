import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { COMPILE_CACHE } from '../compile-cache.ts';
import { ProjectFolder } from '../config/project-folder.ts';
import { CLI } from '../svc-program.ts';
import { startUpstream } from '../upstream/upstream.ts';

/** Planted at each position of a credential; no output may contain one. */
const CANARIES = {
  literal: 'sk-canary-literal-8f2d1c',
  variable: 'sk-canary-variable-77aa01',
  file: 'sk-canary-file-0c9b55',
  header: 'sk-canary-header-31d7e2',
  byok: 'sk-canary-byok-5e66f0',
  operator: 'svc-canary-operator-a1b2c3d4',
};

/** An upstream that repeats the request, as some do in their errors. */
const STATUSES = [400, 401, 402, 403, 404, 413, 429, 500, 503];

describe('planted credentials', () => {
  it('planted credentials: are in no answer, log, list, metric, ledger row, file or terminal output', async () => {
    using folder = new ProjectFolder();
    const upstream = await startUpstream();
    upstream.respond((request, response) => {
      if (request.path.endsWith('/models')) return void response.writeHead(401).end(JSON.stringify(request.headers));
      const said = `Incorrect API key provided: ${JSON.stringify(request.headers)}`;
      const status = STATUSES.find((each) => request.bytes.includes(`[[echo:${each}]]`)) ?? 200;
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: said, type: said, code: said, param: said } }));
    });
    const at = (apiKey: string, more: object = {}) => ({
      options: { baseURL: `${upstream.url}/v1`, apiKey, ...more },
      models: { m: { cost: { input: 1, output: 2 } } },
    });
    const key = folder.write('home/key', CANARIES.file);
    folder.global({
      provider: {
        literal: at(CANARIES.literal),
        variable: at('{env:CANARY_KEY}'),
        file: at(`{file:${key}}`),
        header: at('', { headers: { 'x-secret': CANARIES.header } }),
        anthropic: { npm: '@ai-sdk/anthropic', ...at(CANARIES.literal) },
        unlisted: { options: { baseURL: `${upstream.url}/v1`, apiKey: CANARIES.literal } },
      },
      gateway: { organizations: { acme: { byok: { literal: CANARIES.byok } } } },
    });
    const env = {
      ...folder.env,
      HOME: folder.home,
      PATH: process.env.PATH,
      CANARY_KEY: CANARIES.variable,
      SVC_GATEWAY_KEY: CANARIES.operator,
      SVC_DISABLE_CATALOG_REFRESH: '1',
      NODE_COMPILE_CACHE: COMPILE_CACHE,
    };
    const said: string[] = [];
    const svc = (...args: string[]) =>
      new Promise<string>((resolve) => {
        execFile(process.execPath, [CLI, ...args], { cwd: folder.project, env }, (_error, out, err) =>
          resolve(out + err),
        );
      });
    const made = (await svc('keys', 'create', '--name', 'ann', '--org', 'acme')).trim().split('\n').at(-1) ?? '';
    assert.match(made, /^svc_/);

    const child = spawn(process.execPath, [CLI, 'serve', '--port', '0', '--log-level', 'debug'], {
      cwd: folder.project,
      env,
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
    while (!output.includes('listening on')) await once(child.stdout, 'data');
    const url = /listening on (http\S+)/.exec(output)?.[1] ?? '';

    const ask = async (where: string, token: string, body: unknown, headers: Record<string, string> = {}) => {
      const authorization = `Bearer ${token}`;
      const response = await fetch(url + where, {
        method: 'POST',
        headers: { authorization, ...headers },
        body: JSON.stringify(body),
      });
      said.push(`${where}: ${JSON.stringify([...response.headers])} ${await response.text()}`);
    };
    for (const provider of ['literal', 'variable', 'file', 'header', 'anthropic']) {
      for (const status of [...STATUSES, 200]) {
        const content = `[[echo:${status}]]`;
        const messages = [{ role: 'user', content }];
        for (const stream of [true, false]) {
          await ask('/chat/completions', CANARIES.operator, { model: `${provider}/m`, messages, stream });
          await ask('/messages', CANARIES.operator, { model: `${provider}/m`, messages, stream, max_tokens: 9 });
          await ask('/responses', CANARIES.operator, { model: `${provider}/m`, input: content, stream });
        }
      }
    }
    await ask('/chat/completions', made, { model: 'literal/m', messages: [{ role: 'user', content: '[[echo:401]]' }] });
    await ask('/chat/completions', `${made}x`, { model: 'literal/m', messages: [] });
    // The client receives the unknown path; the log must not contain it.
    await ask(`/chat/${made}`, made, {});
    said.pop();
    for (const where of ['/models', '/providers', '/metrics', '/readyz', '/openapi.json', '/models/literal/m']) {
      const response = await fetch(url + where, { headers: { authorization: `Bearer ${CANARIES.operator}` } });
      said.push(await response.text());
    }
    child.kill('SIGTERM');
    await once(child, 'exit');
    said.push(output);
    for (const args of [
      ['config'],
      ['config', '--json'],
      ['models', '--json'],
      ['keys', 'list'],
      ['keys', 'list', '--json'],
      ['usage'],
      ['usage', '--json'],
    ]) {
      said.push(await svc(...args));
    }
    await upstream.close();
    assert.ok(said.length > 300);

    const state = path.join(folder.home, '.local', 'share', 'svc');
    for (const name of readdirSync(state)) said.push(readFileSync(path.join(state, name), 'latin1'));
    for (const [name, canary] of [...Object.entries(CANARIES), ['made', made]] as const) {
      const found = said.find((text) => text.includes(canary));
      assert.equal(
        found,
        undefined,
        `${name} is in: ${found?.slice(Math.max(0, (found?.indexOf(canary) ?? 0) - 200)).slice(0, 400)}`,
      );
    }
  });
});
