import assert from 'node:assert/strict';
import { once } from 'node:events';
import { copyFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { modelList, type Replica, replicaList } from '../../../src/protocol/admin-api/schemas.ts';
import { AllowedRequests } from '../allowed-requests.ts';
import { LivePage } from '../live-page.ts';
import { KEY, type ServeProcess } from '../serve-harness.ts';
import { until, untilEqual } from '../until.ts';
import { BUDGET, startFleet } from './fleet-harness.ts';
import { query } from './postgres-server.ts';

describe('gateways that share a state in Postgres', () => {
  const fleet = startFleet({ breaks: true });

  const ready = async ({ url: at }: ServeProcess, path = '/readyz') => {
    const response = await fetch(at + path);
    return [response.status, await response.json()] as const;
  };
  /** Attempts that are on the disk of the first replica. Its process has locked the file: this reads a copy. */
  const rowsOnDisk = () => {
    try {
      return readRowsOnDisk();
    } catch (thrown) {
      // The files were written between the copies of both.
      return String(thrown);
    }
  };
  const readRowsOnDisk = () => {
    const copy = join(fleet.harness.folder, 'outbox.db');
    for (const part of ['', '-wal']) {
      copyFileSync(join(dirname(fleet.harness.database), `gateway-outbox-1.db${part}`), `${copy}${part}`);
    }
    const outbox = new DatabaseSync(copy);
    try {
      const batches = outbox.prepare('SELECT rows FROM batches').all();
      const rows = batches.flatMap((batch) =>
        String(batch.rows)
          .split('\n')
          .map((row) => JSON.parse(row)),
      );
      return rows.filter(({ attempt }) => attempt > 0).length;
    } finally {
      outbox.close();
    }
  };

  it('keys: a change is known to all replicas, and rows of all are in one ledger', async () => {
    const replicas = await Promise.all([fleet.harness.serve(), fleet.harness.serve()]);
    const { stdout } = await fleet.harness.svc('keys', 'create', 'k');
    const key = stdout.trim().split('\n').at(-1) ?? '';
    for (const each of replicas) {
      await untilEqual('the key is known', () => fleet.status(each, key), 200);
    }
    await untilEqual('all rows are stored', () => fleet.stored(), 2);
    await fleet.revokeKey('k');
    for (const each of replicas) {
      await untilEqual('the key is refused', () => fleet.status(each, key), 401);
    }
    await fleet.consistent();
  });

  it('live requests and health of models: each shows those of all', async () => {
    await fleet.configure({ admin: true });
    const [first, second] = await Promise.all([fleet.harness.serve(), fleet.harness.serve()]);
    const call = ({ url: at }: ServeProcess, path: string, signal?: AbortSignal) =>
      fetch(at + path, { headers: { authorization: `Bearer ${KEY}` }, ...(signal === undefined ? {} : { signal }) });
    const page = await LivePage.open((path, signal) => call(first, path, signal), '?model=up/m');
    try {
      const send = async (to: ServeProcess) => {
        const response = await fleet.harness.send(to.url, {}, KEY);
        await response.text();
        return response.headers.get('x-request-id') ?? '';
      };
      const sent: (readonly [first: string, second: string])[] = [];
      await until('the page shows requests of both', async () => {
        sent.push([await send(first), await send(second)]);
        return [0, 1].every((of) => sent.some((ids) => page.ids.includes(ids[of] ?? '')));
      });
      assert.equal(new Set(page.ids).size, page.ids.length, 'a request was shown twice');

      const stateOf = async (of: ServeProcess) => {
        const { data } = modelList.parse(await (await call(of, '/admin/v1/models')).json());
        return data.find(({ id }) => id === 'up/m')?.health.state;
      };
      await untilEqual('the other gateway shows the answers', () => stateOf(second), 'ok');
      fleet.harness.upstream.respond((_, response) => void response.writeHead(500).end('{}'));
      await send(first);
      await untilEqual('the other gateway shows the failure', () => stateOf(second), 'failing');
      fleet.server.signal('SIGSTOP');
      await until('Postgres is away', async () => (await ready(first))[1].state === 'away');
      assert.equal(await stateOf(first), 'failing', 'each one knows its own');
    } finally {
      page.close();
    }
  });

  it('reports that Postgres can’t read as JSON: key changes and live requests reach all, and leases are renewed', async () => {
    await fleet.configure({ admin: true });
    // Peers of an earlier release, or broken ones.
    const facts = ['{"live":{', '{"live":{"readers":[{"filter":{"model":"\\u0000"}}]}}', '{"live":"\\ud83d"}'];
    for (const [index, each] of facts.entries())
      await query(
        fleet.url,
        `INSERT INTO svc.replicas (id, name, seen_at, facts) VALUES ('${index}', 'x', now() + interval '1 day', '${each}')`,
      );
    const [first, second] = await Promise.all([fleet.harness.serve(), fleet.harness.serve()]);
    const call = (path: string, signal?: AbortSignal) =>
      fetch(first.url + path, {
        headers: { authorization: `Bearer ${KEY}` },
        ...(signal === undefined ? {} : { signal }),
      });
    const page = await LivePage.open(call);
    try {
      const key = await fleet.createKey('k', ...BUDGET);
      for (const each of [first, second]) await untilEqual('the key is known', () => fleet.status(each, key), 200);
      const sent = new Set<string>();
      await until('the page shows a request of the other', async () => {
        const answer = await fleet.harness.send(second.url, { model: 'up/m' }, KEY);
        await answer.text();
        sent.add(answer.headers.get('x-request-id') ?? '');
        return page.ids.some((id) => sent.has(id));
      });
    } finally {
      page.close();
    }
    for (const odd of ['%00', 'a%0Ab', '%7F', '%C2%85']) {
      assert.equal((await call(`/admin/v1/requests/live?model=${odd}`, AbortSignal.timeout(60_000))).status, 400, odd);
    }
  });

  it('budgets: many requests at once at gateways that have just started all wait for their share', async () => {
    const key = await fleet.createKey('k', '--budget', '1', '--mode', 'hard');
    const all = await Promise.all([fleet.harness.serve(), fleet.harness.serve(), fleet.harness.serve()]);
    // Each reserves a cent. A request waits five seconds for its share, which can be too short on a busy machine: it is then
    // to be sent again, and is never refused for its budget.
    const send = async (at: ServeProcess): Promise<number> => {
      const answer = await fleet.harness.send(at.url, { max_tokens: 5_000 }, key);
      await answer.text();
      if (answer.status !== 503) return answer.status;
      const after = Number(answer.headers.get('retry-after'));
      assert.ok(after > 0);
      await sleep(after * 1_000);
      return send(at);
    };
    const sent = Array.from({ length: 60 }, (_, index) => send(all[index % 3] ?? assert.fail()));
    assert.deepEqual(new Set(await Promise.all(sent)), new Set([200]));
    await untilEqual('all rows are stored', () => fleet.stored(), 60);
    await fleet.consistent();
  });

  it('admin replicas: each lists all, says which one answered, which ones drain, and how many rows wait', async () => {
    await fleet.configure({ admin: true });
    const [first, second] = await Promise.all([fleet.harness.serve(), fleet.harness.serve()]);
    const list = async ({ url: at }: ServeProcess) => {
      const response = await fetch(`${at}/admin/v1/replicas`, { headers: { authorization: `Bearer ${KEY}` } });
      return replicaList.parse(await response.json()).data;
    };
    const about = (listed: readonly Replica[], { child }: ServeProcess) =>
      listed.find(({ pid }) => pid === child.pid) ?? assert.fail(`${child.pid} is not listed`);
    for (const [asked, other] of [
      [first, second],
      [second, first],
    ] as const) {
      let listed: readonly Replica[] = [];
      await until('both are listed, and were seen a moment ago', async () => {
        listed = await list(asked);
        return listed.length === 2 && listed.every(({ seen_at }) => Date.now() - Date.parse(seen_at) < 5_000);
      });
      assert.deepEqual(
        listed.map(({ pid, self, address, draining, version }) => ({ pid, self, address, draining, version })),
        [asked, other].map(({ child, url: address }) => {
          return {
            pid: child.pid,
            self: child.pid === asked.child.pid,
            address,
            draining: false,
            version: listed[0]?.version,
          };
        }),
      );
      assert.equal(new Set(listed.map(({ config_hash }) => config_hash)).size, 1);
    }
    // A request that runs is counted, and one that waits for it to end drains.
    const open = Promise.withResolvers<void>();
    fleet.harness.upstream.respond(async (_, response) => {
      await open.promise;
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end('{"id":"c","choices":[{"index":0,"message":{"role":"assistant","content":""}}]}');
    });
    const answer = fleet.harness.send(second.url, {}, KEY);
    await until('the request is counted', async () => about(await list(first), second).active_requests === 1);
    const exit = once(second.child, 'exit');
    second.child.kill('SIGTERM');
    await until('it drains', async () => about(await list(first), second).draining);
    open.resolve();
    await (await answer).text();
    await exit;
    await until('it is not listed any more', async () => (await list(first)).length === 1);
  });

  it('rates: all replicas together allow what a key may send', async () => {
    const replicas = await Promise.all([fleet.harness.serve(), fleet.harness.serve()]);
    const key = await fleet.createKey('k', '--rpm', '20');
    const allowed = new AllowedRequests();
    for (const [index, each] of replicas.entries()) {
      await until('the key is known', async () => {
        await allowed.send([() => fleet.status(each, key)]);
        return allowed.count === index + 1;
      });
    }
    await allowed.useUp(
      19,
      [...replicas, ...replicas].map((each) => () => fleet.status(each, key)),
    );
    assert.ok(allowed.mostInAMinute <= 20, String(allowed.mostInAMinute));
  });

  it('svc keys revoke --cut: ends the streams of all replicas', async () => {
    fleet.harness.upstream.respond(async (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      while (!response.destroyed) {
        response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'Hi' } }] })}\n\n`);
        await sleep(50);
      }
    });
    const key = await fleet.createKey('k');
    const replicas = await Promise.all([fleet.harness.serve(), fleet.harness.serve()]);
    const streams = await Promise.all(replicas.map((each) => fleet.harness.send(each.url, { stream: true }, key)));
    assert.deepEqual(
      streams.map((each) => each.status),
      [200, 200],
    );
    const ends = Promise.all(streams.map((each) => each.text().catch(() => 'cut')));
    await fleet.harness.svc('keys', 'revoke', 'k', '--cut');
    await ends;
  });

  it('a start while Postgres is away: no share of a budget, so paid models get 503 and free models go on', async () => {
    const models = { m: { cost: { input: 1, output: 2 } }, free: { cost: { input: 0, output: 0 } } };
    await fleet.harness.configure(models, { state: fleet.url });
    const first = await fleet.harness.serve();
    const key = await fleet.createKey('limited', ...BUDGET);
    await untilEqual('a share is granted', () => fleet.status(first, key), 200);
    const exit = once(first.child, 'exit');
    first.child.kill('SIGTERM');
    await exit;
    await fleet.server.kill();
    try {
      const again = await fleet.harness.serve();
      assert.equal(await fleet.status(again, key), 503);
      const free = await fleet.harness.send(again.url, { model: 'up/free' }, key);
      assert.equal(free.status, 200, await free.text());
    } finally {
      await fleet.server.start();
    }
  });

  it('workers of one machine are replicas: rates hold for all of them, and all rows are stored', async () => {
    const key = await fleet.createKey('k', '--rpm', '30');
    const gateway = await fleet.harness.serve(['--workers', '3']);
    await gateway.logged('all workers accept requests');
    const allowed = new AllowedRequests();
    await allowed.useUp(
      28,
      [1, 2, 3, 4, 5, 6].map(() => () => fleet.status(gateway, key)),
    );
    assert.ok(allowed.mostInAMinute <= 30, String(allowed.mostInAMinute));
    await untilEqual('all rows are stored', () => fleet.stored(), allowed.count);
    const rows = await query(fleet.url, 'SELECT count(*) AS n FROM svc.replicas WHERE released_at IS NULL');
    assert.equal(Number(rows[0]?.n), 3);
    await fleet.consistent();
  });

  it('workers of one machine: each is listed once, and the health of models is that of all', async () => {
    await fleet.configure({ admin: true });
    const gateway = await fleet.harness.serve(['--workers', '3']);
    await gateway.logged('all workers accept requests');
    const headers = { authorization: `Bearer ${KEY}`, connection: 'close' };
    /** From several workers, as each request has a connection of its own. */
    const answers = async (path: string) => {
      const responses = await Promise.all(Array.from({ length: 6 }, () => fetch(gateway.url + path, { headers })));
      return Promise.all(responses.map((each) => each.json()));
    };
    const body = JSON.stringify({ model: 'up/m', messages: [{ role: 'user', content: 'Hi' }] });
    for (let sent = 0; sent < 2; sent += 1) {
      const answer = await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers, body });
      assert.equal(answer.status, 200, await answer.text());
    }
    // Workers know the health of peers by their heartbeats.
    await until('each worker has the health of all', async () => {
      const models = (await answers('/admin/v1/models')).map((each) => modelList.parse(each).data);
      const [first, ...others] = models.map((data) => data.find(({ id }) => id === 'up/m')?.health);
      return first?.state === 'ok' && others.every((other) => isDeepStrictEqual(other, first));
    });
    await until('each worker lists all, once', async () => {
      const lists = (await answers('/admin/v1/replicas')).map((each) => replicaList.parse(each).data);
      for (const list of lists) assert.equal(new Set(list.map(({ pid }) => pid)).size, list.length);
      return lists.every(({ length }) => length === 3);
    });
  });

  it('a replica that was killed: the next process sends its rows, each once', async () => {
    const first = await fleet.harness.serve();
    const key = await fleet.createKey('k');
    await untilEqual('the key is known', () => fleet.status(first, key), 200);
    await fleet.server.kill();
    for (let sent = 0; sent < 20; sent += 1) assert.equal(await fleet.status(first, key), 200);
    await untilEqual<unknown>('the ledger is on the disk', rowsOnDisk, 21);
    const exit = once(first.child, 'exit');
    first.child.kill('SIGKILL');
    await exit;
    await fleet.server.start();
    await fleet.harness.serve();
    await untilEqual('all rows are stored', () => fleet.stored(), 21);
    await fleet.consistent();
    await untilEqual(
      'the killed replica has ended',
      async () => {
        const rows = await query(fleet.url, 'SELECT count(*) AS n FROM svc.replicas WHERE released_at IS NOT NULL');
        return Number(rows[0]?.n);
      },
      1,
    );
  });

  for (const failure of ['killed', 'frozen'] as const) {
    it(`Postgres ${failure}: requests go on without a delay, rows wait on the disk, readiness says so`, async () => {
      const replica = await fleet.harness.serve();
      const key = await fleet.createKey('k');
      await untilEqual('the key is known', () => fleet.status(replica, key), 200);
      if (failure === 'killed') await fleet.server.kill();
      else fleet.server.signal('SIGSTOP');
      let sent = 1;
      let before = 0;
      const from = performance.now();
      while (performance.now() - from < 3_500 || !replica.written().includes('state-away')) {
        assert.equal(await fleet.status(replica, key), 200);
        sent += 1;
        if (!replica.written().includes('state-away')) before += 1;
        await sleep(5);
      }
      // A request that waits for a frozen server is answered after its deadline, when the log has its line.
      assert.ok(failure === 'killed' || before >= 3, `${before} requests before the log said so`);
      assert.deepEqual((await ready(replica)).slice(0, 1), [200]);
      const [code, body] = await ready(replica, '/readyz?strict');
      assert.deepEqual([code, body.state], [503, 'away']);
      if (failure === 'killed') await fleet.server.start();
      else fleet.server.signal('SIGCONT');
      await untilEqual('all rows are stored', () => fleet.stored(), sent);
      await until('ready', async () => (await ready(replica, '/readyz?strict'))[0] === 200);
      await fleet.consistent();
    });
  }

  it('budgets: all replicas spend one budget; while Postgres is away its shares are spent, other requests go on', async () => {
    const replicas = await Promise.all([fleet.harness.serve(), fleet.harness.serve()]);
    // A running request reserves 0.2 USD: 100,000 tokens of output at 2 USD for a million.
    const price = { max_tokens: 1_000_000 };
    const limited = await fleet.createKey('limited', ...BUDGET);
    const free = await fleet.createKey('free');
    const [one, two] = replicas;
    assert.ok(one && two);
    const send = async (replica: ServeProcess, key = limited) => {
      const response = await fleet.harness.send(replica.url, price, key);
      await response.text();
      return response.status;
    };
    for (const each of replicas) await until('the key is known', async () => (await send(each)) !== 401);
    for (const each of replicas) await untilEqual('a share is granted', () => send(each), 200);
    await fleet.server.kill();
    // A share is enough for four of the largest requests.
    const many = () => Promise.all(Array.from({ length: 16 }, () => send(one)));
    await until('the share is spent', async () => (await many()).includes(503));
    assert.equal(await send(one, free), 200, 'a key without a budget');
    await fleet.server.start();
    await untilEqual('a share is granted again', () => send(one), 200);
    await until('all rows are stored', async () => {
      const [row] = await query(
        fleet.url,
        `SELECT spent_nano = (SELECT sum(nano) FROM svc.spent WHERE key = 'limited') AS same,
        (SELECT count(*) FROM svc.leases) AS leases FROM svc.budget_windows`,
      );
      return row?.same === true && Number(row.leases) === 2;
    });
    await fleet.consistent();
  });

  it('a start while Postgres is away: works with the last known keys, and without them it is refused', async () => {
    const first = await fleet.harness.serve();
    const key = await fleet.createKey('k');
    await untilEqual('the key is known', () => fleet.status(first, key), 200);
    const exit = once(first.child, 'exit');
    first.child.kill('SIGTERM');
    await exit;
    fleet.server.signal('SIGSTOP');
    try {
      const again = await fleet.harness.serve();
      assert.equal(await fleet.status(again, key), 200);
      await assert.rejects(fleet.harness.serve(), /can’t be opened: no answer within/, 'the second outbox has no keys');
    } finally {
      fleet.server.signal('SIGCONT');
    }
  });

  it('maxStale: stored keys are refused with 503 when Postgres was away for longer, and work again afterwards', async () => {
    await fleet.configure({ maxStale: '4s' });
    const replica = await fleet.harness.serve();
    const key = await fleet.createKey('k');
    await untilEqual('the key is known', () => fleet.status(replica, key), 200);
    await fleet.server.kill();
    assert.equal(await fleet.status(replica, key), 200);
    await untilEqual('the key is refused', () => fleet.status(replica, key), 503);
    const refused = await fleet.harness.send(replica.url, {}, key);
    await refused.text();
    assert.equal(refused.headers.get('retry-after'), '1');
    assert.equal(await fleet.status(replica, 'svc_key_of_the_parent'), 200, 'keys of the operator are not stored');
    await replica.logged('state-stale');
    await fleet.server.start();
    await untilEqual('the key is known again', () => fleet.status(replica, key), 200);
  });
});
