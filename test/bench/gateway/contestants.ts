import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { build } from 'esbuild';
import { freePort } from '../../host/free-port.ts';
import { requestBytes } from './load.ts';

const ROOT = path.resolve(import.meta.dirname, '..', '..', '..');
const CACHE = path.join(ROOT, '.cache', 'bench-gateway');
const PEER = '@portkey-ai/gateway';

export interface Contestant {
  readonly name: string;
  readonly pid: number;
  /** Milliseconds from its start to its first answer. */
  readonly coldStartMs: number;
  /** A Chat Completions request to an upstream of the same format, or to one of Messages. */
  readonly request: (body: string, translated: boolean) => { readonly url: string; readonly bytes: Buffer };
  readonly stop: () => void;
}

/** CPU seconds that a process has used. */
export function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** Bytes in memory. */
export function residentBytes(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
}

async function started(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'], env: { ...process.env, ...env } });
  let said = '';
  const url = await new Promise<string>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`${args.join(' ')} ended with ${code}`)));
    child.stdout?.on('data', (chunk) => {
      said += chunk;
      const found = /listening on (http\S+)/.exec(said)?.[1];
      if (found) resolve(found);
    });
  });
  return { child, url };
}

const script = (name: string) => path.join(import.meta.dirname, name);

export async function startUpstream(): Promise<{ url: string; pid: number; stop: () => void }> {
  const { child, url } = await started([script('upstream-process.ts')]);
  return { url, pid: child.pid ?? 0, stop: () => void child.kill() };
}

export function direct(upstream: string, pid: number): Contestant {
  const url = (translated: boolean) => `${upstream}/v1/${translated ? 'messages' : 'chat/completions'}`;
  return {
    name: 'direct',
    pid,
    coldStartMs: 0,
    request: (body, translated) => ({ url: upstream, bytes: requestBytes(url(translated), {}, body) }),
    stop: () => undefined,
  };
}

export async function relay(upstream: string, warm: string): Promise<Contestant> {
  const startedAt = performance.now();
  const { child, url } = await started([script('relay-process.ts'), upstream]);
  const bytes = (body: string) => requestBytes(`${url}/v1/chat/completions`, {}, body);
  return ready({ name: 'relay', child, startedAt, request: (body) => ({ url, bytes: bytes(body) }) }, warm);
}

/** The terminal's bundle alone, made as esbuild.mjs makes it. */
async function bundle(): Promise<string> {
  const outdir = path.join(CACHE, 'dist');
  rmSync(outdir, { recursive: true, force: true });
  await build({
    entryPoints: { cli: path.join(ROOT, 'src', 'cli', 'main.ts') },
    outdir,
    bundle: true,
    platform: 'node',
    format: 'esm',
    splitting: true,
    target: 'node22',
    chunkNames: 'chunks/[name]-[hash]',
    mainFields: ['module', 'main'],
    banner: {
      js: "import { createRequire as __cr } from 'node:module'; const require = __cr(import.meta.url);",
    },
    logLevel: 'warning',
  });
  cpSync(path.join(ROOT, 'src', 'catalog', 'public', 'snapshot.json'), path.join(outdir, 'chunks', 'snapshot.json'));
  return path.join(outdir, 'cli.js');
}

interface GatewayOptions {
  /** A checkout to compare with, built by `npm run build` there; default: this checkout. */
  readonly before?: string;
  readonly features?: readonly Feature[];
}

/** A pool in front of each model; traces and metrics; the admin API with a page that shows live requests. */
export const FEATURES = ['pool', 'telemetry', 'page'] as const;
export type Feature = (typeof FEATURES)[number];

export async function gateway(
  upstream: string,
  warm: string,
  { before, features = [] }: GatewayOptions = {},
): Promise<Contestant> {
  const cli = before === undefined ? await bundle() : path.resolve(before, 'dist', 'cli.js');
  const folder = mkdtempSync(path.join(tmpdir(), 'svc-bench-'));
  const [pool, followed] = [features.includes('pool'), features.includes('page')];
  const sink = features.includes('telemetry') ? await startSink() : undefined;
  const model = { cost: { input: 1, output: 2 }, limit: { context: 128_000, output: 4_096 } };
  // Two accounts of one model: the upstream answers with the same name.
  const models = pool ? { bench: model, bench2: { ...model, id: 'bench' } } : { bench: model };
  const options = { baseURL: `${upstream}/v1`, apiKey: 'sk-bench' };
  const config = {
    provider: {
      chat: { options, models },
      messages: { npm: '@ai-sdk/anthropic', options, models },
    },
    gateway: {
      organizations: { team: { policy: { allow: ['chat/*', 'messages/*', 'team/*'], deny: ['chat/other'] } } },
      ...(sink ? { telemetry: { endpoint: sink.url } } : {}),
      ...(followed ? { admin: true } : {}),
      ...(pool ? { pools: POOLS } : {}),
    },
  };
  writeFileSync(path.join(folder, 'svc.jsonc'), JSON.stringify(config));
  const env = {
    XDG_DATA_HOME: folder,
    XDG_CONFIG_HOME: folder,
    SVC_CONFIG: path.join(folder, 'svc.jsonc'),
    SVC_DISABLE_CATALOG_REFRESH: '1',
  };
  // A stored key with everything that is checked at a request: organization, policy, budget, rate.
  const made = execFileSync(
    process.execPath,
    [cli, 'keys', 'create', '--name', 'bench', '--org', 'team', '--budget', '1000000', '--rpm', '100000000'],
    { env: { ...process.env, ...env }, cwd: folder, encoding: 'utf8' },
  );
  const key = made.trim().split('\n').at(-1) ?? '';
  const page = followed ? adminKey(cli, folder, env) : undefined;
  const startedAt = performance.now();
  const { child, url } = await started([cli, 'serve', '--port', '0'], env);
  const headers = { authorization: `Bearer ${key}` };
  const body = (text: string, translated: boolean) =>
    text.replace(
      '"model":"bench"',
      `"model":"${pool ? 'team/' : ''}${translated ? 'messages' : 'chat'}${pool ? '' : '/bench'}"`,
    );
  const request = (text: string, translated: boolean) => ({
    url,
    bytes: requestBytes(`${url}/v1/chat/completions`, headers, body(text, translated)),
  });
  const stop = page === undefined ? undefined : await followRequests(url, page);
  const name = features.length > 0 ? features.join(', ') : before === undefined ? 'svc' : 'before';
  const who = await ready({ name, child, startedAt, request, folder }, warm);
  return {
    ...who,
    stop: () => {
      stop?.();
      sink?.close();
      who.stop();
    },
  };
}

