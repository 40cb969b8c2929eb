import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { RequestFilter } from '../../../src/gateway/accounting/request-history.ts';
import { LiveRequests } from '../../../src/gateway/operations/live-requests.ts';
import { LiveKeeper } from '../../../src/gateway/workers/live-keeper.ts';
import { LIVE_MESSAGE } from '../../../src/gateway/workers/messages.ts';
import { WorkerLive } from '../../../src/gateway/workers/worker-live.ts';
import { ledgerRow } from '../ledger-row.ts';

/** The primary and workers in this process. Messages go through JSON, as between processes. */
class LiveWorkers {
  /** Messages that were sent, in both directions. */
  messages = 0;
  readonly #workers = new Map<number, { readonly live: LiveRequests; readonly channel: WorkerLive }>();
  readonly #keeper = new LiveKeeper((id, message) => {
    this.messages += 1;
    this.#workers.get(id)?.channel.receive(LIVE_MESSAGE.parse(JSON.parse(JSON.stringify(message))));
  });

  join(id: number): LiveRequests {
    const live = new LiveRequests();
    const channel = new WorkerLive(live, (message) => {
      if (!this.#workers.has(id)) return;
      this.messages += 1;
      this.#keeper.receive(id, LIVE_MESSAGE.parse(JSON.parse(JSON.stringify(message))));
    });
    this.#workers.set(id, { live, channel });
    this.#keeper.join(id);
    return live;
  }

  leave(id: number): void {
    this.#workers.delete(id);
    this.#keeper.leave(id);
  }
}

/** A page at a worker. */
class TestReader extends EventTarget {
  readonly keys: string[] = [];
  shown = 0;
  total = 0;
  readonly remove: () => void;

  constructor(live: LiveRequests, filter: RequestFilter = {}, owner = { key: 'k', isAdmin: true }) {
    super();
    this.remove = live.add({
      owner,
      filter,
      show: ({ key }) => this.keys.push(key) > 0,
      sampled: (shown, total) => {
        this.shown += shown;
        this.total += total;
        this.dispatchEvent(new Event('sampled'));
      },
      alive: () => true,
      end: () => undefined,
    });
  }
}

const end = (live: LiveRequests, key = 'k') => live.ended({ row: ledgerRow({ key }), attempts: 1 });

describe('live requests of several workers', () => {
  let workers: LiveWorkers;

  beforeEach(() => {
    workers = new LiveWorkers();
  });

  it('a reader gets matching requests of all workers, those that join later too', () => {
    const [first, second] = [workers.join(1), workers.join(2)];
    const reader = new TestReader(first, { key: 'a' });
    const third = workers.join(3);
    for (const live of [first, second, third]) {
      end(live, 'a');
      end(live, 'b');
    }
    assert.deepEqual(reader.keys, ['a', 'a', 'a']);
    reader.remove();
  });

  it('nothing is sent without a reader, and nothing for requests that do not match', () => {
    const [first, second] = [workers.join(1), workers.join(2)];
    end(second);
    assert.equal(workers.messages, 0);
    const reader = new TestReader(first, { key: 'a' });
    end(first, 'a');
    end(second, 'b');
    // To the primary, and from there to the second worker.
    assert.equal(workers.messages, 2);
    reader.remove();
    const before = workers.messages;
    end(second, 'a');
    assert.deepEqual([workers.messages, reader.keys], [before, ['a']]);
  });

  it('a worker that ends: nothing is sent for its readers, and readers of others go on', () => {
    const [first, second, third] = [workers.join(1), workers.join(2), workers.join(3)];
    new TestReader(first);
    const reader = new TestReader(second, { key: 'a' });
    workers.leave(1);
    const before = workers.messages;
    end(third, 'b');
    assert.equal(workers.messages, before);
    end(third, 'a');
    assert.deepEqual(reader.keys, ['a']);
    reader.remove();
  });

  it('a reader is shown 50 requests a second of all workers, and the number of all', async () => {
    const [first, second, third] = [workers.join(1), workers.join(2), workers.join(3)];
    const reader = new TestReader(first);
    new TestReader(first).remove();
    for (let each = 0; each < 40; each += 1) for (const live of [first, second]) end(live);
    const before = workers.messages;
    for (let each = 0; each < 1_000; each += 1) end(third);
    assert.equal(reader.keys.length, 50);
    // The worker sends what the reader could be shown, and the number of the others.
    assert.equal(workers.messages - before, 50 * 2);
    await once(reader, 'sampled');
    assert.deepEqual([reader.shown, reader.total], [50, 1_080]);
    reader.remove();
  });

  it('all workers together have at most 50 readers, 10 of a key, and 10 places for admins', () => {
    const [first, second] = [workers.join(1), workers.join(2)];
    const full = (key: string, isAdmin: boolean) => [first, second].map((live) => live.fullFor({ key, isAdmin }));
    const readers = Array.from({ length: 40 }, (_, index) => {
      const owner = { key: `k${Math.floor(index / 10)}`, isAdmin: false };
      return new TestReader(index % 2 === 0 ? first : second, {}, owner);
    });
    assert.deepEqual(full('k0', false), ['key', 'key']);
    assert.deepEqual(full('new', false), ['all', 'all']);
    assert.deepEqual(full('boss', true), [undefined, undefined]);
    for (let each = 0; each < 10; each += 1) {
      readers.push(new TestReader(first, {}, { key: `boss${each}`, isAdmin: true }));
    }
    assert.deepEqual(full('boss', true), ['all', 'all']);
    readers[0]?.remove();
    assert.deepEqual(full('boss', true), [undefined, undefined]);
    for (const each of readers) each.remove();
  });
});
