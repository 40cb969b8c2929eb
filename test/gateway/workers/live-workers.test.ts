import assert from 'node:assert/strict';
import { until } from '../until.ts';
import { WORKERS, WorkersHarness } from './workers-harness.ts';

/** A page that shows live requests, on a connection of its own. */
class LivePage {
  /** The ids of the requests that it was shown. */
  readonly ids: string[] = [];
  readonly models = new Set<string>();
  readonly samples: { readonly shown: number; readonly total: number }[] = [];
  ended = false;
  readonly #end = new AbortController();

  static async open(harness: WorkersHarness, query = ''): Promise<LivePage> {
    const page = new LivePage();
    const answer = await harness.call(`/admin/v1/requests/live${query}`, undefined, page.#end.signal);
    assert.equal(answer.status, 200);
    void page
      .#read(answer)
      .catch(() => undefined)
      .finally(() => {
        page.ended = true;
      });
    return page;
  }

  close(): void {
    this.#end.abort();
  }

  async #read({ body }: Response): Promise<void> {
    let text = '';
    for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const events = (text + chunk).split('\n\n');
      text = events.pop() ?? '';
      for (const event of events) {
        const data = event.slice(event.indexOf('{'));
        if (event.startsWith('event: request')) {
          const { id, model } = JSON.parse(data);
          this.ids.push(id);
          this.models.add(model);
        }
        if (event.startsWith('event: sample')) this.samples.push(JSON.parse(data));
      }
    }
  }
}

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
    const page = await LivePage.open(harness, query);
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
    // More pages than workers, so that each worker has some of them.
    const all = await Promise.all(Array.from({ length: 2 * WORKERS }, () => open('?model=up/m')));
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

  it('a page is shown at most 50 requests a second of all workers, and the number of all', async () => {
    const page = await open();
    await untilShown([page], await harness.pids());
    // The messages of each worker arrive in their order: after its last one, all are there.
    const last = await Promise.all(Array.from({ length: 4 * WORKERS }, () => harness.ask()));
    await until('the page was shown the last requests', () => last.every(({ id }) => page.ids.includes(id)));
    const counted = () => page.ids.length + page.samples.reduce((sum, { shown, total }) => sum + total - shown, 0);
    const before = counted();
    let sent = 0;
    await until('there were more requests than are shown', async () => {
      sent += 150;
      await Promise.all(Array.from({ length: 150 }, () => harness.ask('up/none')));
      return page.samples.length > 0;
    });
    await until('all requests were counted', () => counted() >= before + sent);
    assert.equal(counted(), before + sent);
    for (const { shown } of page.samples) assert.ok(shown <= 50, String(shown));
  });
});
