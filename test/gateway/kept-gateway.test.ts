import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Memento } from 'vscode';
import {
  type DetachedGateway,
  findDetached,
  proofSecret,
  provenProcess,
  startDetached,
  stopDetached,
} from '../../src/extension/gateway/detached-gateway.ts';
import { freePort } from '../host/free-port.ts';
import { CLI } from '../svc-program.ts';
import { ServeHarness } from './serve-harness.ts';

const KEY = 'svc-key-that-a-neighbour-must-not-get';

/** Another program of the machine that listens at a port. */
interface Neighbour {
  readonly port: number;
  readonly url: string;
  /** What it received: lines of requests, headers and bodies. */
  readonly received: string[];
  close(): void;
}

describe('a gateway that keeps running, and its neighbours', () => {
  let harness: ServeHarness;
  let env: NodeJS.ProcessEnv;
  const closing: (() => void)[] = [];
  before(async () => {
    harness = await ServeHarness.start();
    const { PATH } = process.env;
    const config = path.join(harness.folder, 'svc.jsonc');
    const own = { HOME: harness.folder, XDG_DATA_HOME: harness.folder, SVC_CONFIG: config };
    env = { PATH, ...own, SVC_DISABLE_CATALOG_REFRESH: '1' };
  });
  after(async () => {
    for (const close of closing) close();
    await harness.close();
  });

  const launch = (port: number) => ({
    file: process.execPath,
    args: [CLI, 'serve', '--no-project'],
    env: { ...env, SVC_GATEWAY_KEY: KEY },
    cwd: harness.folder,
    port,
    storage: harness.folder,
  });

  async function listen(
    answer: (request: IncomingMessage, response: ServerResponse) => unknown,
    port = 0,
  ): Promise<Neighbour> {
    const received: string[] = [];
    const server = createServer((request, response) => {
      received.push(`${request.method} ${request.url} ${JSON.stringify(request.headers)}`);
      request.on('data', (chunk) => received.push(String(chunk)));
      void answer(request, response);
    }).listen(port, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const own = typeof address === 'object' && address !== null ? address.port : 0;
    const close = () => {
      server.close();
      server.closeAllConnections();
    };
    closing.push(close);
    return { port: own, url: `http://127.0.0.1:${own}`, received, close };
  }

  function remembering(kept?: DetachedGateway): Memento {
    const values = new Map<string, unknown>(kept ? [['svc.keptGateway', kept]] : []);
    return {
      keys: () => [...values.keys()],
      get: <T>(name: string, otherwise?: T) => (values.get(name) as T | undefined) ?? otherwise,
      update: async (name: string, value: unknown) => void values.set(name, value),
    };
  }

  const sendJson = (response: ServerResponse, value: unknown, status = 200) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));

  for (const [what, answer] of [
    ['answers 400 to everything', (_: IncomingMessage, response: ServerResponse) => sendJson(response, {}, 400)],
    [
      'answers 200 to everything',
      (_: IncomingMessage, response: ServerResponse) => sendJson(response, { status: 'ok' }),
    ],
    [
      'invents a proof',
      (_: IncomingMessage, response: ServerResponse) => sendJson(response, { pid: process.pid, proof: 'x'.repeat(43) }),
    ],
    [
      'redirects',
      (_: IncomingMessage, response: ServerResponse) =>
        response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end(),
    ],
  ] as const) {
    it(`a neighbour at the remembered port that ${what} gets no key and is not taken for the gateway`, async () => {
      const neighbour = await listen(answer);
      const memory = remembering({ pid: process.pid, url: neighbour.url });
      assert.equal(await findDetached(memory, async () => KEY), undefined);
      assert.equal(memory.get('svc.keptGateway'), undefined);
      assert.ok(neighbour.received.length > 0);
      assert.ok(!neighbour.received.join('\n').includes(KEY));
      assert.ok(!neighbour.received.join('\n').includes(proofSecret(KEY)));
    });
  }

  it('a kept gateway that answers too late is not used, but still remembered, also after an order to stop', async () => {
    const silent = await listen((_, response) => response.writeHead(200).write('{"pid":'));
    const kept = { pid: process.pid, url: silent.url };
    const [found, stopped] = [remembering(kept), remembering(kept)];
    assert.deepEqual(await Promise.all([findDetached(found, async () => KEY), stopDetached(stopped, KEY, kept)]), [
      undefined,
      undefined,
    ]);
    for (const memory of [found, stopped]) assert.deepEqual(memory.get('svc.keptGateway'), kept);
    assert.ok(!silent.received.join('\n').includes(KEY));
  });

  it('a start at a port that a neighbour has is an error', async () => {
    const neighbour = await listen((_, response) => sendJson(response, { status: 'ok' }));
    const memory = remembering();
    await assert.rejects(startDetached(memory, KEY, launch(neighbour.port)), /ended with code/);
    assert.equal(memory.get('svc.keptGateway'), undefined);
    assert.ok(!neighbour.received.join('\n').includes(KEY));
  });

  it('a kept gateway is found again and stopped, and a neighbour can’t use its proofs', async () => {
    const memory = remembering();
    const kept = await startDetached(memory, KEY, launch(0));
    const real = new URL(kept.url);
    assert.deepEqual(await findDetached(memory, async () => KEY), kept);
    assert.equal(await provenProcess(kept.url, 'another key'), undefined);

    const relay = await listen(async (request, response) => {
      const answer = await fetch(new URL(request.url ?? '', real));
      sendJson(response, await answer.json());
    });
    assert.equal(await provenProcess(relay.url, KEY), undefined, 'passed on from another port');

    let old: unknown;
    const replay = await listen(async (request, response) => {
      old ??= await (await fetch(new URL(request.url ?? '', real))).json();
      sendJson(response, old);
    });
    await provenProcess(replay.url, KEY);
    assert.equal(await provenProcess(replay.url, KEY), undefined, 'an old proof');

    for (const [path, headers] of [
      ['/proof', {}],
      ['/proof?nonce=short', {}],
      [`/proof?nonce=${'n'.repeat(43)}`, { 'x-forwarded-for': '192.0.2.1' }],
    ] as const) {
      assert.equal((await fetch(kept.url + path, { headers })).status, 404, path);
    }

    await stopDetached(memory, KEY, kept);
    while ((await provenProcess(kept.url, KEY)) !== undefined) await sleep(20);
    assert.equal(memory.get('svc.keptGateway'), undefined);
  });

  it('stopping ends no process that took the id or the port of a gateway that has ended', async () => {
    const other: ChildProcess = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    closing.push(() => other.kill());
    await once(other, 'spawn');
    const neighbour = await listen((_, response) => sendJson(response, { pid: other.pid, proof: 'x' }));
    let ended = false;
    other.once('exit', () => {
      ended = true;
    });
    const pid = other.pid ?? assert.fail();
    await stopDetached(remembering(), KEY, { pid, url: neighbour.url });
    await stopDetached(remembering(), KEY, { pid, url: `http://127.0.0.1:${await freePort()}` });
    process.kill(pid, 0);
    assert.ok(!ended);
  });

  it('a gateway that no window started proves nothing', async () => {
    const { url } = await harness.serve();
    assert.equal((await fetch(`${url}/proof?nonce=${'n'.repeat(43)}`)).status, 404);
  });
});
