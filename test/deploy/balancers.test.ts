import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ServeHarness, type ServeProcess } from '../gateway/serve-harness.ts';
import { freePort } from '../host/code-server.ts';
import { type Program, programPath, serverPath } from '../host/debian.ts';
import type { Responder } from '../upstream/upstream.ts';

const DEPLOY = join(import.meta.dirname, '..', '..', 'deploy');
const GATEWAY_PORTS = [4181, 4182, 4183];
const HOST = 'ai.example.com';
const CLIENTS = 20;
/** A stream lasts for longer than the delay of a balancer's check. */
const FRAMES = 8;
const FRAME_MS = 400;

interface Balancer {
  readonly program: Program;
  /** It asks `/readyz`, so it sends nothing to a gateway that is about to close its port. */
  readonly checks: boolean;
  readonly file: string;
  /** Writes the configuration and returns the arguments that start the program in the foreground. */
  readonly around: (folder: string, text: string) => string[];
}

/** The unchanged files, except for ports. */
const BALANCERS: readonly Balancer[] = [
  {
    checks: true,
    program: { name: 'HAProxy', paths: ['/usr/sbin/haproxy'], debianPackage: 'haproxy' },
    file: 'haproxy.cfg',
    around: (folder, text) => {
      writeFileSync(join(folder, 'haproxy.cfg'), text);
      return ['-db', '-f', join(folder, 'haproxy.cfg')];
    },
  },
  {
    checks: false,
    program: { name: 'nginx', paths: ['/usr/sbin/nginx', '/opt/homebrew/bin/nginx'], debianPackage: 'nginx' },
    file: 'nginx.conf',
    around: (folder, text) => {
      const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
      const http = temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ');
      const user = process.getuid?.() === 0 ? 'user root;' : '';
      const rest = `daemon off; pid ${folder}/nginx.pid; events {}`;
      writeFileSync(join(folder, 'nginx.conf'), `${user} ${rest}\nhttp { access_log off; ${http}\n${text}\n}\n`);
      return ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', 'stderr'];
    },
  },
  {
    checks: true,
    program: { name: 'Caddy', paths: ['/usr/bin/caddy', '/opt/homebrew/bin/caddy'], debianPackage: 'caddy' },
    file: 'Caddyfile',
    around: (folder, text) => {
      const site = text.replace(HOST, '').replace('{\n', '{\n\tbind 127.0.0.1\n');
      writeFileSync(join(folder, 'Caddyfile'), `{\n\tadmin off\n}\n${site}`);
      return ['run', '--adapter', 'caddyfile', '--config', join(folder, 'Caddyfile')];
    },
  },
];

