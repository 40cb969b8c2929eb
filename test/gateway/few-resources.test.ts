import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { defaultBodyBytes } from '../../src/gateway/http/body-memory.ts';
import { CLI } from '../svc-program.ts';
import { chatRequest } from './chat-request.ts';
import { KEY, ServeHarness } from './serve-harness.ts';

const ANSWER = '{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}';

/** `svc serve` with less memory or fewer files than usual. */
describe('a gateway with few resources', () => {
  let harness: ServeHarness;
  before(async () => {
    harness = await ServeHarness.start();
  });
  after(() => harness.close());

  /** @param program the program and arguments that start Node. */
  async function serve(program: string, ...args: string[]): Promise<{ child: ChildProcess; url: string }> {
    const options = ['serve', '--port', '0', '--config', path.join(harness.folder, 'svc.jsonc')];
    const child = spawn(program, [...args, CLI, ...options], {
      cwd: harness.folder,
      stdio: ['pipe', 'pipe', 'ignore'],
      env: {
        PATH: process.env.PATH,
        HOME: harness.folder,
        XDG_DATA_HOME: harness.folder,
        SVC_DISABLE_CATALOG_REFRESH: '1',
        SVC_GATEWAY_KEY: KEY,
      },
    });
    harness.add(child);
    for await (const chunk of child.stdout) {
      const url = /listening on (http\S+)/.exec(String(chunk))?.[1];
      if (url !== undefined) return { child, url };
    }
    return assert.fail('It did not start.');
  }

  interface Answered {
    readonly status: number | undefined;
    readonly text: string;
  }

  /** Sends a body on a connection of its own. */
  function send(url: string, body: string): Promise<Answered> {
    return new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
      const sent = request(`${url}/v1/chat/completions`, { method: 'POST', headers, agent: new Agent() }, (answer) => {
        let text = '';
        answer.on('data', (chunk) => {
          text += chunk;
        });
        answer.on('end', () => resolve({ status: answer.statusCode, text }));
        answer.on('error', reject);
      });
      sent.on('error', reject);
      sent.end(body);
    });
  }

  /** Resolves when a request is served: the connections before it end some time after their answers. */
  async function untilServed(url: string, body: string): Promise<void> {
    let answer: Answered;
    do answer = await send(url, body);
    while (answer.status === 503);
    assert.equal(answer.status, 200);
  }

  it('few files: of 64, each client gets an answer, and later ones are served', async function () {
    if (process.platform === 'win32') this.skip();
    harness.upstream.respond(async (_, response) => {
      await sleep(300);
      response.writeHead(200, { 'content-type': 'application/json' }).end(ANSWER);
    });
    const { child, url } = await serve('sh', '-c', 'ulimit -n 64 && exec "$0" "$@"', process.execPath);
    const body = JSON.stringify(chatRequest('up/m'));
    for (const count of [20, 150, 20]) {
      const answers = await Promise.all(Array.from({ length: count }, () => send(url, body)));
      const served = answers.filter(({ status }) => status === 200);
      assert.ok(served.length >= 5, `${served.length} of ${count}`);
      for (const { status, text } of answers) {
        if (status !== 200) assert.match(`${status} ${text}`, /^503 .*as many connections as it can have open files/);
      }
    }
    assert.equal(child.exitCode, null);
    await untilServed(url, body);
  });

  it('few files: connections that send nothing leave their places', async function () {
    if (process.platform === 'win32') this.skip();
    harness.upstream.respond(undefined);
    const { url } = await serve('sh', '-c', 'ulimit -n 64 && exec "$0" "$@"', process.execPath);
    const { hostname: host, port } = new URL(url);
    const { connect } = await import('node:net');
    const silent = Array.from({ length: 13 }, () => connect(Number(port), host).on('error', () => undefined));
    const closed = Promise.race(silent.map((each) => once(each, 'close')));
    await closed;
    const { status } = await send(url, JSON.stringify(chatRequest('up/m')));
    assert.ok(status === 200 || status === 503, String(status));
    for (const each of silent) each.destroy();
    await untilServed(url, JSON.stringify(chatRequest('up/m')));
  });

  it('few memory: 8 bodies of 20 MB at once, as long texts and as many messages, do not end a process of 128 MB', async () => {
    harness.upstream.respond(async (_, response) => {
      await sleep(300);
      response.writeHead(200, { 'content-type': 'application/json' }).end(ANSWER);
    });
    const { child, url } = await serve(process.execPath, '--max-old-space-size=128');
    const many = Array.from({ length: 9_000 }, () => ({ role: 'user', content: 'x'.repeat(2_200) }));
    const bodies = [[{ role: 'user', content: 'x'.repeat(20_000_000) }], many].map((messages) =>
      JSON.stringify({ model: 'up/m', messages }),
    );
    const answers = await Promise.allSettled(
      Array.from({ length: 4 }, () => bodies.map((body) => send(url, body))).flat(),
    );
    const statuses = answers.map((each) => (each.status === 'fulfilled' ? each.value.status : each.reason.code));
    assert.equal(child.exitCode ?? child.signalCode, null, `${statuses}`);
    // A refused client may still be sending its body when the connection is closed.
    assert.ok(
      statuses.every((status) => [200, 503, 'EPIPE', 'ECONNRESET'].includes(status)),
      `${statuses}`,
    );
    assert.equal((await send(url, JSON.stringify(chatRequest('up/m')))).status, 200);
  });

  it('few memory: the default of bodies in memory is a quarter of the heap, and at most 256 MiB', async () => {
    const { getHeapStatistics } = await import('node:v8');
    assert.equal(defaultBodyBytes(), Math.min(268_435_456, Math.floor(getHeapStatistics().heap_size_limit / 4)));
  });
});