const POOLS = {
  'team/chat': { models: ['chat/bench', 'chat/bench2'] },
  'team/messages': { models: ['messages/bench', 'messages/bench2'] },
};

/** An OTLP receiver that reads everything and keeps nothing. */
async function startSink(): Promise<{ readonly url: string; readonly close: () => void }> {
  const server = createHttpServer((request, response) => request.resume().once('end', () => response.end()));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return { url: `http://127.0.0.1:${port}`, close: () => void server.close() };
}

function adminKey(cli: string, folder: string, env: NodeJS.ProcessEnv): string {
  const made = execFileSync(process.execPath, [cli, 'keys', 'create', 'page', '--admin', 'read'], {
    ...{ env: { ...process.env, ...env }, cwd: folder, encoding: 'utf8' },
  });
  return made.trim().split('\n').at(-1) ?? '';
}

/** Reads live requests as the page does. @returns a function that ends it. */
async function followRequests(url: string, key: string): Promise<() => void> {
  const end = new AbortController();
  const headers = { authorization: `Bearer ${key}` };
  const follow = async () => {
    const response = await fetch(`${url}/admin/v1/requests/live`, { headers, signal: end.signal });
    if (response.status !== 200) throw new Error(`live requests: ${response.status}`);
    return response;
  };
  const response = await follow();
  const read = async () => {
    for await (const _ of response.body ?? []) if (end.signal.aborted) return;
  };
  void read().catch(() => undefined);
  return () => end.abort();
}

/** The peer from npm, outside of the project's dependencies. */
export async function peer(upstream: string, warm: string): Promise<Contestant> {
  const folder = path.join(CACHE, 'peer');
  const entry = path.join(folder, 'node_modules', PEER, 'build', 'start-server.js');
  if (!existsSync(entry)) {
    mkdirSync(folder, { recursive: true });
    // With the newest permitted @hono/node-server, all its streams fail ("TypeError: immutable").
    const manifest = {
      private: true,
      dependencies: { [PEER]: '1.15.2' },
      overrides: { '@hono/node-server': '1.13.8' },
    };
    writeFileSync(path.join(folder, 'package.json'), JSON.stringify(manifest));
    execFileSync('npm', ['install', '--no-audit', '--no-fund', '--silent'], { cwd: folder });
  }
  const port = await freePort();
  const startedAt = performance.now();
  const child = spawn(process.execPath, [entry, '--headless', `--port=${port}`], { stdio: 'ignore', cwd: folder });
  const url = `http://127.0.0.1:${port}`;
  for (let up = false; !up; )
    up = await fetch(url)
      .then(() => true)
      .catch(() => false);
  const headers = (translated: boolean) => ({
    'x-portkey-provider': translated ? 'anthropic' : 'openai',
    'x-portkey-custom-host': `${upstream}/v1`,
    authorization: 'Bearer sk-bench',
  });
  const request = (body: string, translated: boolean) => ({
    url,
    bytes: requestBytes(`${url}/v1/chat/completions`, headers(translated), body),
  });
  return ready({ name: 'portkey', child, startedAt, request }, warm);
}

interface Starting {
  readonly name: string;
  readonly child: ChildProcess;
  readonly startedAt: number;
  readonly request: Contestant['request'];
  readonly folder?: string;
}

async function ready({ name, child, startedAt, request, folder }: Starting, warm: string): Promise<Contestant> {
  const { Connection } = await import('./load.ts');
  const { url, bytes } = request(warm, false);
  const connection = new Connection(url);
  await connection.send(bytes);
  connection.close();
  const coldStartMs = performance.now() - startedAt;
  const stop = () => {
    child.kill('SIGKILL');
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  };
  return { name, pid: child.pid ?? 0, coldStartMs, request, stop };
}