describe('the balancers of deploy/', () => {
  let harness: ServeHarness;
  let ports: readonly number[];
  let gateways: ServeProcess[];
  const folders: string[] = [];
  const children: ChildProcess[] = [];
  const urls = new Map<Balancer, string>();

  const serve = (port: number) => harness.serve(['--port', String(port), '--drain-delay', '3', '--drain', '20']);

  /** In front of the same gateways as the others. */
  const start = async (balancer: Balancer) => {
    const { program, file, around } = balancer;
    // HAProxy needs libraries of other packages.
    const path = program.name === 'HAProxy' ? programPath(program) : serverPath(program);
    const folder = mkdtempSync(join(tmpdir(), 'svc-balancer-'));
    folders.push(folder);
    const port = await freePort();
    const written = GATEWAY_PORTS.reduce(
      (text, each, index) => text.replace(`:${each}`, `:${ports[index]}`),
      readFileSync(join(DEPLOY, file), 'utf8').replace(':8080', `:${port}`),
    );
    const env = { PATH: process.env.PATH, HOME: folder };
    const child = spawn(path, around(folder, written), { stdio: ['ignore', 'ignore', 'pipe'], env });
    children.push(child);
    const url = `http://127.0.0.1:${port}`;
    await ready(child, url);
    urls.set(balancer, url);
  };

  before(async function () {
    this.timeout(300_000);
    harness = await ServeHarness.start();
    harness.upstream.respond(slowly);
    ports = await Promise.all(GATEWAY_PORTS.map(freePort));
    gateways = await Promise.all(ports.map(serve));
    // A balancer would notice a second later that they are ready.
    for (const gateway of gateways) await until200(`${gateway.url}/readyz`);
    for (const balancer of BALANCERS) await start(balancer);
  });
  after(async () => {
    for (const child of children) child.kill();
    await harness?.close();
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });

  for (const balancer of BALANCERS) {
    it(`${balancer.program.name}: spreads requests over three gateways, and does not expose the metrics`, async () => {
      const url = urls.get(balancer) ?? '';
      const before = await Promise.all(gateways.map(answered));
      const codes = await Promise.all(Array.from({ length: 60 }, () => status(harness.send(url))));
      assert.deepEqual([...new Set(codes)], [200]);
      const counts = await Promise.all(gateways.map(answered));
      const own = counts.map((count, index) => count - (before[index] ?? 0));
      assert.ok(Math.min(...own) >= 10, `${own}`);
      assert.equal(await status(fetch(`${url}/metrics`)), 401);
    });
  }

  it('a rolling restart of three gateways: cuts no stream and fails no request behind balancers with health checks', async function () {
    this.timeout(120_000);
    const checking = BALANCERS.filter(({ checks }) => checks);
    const loads = checking.map((balancer) => new Load(harness, urls.get(balancer) ?? ''));
    for (const [index, gateway] of gateways.entries()) {
      const ended = once(gateway.child, 'exit');
      gateway.child.kill('SIGTERM');
      await ended;
      const next = await serve(ports[index] ?? 0);
      gateways[index] = next;
      // All balancers have noticed that it is back.
      while ((await answered(next)) < 2 * CLIENTS) await sleep(50);
    }
    const failed = await Promise.all(loads.map((load) => load.end()));
    assert.deepEqual(failed.flat(), []);
    for (const { streams } of loads) assert.ok(streams > CLIENTS);
  });
});

/** Clients that send one request after the other, until they are stopped. */
class Load {
  #going = true;
  readonly #failed: string[] = [];
  readonly #clients: readonly Promise<void>[];
  #streams = 0;

  constructor(harness: ServeHarness, url: string) {
    const client = async (stream: boolean, number: number) => {
      await sleep(number * (FRAME_MS / CLIENTS));
      while (this.#going) await this.#send(harness, url, stream);
    };
    this.#clients = Array.from({ length: CLIENTS }, (_, number) => client(number > 0, number));
  }

  get streams(): number {
    return this.#streams;
  }

  /** @returns what failed. */
  async end(): Promise<readonly string[]> {
    this.#going = false;
    await Promise.all(this.#clients);
    return this.#failed;
  }

  async #send(harness: ServeHarness, url: string, stream: boolean): Promise<void> {
    try {
      const response = await harness.send(url, { stream });
      const text = await response.text();
      if (response.status !== 200) this.#failed.push(`${response.status} ${text}`);
      else if (stream && !text.includes('[DONE]')) this.#failed.push('a stream was cut');
      if (stream) this.#streams += 1;
      else await sleep(20);
    } catch (thrown) {
      this.#failed.push(String(thrown));
    }
  }
}

const slowly: Responder = async ({ body }, response) => {
  const frame = (content: string) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`;
  if (body.stream !== true) {
    const message = { role: 'assistant', content: 'Hello' };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'stop' }] }));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (let sent = 0; sent < FRAMES; sent += 1) {
    response.write(frame('Hello '));
    await sleep(FRAME_MS);
  }
  response.end(
    `data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}\n\ndata: [DONE]\n\n`,
  );
};

async function status(answer: Promise<Response>): Promise<number> {
  const response = await answer;
  await response.arrayBuffer();
  return response.status;
}

/** Requests that a gateway has answered. */
async function answered({ url }: ServeProcess): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const counts = text.matchAll(/^svc_gateway_requests_total\{route="\/chat\/completions".* (\d+)$/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

/** Waits until it answers. @throws with its output if it ends before. */
async function ready(balancer: ChildProcess, url: string): Promise<void> {
  let said = '';
  balancer.stderr?.on('data', (part) => {
    said += part;
  });
  await until200(`${url}/readyz`, () => {
    if (balancer.exitCode !== null) throw new Error(said);
  });
}

async function until200(url: string, check = () => {}): Promise<void> {
  while (
    (await fetch(url).then(
      ({ status }) => status,
      () => 0,
    )) !== 200
  ) {
    check();
    await sleep(20);
  }
}
