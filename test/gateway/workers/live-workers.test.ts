import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { LivePage } from '../live-page.ts';
import { until } from '../until.ts';
import { WORKERS, WorkersHarness } from './workers-harness.ts';

describe('live requests of svc serve --workers', () => {
  let harness: WorkersHarness;
  let pages: LivePage[];

  beforeEach(async () => {
    harness = await WorkersHarness.start();
    pages = [];
  });
  afterEach(async () => {
    for (const page of pages) page.close();
    await harness.close();
  });

  const open = async (query?: string) => {
    const page = await LivePage.open((path, signal) => harness.call(path, undefined, signal), query);
    pages.push(page);
    return page;
  };
  /** Sends requests until each page was shown some of each of these workers. */
  const untilShown = (of: readonly LivePage[], pids: readonly number[]) =>
    until('each page was shown requests of all workers', async () => {
      assert.equal((await harness.ask()).status, 200);
      return of.every(({ ids }) => {
        const seen = new Set(ids.map((id) => harness.logged(id)?.pid));
        return pids.every((pid) => seen.has(pid));
      });
    });

  it('a page sees matching requests of all workers, also of one that was started after another was killed', async () => {
    // More pages than workers, one after the other, so that each worker has some of them: of connections at the same time,
    // a busy worker gets none.
    const all: LivePage[] = [];
    for (let opened = 0; opened < 2 * WORKERS; opened += 1) all.push(await open('?model=up/m'));
    const before = await harness.pids();
    assert.equal((await harness.ask('up/none')).status, 400);
    await untilShown(all, before);

    process.kill(before[0] ?? assert.fail(), 'SIGKILL');
    // Until the first process has noticed it, connections may still go to the killed worker.
    await harness.gateway.logged('worker-ended');
    const old = new Set(before);
    let started: readonly number[] = [];
    await until('a worker was started again', async () => {
      const pids = await harness.pids();
      started = pids.filter((pid) => !old.has(pid));
      return started.length === 1 && pids.length === WORKERS;
    });
    await until('the pages of the killed worker have ended', () => all.some(({ ended }) => ended));
    const others = all.filter(({ ended }) => !ended);
    assert.notEqual(others.length, 0);
    assert.equal((await harness.ask('up/none')).status, 400);
    await untilShown(others, [...before.slice(1), ...started]);

    for (const { ids, models } of all) {
      assert.equal(new Set(ids).size, ids.length, 'a request was shown twice');
      assert.deepEqual([...models], ['up/m']);
    }
  });

  it('replaced workers end their pages, and a new page sees the requests of all new workers', async () => {
    const page = await open();
    const before = await harness.pids();
    await untilShown([page], before);
    harness.gateway.child.kill('SIGUSR2');
    await harness.gateway.logged('all workers were replaced');
    await until('the page has ended', () => page.ended);
    const after = await harness.pids();
    assert.equal(new Set([...before, ...after]).size, 2 * WORKERS);
    await untilShown([await open()], after);
  });

  it('reports that are no JSON, or JSON that databases can’t read: pages see the requests of all workers', async () => {
    const file = new DatabaseSync(join(dirname(harness.serve.database), 'gateway-leases.db'), { timeout: 10_000 });
    try {
      const add = file.prepare('INSERT OR REPLACE INTO replicas (id, seen_at, facts) VALUES (?, ?, ?)');
      const heartbeats = () => {
        const now = process.hrtime.bigint() / 1_000_000n;
        add.run('broken', now, '{"live":{');
        add.run('odd', now, '{"live":{"readers":[{"filter":{"model":"\\u0000\\ud83d"}}]}}');
      };
      const beating = setInterval(heartbeats, 500);
      try {
        heartbeats();
        await untilShown([await open()], await harness.pids());
      } finally {
        clearInterval(beating);
      }
    } finally {
      file.close();
    }
  });

  it('a page is shown at most 50 requests a second of all workers, and the number of all', async () => {
    const page = await open();
    await untilShown([page], await harness.pids());
    // The requests of each worker arrive in their order: after its last one, all are there. Of more than 50 in a second,
    // the last are only counted; then others are sent.
    await until('the page was shown the last requests', async () => {
      const last = await Promise.all(Array.from({ length: 4 * WORKERS }, () => harness.ask()));
      const shown = () => last.every(({ id }) => page.ids.includes(id));
      return until('it was shown them', shown, 5_000).then(
        () => true,
        () => 'only some',
      );
    });
    const counted = () => page.ids.length + page.samples.reduce((sum, { shown, total }) => sum + total - shown, 0);
    // Requests of before that were not shown are in the sample of their second.
    const then = page.seconds;
    await until('their samples are there', () => page.seconds >= then + 2);
    const before = counted();
    const samples = page.samples.length;
    let sent = 0;
    await until('there were more requests than are shown', async () => {
      sent += 150;
      await Promise.all(Array.from({ length: 150 }, () => harness.ask('up/none')));
      return page.samples.length > samples;
    });
    await until('all requests were counted', () => counted() >= before + sent);
    assert.equal(counted(), before + sent);
    for (const { shown } of page.samples) assert.ok(shown <= 50, String(shown));
  });
});
