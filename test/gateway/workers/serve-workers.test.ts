import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Responder } from '../../upstream/upstream.ts';
import { AllowedRequests } from '../allowed-requests.ts';
import { KEY, ServeHarness, type ServeProcess } from '../serve-harness.ts';
import { until, untilEqual } from '../until.ts';
import { WORKERS } from './workers-harness.ts';

describe('svc serve --workers', () => {
  let harness: ServeHarness;

  beforeEach(async () => {
    harness = await ServeHarness.start();
  });

  afterEach(() => harness?.close());

  const serve = async (...args: string[]) => {
    const gateway = await harness.serve(['--workers', String(WORKERS), ...args]);
    await gateway.logged('all workers accept requests');
    return gateway;
  };
  const createKey = async (...limits: string[]) => {
    const { stdout } = await harness.svc('keys', 'create', 'k', ...limits);
    return stdout.trim().split('\n').at(-1) ?? '';
  };
  const workers = ({ child }: ServeProcess) =>
    execFileSync('ps', ['-o', 'pid=', '--ppid', String(child.pid)], { encoding: 'utf8' })
      .split('\n')
      .map(Number)
      .filter((pid) => pid > 0 && pid !== child.pid);
  /** On a connection of its own, so that any worker may get it. */
  const send = (gateway: ServeProcess, key: string, more: Record<string, unknown> = {}) =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, connection: 'close' },
      body: JSON.stringify({ model: 'up/m', messages: [{ role: 'user', content: 'Hi' }], ...more }),
    });
  const status = async (gateway: ServeProcess, key: string, more: Record<string, unknown> = {}) => {
    const response = await send(gateway, key, more);
    await response.text();
    return response.status;
  };
  /** USD in the ledger. */
  const spent = async () =>
    Number(/"cost(?:Usd)?":\s*([\d.]+)/.exec((await harness.svc('usage', '--json')).stdout)?.[1]);
  const answeredBy = (gateway: ServeProcess) =>
    new Set(
      gateway
        .written()
        .split('\n')
        .filter((line) => line.includes('"msg":"request"'))
        .map((line) => JSON.parse(line).pid),
    );

  /** The requests with status 200 that /metrics counts. Those of a worker that is busy come with a later answer. */
  const counted = async ({ url }: ServeProcess) => {
    const metrics = await (await fetch(`${url}/metrics`)).text();
    return /svc_gateway_requests_total\{route="\/chat\/completions",status="200"\} (\d+)\n/.exec(metrics)?.[1];
  };

  it('all workers answer at one port, and /metrics has the sums of all', async () => {
    const key = await createKey();
    const gateway = await serve();
    for (let sent = 0; sent < 30; sent += 1) assert.equal(await status(gateway, key), 200);
    await until('all lines are in the log', () => gateway.written().split('"msg":"request"').length > 30);
    assert.equal(answeredBy(gateway).size, WORKERS);
    await untilEqual('requests of all are counted', () => counted(gateway), '30');
  });

  /** The first process keeps its release when the workers are updated. */
  const earlierPrimary = (query = '') => {
    harness.nodeArgs = ['--import', new URL(`earlier-primary.mjs${query}`, import.meta.url).href];
  };

  it('/metrics of workers whose first process is of an earlier release: has the sums of all', async () => {
    earlierPrimary();
    const gateway = await serve();
    for (let sent = 0; sent < 12; sent += 1) assert.equal(await status(gateway, KEY), 200);
    await untilEqual('requests of all are counted', () => counted(gateway), '12');
  });

  it('/metrics of workers whose first process does not answer: has those of the worker', async () => {
    earlierPrimary('?silent');
    const gateway = await serve();
    const response = await fetch(`${gateway.url}/metrics`);
    assert.equal(response.status, 200);
    assert.match(await response.text(), /^svc_gateway_requests_active \d+$/m);
  });

  it('counters and histograms: count requests of workers that were killed or replaced', async () => {
    const gateway = await serve();
    const count = async (name: string): Promise<number> => {
      const text = await (await fetch(`${gateway.url}/metrics`)).text();
      return Number(new RegExp(`^svc_gateway_${name}{[^}]*route="/chat/completions"[^}]*} (.*)$`, 'm').exec(text)?.[1]);
    };
    const ask = async (requests: number) => {
      for (let sent = 0; sent < requests; sent += 1) assert.equal(await status(gateway, KEY), 200);
    };
    await ask(30);
    await untilEqual('they are counted', () => count('requests_total'), 30);
    await until('a request is logged', () => answeredBy(gateway).size > 0);
    const [victim] = answeredBy(gateway);
    process.kill(victim ?? assert.fail(), 'SIGKILL');
    await gateway.logged('a worker ended: it is started again');
    await ask(10);
    gateway.child.kill('SIGUSR2');
    await gateway.logged('all workers were replaced');
    // A busy worker answers later than the page waits for it: its last counters count until then.
    for (const name of ['requests_total', 'request_seconds_count']) await untilEqual(name, () => count(name), 40);
    assert.equal(await count('requests_total'), 40);
  });

  it('requests per minute: all workers together have the limit', async () => {
    const key = await createKey('--rpm', '60');
    const gateway = await serve();
    const allowed = new AllowedRequests();
    await allowed.useUp(
      57,
      Array.from({ length: 6 }, () => () => status(gateway, key)),
    );
    assert.ok(allowed.mostInAMinute <= 60, String(allowed.mostInAMinute));
  });

  it('requests at a time: all workers together have the limit', async () => {
    let running = 0;
    let most = 0;
    let ended = Promise.withResolvers<void>();
    harness.upstream.respond(async (request, response) => {
      // The workers list the models too.
      if (request.method !== 'POST') return void response.writeHead(404).end();
      running += 1;
      await ended.promise;
      running -= 1;
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', content: 'x' } }] }));
    });
    const key = await createKey('--parallel', '4');
    const gateway = await serve();
    await until('the limit is reached', async () => {
      ended = Promise.withResolvers();
      let refused = 0;
      const answers = Array.from({ length: 12 }, async () => {
        if ((await status(gateway, key)) !== 200) refused += 1;
      });
      await until('each request runs or is refused', () => running + refused === answers.length);
      most = Math.max(most, running);
      ended.resolve();
      await Promise.all(answers);
      return most >= 4;
    });
    assert.equal(most, 4);
  });

  it('a hard budget: all workers together spend not more than it, and nearly all of it', async () => {
    await harness.configure({ m: { cost: { input: 1_000, output: 2_000 } } });
    const key = await createKey('--budget', '1', '--mode', 'hard');
    const gateway = await serve();
    let answered = 0;
    await until('the budget is spent', async () => {
      const codes = await Promise.all(Array.from({ length: 20 }, () => status(gateway, key, { max_tokens: 2 })));
      answered += codes.filter((code) => code === 200).length;
      // A busy worker may have got none of them.
      return codes.every((code) => code === 402) && (await spent()) >= 0.9;
    });
    // It writes all rows before it ends.
    const exit = once(gateway.child, 'exit');
    gateway.child.kill('SIGTERM');
    await exit;
    const cost = await spent();
    // The provider reports 11 tokens of input and 7 of output of each.
    assert.ok(cost <= 1 && Math.abs(cost - answered * 0.025) < 1e-6, `${cost} USD for ${answered} requests`);
  });

  it('a hard budget: the part of a worker that was killed is spent by the others, and not more than the budget', async () => {
    await harness.configure({ m: { cost: { input: 1_000, output: 2_000 } } });
    const key = await createKey('--budget', '1', '--mode', 'hard');
    const gateway = await serve();
    const batch = () => Promise.all(Array.from({ length: 12 }, () => status(gateway, key, { max_tokens: 2 })));
    await until('each worker has a part', async () => {
      await batch();
      return answeredBy(gateway).size === WORKERS;
    });
    const [victim] = answeredBy(gateway);
    process.kill(victim ?? assert.fail(), 'SIGKILL');
    await gateway.logged('worker-ended');
    // The killed worker may have lost the rows of its last quarter of a second.
    await until('the budget is spent', async () => {
      const codes = await batch();
      return codes.every((code) => code === 402) && (await spent()) >= 0.9;
    });
    const exit = once(gateway.child, 'exit');
    gateway.child.kill('SIGTERM');
    await exit;
    assert.ok((await spent()) <= 1, String(await spent()));
  });

  it('svc keys revoke --cut: ends the streams of all workers', async () => {
    harness.upstream.respond(endless);
    const key = await createKey();
    const gateway = await serve();
    const streams = await Promise.all(Array.from({ length: 9 }, () => send(gateway, key, { stream: true })));
    assert.deepEqual([...new Set(streams.map((each) => each.status))], [200]);
    const ends = Promise.all(streams.map((each) => each.text().catch(() => 'cut')));
    await harness.svc('keys', 'revoke', 'k', '--cut');
    await ends;
    await untilEqual('the key is refused', () => status(gateway, key), 401, 10_000);
  });

  it('a worker that is killed is started again, and requests go on', async () => {
    const key = await createKey();
    const gateway = await serve();
    const [first] = workers(gateway);
    assert.equal(workers(gateway).length, WORKERS);
    process.kill(first ?? assert.fail(), 'SIGKILL');
    await gateway.logged('worker-ended');
    await until('it is replaced', () => workers(gateway).length === WORKERS && !workers(gateway).includes(first ?? 0));
    for (let sent = 0; sent < 10; sent += 1) assert.equal(await status(gateway, key), 200);
  });

  it('SIGTERM: all workers finish their streams, /readyz is 503 meanwhile, and all rows are stored', async () => {
    const ending = Promise.withResolvers<void>();
    harness.upstream.respond(async (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(frame({ content: 'Hello ' }));
      await ending.promise;
      response.end(`${frame({}, 'stop')}data: [DONE]\n\n`);
    });
    const key = await createKey();
    const gateway = await serve('--drain-delay', '3');
    const streams = await Promise.all(Array.from({ length: 9 }, () => send(gateway, key, { stream: true })));
    const exit = once(gateway.child, 'exit');
    gateway.child.kill('SIGTERM');
    await until('not ready', async () => (await fetch(`${gateway.url}/readyz`)).status === 503);
    ending.resolve();
    const texts = await Promise.all(streams.map((each) => each.text()));
    assert.ok(texts.every((text) => text.includes('[DONE]')));
    assert.deepEqual(await exit, [0, null]);
    const { stdout } = await harness.svc('usage', '--json');
    assert.match(stdout, /"requests":\s*9\b/);
  });

  it('SIGTERM while the first worker starts: no further one is started, and the gateway ends', async () => {
    const starting = harness.serve(['--workers', String(WORKERS)]).catch(() => undefined);
    const [child] = harness.children;
    assert.ok(child);
    const exit = once(child, 'exit');
    await until('the first worker is started', () => spawnSync('pgrep', ['-P', String(child.pid)]).status === 0);
    child.kill('SIGTERM');
    assert.deepEqual(await exit, [0, null]);
    await starting;
  });

  it('SIGUSR2: replaces all workers, cuts no stream and fails no request', async () => {
    harness.upstream.respond(slowly);
    const key = await createKey();
    const gateway = await serve('--drain', '30');
    const before = workers(gateway);
    const failed: string[] = [];
    let going = true;
    const client = async () => {
      while (going) {
        try {
          const text = await (await send(gateway, key, { stream: true })).text();
          if (!text.includes('[DONE]')) failed.push(text);
        } catch (thrown) {
          failed.push(String(thrown));
        }
      }
    };
    const clients = Array.from({ length: 12 }, client);
    const streams = () => harness.upstream.requests.filter(({ method }) => method === 'POST').length;
    await until('each client has a stream', () => streams() >= clients.length);
    gateway.child.kill('SIGUSR2');
    await gateway.logged('all workers were replaced');
    going = false;
    await Promise.all(clients);
    assert.deepEqual(failed, []);
    await until('all workers are new ones', () => {
      const after = workers(gateway);
      return (after.length === WORKERS && after.every((pid) => !before.includes(pid))) || after;
    });
  });

  it('SIGUSR2 while the workers start: they are replaced when all are started', async () => {
    const key = await createKey();
    const gateway = await harness.serve(['--workers', String(WORKERS)]);
    gateway.child.kill('SIGUSR2');
    await gateway.logged('all workers were replaced');
    assert.equal(workers(gateway).length, WORKERS);
    assert.equal(await status(gateway, key), 200);
  });

  it('SIGUSR2 while a worker ends by itself: there are as many workers as before', async () => {
    const gateway = await serve();
    const [first, ...others] = workers(gateway);
    assert.ok(first);
    gateway.child.kill('SIGUSR2');
    await gateway.logged('replacing the workers');
    process.kill(first, 'SIGKILL');
    await gateway.logged('all workers were replaced');
    await until('each has a successor', () => {
      const now = workers(gateway);
      return (now.length === WORKERS && others.every((pid) => !now.includes(pid))) || now;
    });
  });

  it('the primary is killed: its workers end, and their rows are stored', async () => {
    const key = await createKey();
    const gateway = await serve();
    const pids = workers(gateway);
    for (let sent = 0; sent < 9; sent += 1) assert.equal(await status(gateway, key), 200);
    gateway.child.kill('SIGKILL');
    await until('the workers have ended', () => pids.every((pid) => !isAlive(pid)));
    const { stdout } = await harness.svc('usage', '--json');
    assert.match(stdout, /"requests":\s*9\b/);
  });

  it('the primary is killed while another process writes: no row is lost', async () => {
    const key = await createKey();
    const gateway = await serve();
    const pids = workers(gateway);
    const other = new DatabaseSync(harness.database);
    other.exec('BEGIN IMMEDIATE');
    for (let sent = 0; sent < 9; sent += 1) assert.equal(await status(gateway, key), 200);
    gateway.child.kill('SIGKILL');
    // A worker that serves waits 50 ms for another process.
    const enough = performance.now() + 500;
    await until('a worker to give up', () => pids.some((pid) => !isAlive(pid)) || performance.now() > enough);
    other.exec('COMMIT');
    other.close();
    await until('the workers have ended', () => pids.every((pid) => !isAlive(pid)));
    const { stdout } = await harness.svc('usage', '--json');
    assert.match(stdout, /"requests":\s*9\b/);
  });

  it('a configuration that can’t be used: one message, and no worker is started again', async () => {
    const blocker = await harness.serve();
    const port = new URL(blocker.url).port;
    await assert.rejects(harness.serve(['--workers', '3', '--port', port]), (error: Error) => {
      assert.equal(error.message.split('is in use').length, 2, error.message);
      return true;
    });
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

const frame = (delta: Record<string, unknown>, finish: string | null = null) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;

/** A stream of about two seconds. */
const slowly: Responder = async (_, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (let sent = 0; sent < 10; sent += 1) {
    response.write(frame({ content: 'Hello ' }));
    await sleep(200);
  }
  response.end(`${frame({}, 'stop')}data: [DONE]\n\n`);
};

const endless: Responder = async (_, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  while (!response.destroyed) {
    response.write(frame({ content: 'Hello ' }));
    await sleep(50);
  }
};
