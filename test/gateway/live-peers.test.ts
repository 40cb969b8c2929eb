import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { RequestFilter } from '../../src/gateway/accounting/request-history.ts';
import { LivePeers } from '../../src/gateway/operations/live-peers.ts';
import { LiveRequests } from '../../src/gateway/operations/live-requests.ts';
import { ledgerRow } from './ledger-row.ts';

/** Processes that share a state. Their reports go through JSON, as in a database. */
class Processes {
  readonly #reports = new Map<string, string>();
  readonly #joined = new Map<string, LivePeers>();

  join(id: string): LiveRequests {
    const live = new LiveRequests();
    this.#joined.set(id, new LivePeers(live));
    return live;
  }

  /** Heartbeats no longer arrive. */
  leave(id: string): void {
    this.#joined.delete(id);
    this.#reports.delete(id);
  }

  /** A heartbeat of one, or of all. */
  beat(...ids: readonly string[]): void {
    for (const [id, peers] of this.#joined) {
      if (ids.length > 0 && !ids.includes(id)) continue;
      peers.read(new Map([...this.#reports].filter(([peer]) => peer !== id)));
      const live = peers.report();
      if (live === undefined) this.#reports.delete(id);
      else this.#reports.set(id, JSON.stringify({ live }));
    }
  }

  /** Heartbeats until all know of all. */
  settle(): void {
    for (let round = 0; round < 3; round += 1) this.beat();
  }

  /** Requests that are in reports. */
  get reported(): number {
    return [...this.#reports.values()].reduce((sum, text) => sum + JSON.parse(text).live.requests.length, 0);
  }

  /** Bytes of all reports. */
  get size(): number {
    return [...this.#reports.values()].join('').length;
  }
}

/** A page at a process. */
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

describe('live requests of several processes', () => {
  let processes: Processes;

  beforeEach(() => {
    processes = new Processes();
  });

  it('a reader gets matching requests of all processes once, those that join later too', () => {
    const [first, second] = [processes.join('1'), processes.join('2')];
    const reader = new TestReader(first, { key: 'a' });
    const third = processes.join('3');
    processes.settle();
    for (const live of [first, second, third]) {
      end(live, 'a');
      end(live, 'b');
    }
    processes.settle();
    assert.deepEqual(reader.keys, ['a', 'a', 'a']);
    end(second, 'a');
    processes.beat('2');
    processes.beat('2');
    processes.settle();
    assert.equal(reader.keys.length, 4);
    reader.remove();
  });

  it('nothing is reported without a reader, and nothing of requests that do not match', () => {
    const [first, second] = [processes.join('1'), processes.join('2')];
    end(second);
    processes.settle();
    assert.equal(processes.size, 0);
    const reader = new TestReader(first, { key: 'a' });
    processes.settle();
    end(first, 'a');
    end(second, 'b');
    processes.settle();
    assert.equal(processes.reported, 0);
    reader.remove();
    processes.settle();
    end(second, 'a');
    processes.settle();
    assert.deepEqual([processes.size, reader.keys], [0, ['a']]);
  });

  it('a process that ends: nothing is reported for its readers, and those of others go on', () => {
    const [first, second, third] = [processes.join('1'), processes.join('2'), processes.join('3')];
    new TestReader(first);
    const reader = new TestReader(second, { key: 'a' });
    processes.settle();
    processes.leave('1');
    processes.settle();
    end(third, 'b');
    processes.settle();
    assert.equal(processes.reported, 0);
    end(third, 'a');
    processes.settle();
    assert.deepEqual(reader.keys, ['a']);
    reader.remove();
  });

  it('a peer that did not see a reader for a while: its next requests are shown', () => {
    const [first, second] = [processes.join('1'), processes.join('2')];
    const reader = new TestReader(first);
    processes.settle();
    for (let each = 0; each < 3; each += 1) end(second);
    processes.settle();
    processes.leave('2');
    processes.settle();
    const again = processes.join('2');
    processes.settle();
    end(again);
    processes.settle();
    assert.equal(reader.keys.length, 4);
    reader.remove();
  });

  it('a reader is shown 50 requests a second of all processes, and the number of all', async () => {
    const [first, second, third] = [processes.join('1'), processes.join('2'), processes.join('3')];
    const reader = new TestReader(first);
    new TestReader(first).remove();
    processes.settle();
    for (let each = 0; each < 40; each += 1) for (const live of [first, second]) end(live);
    processes.settle();
    for (let each = 0; each < 1_000; each += 1) end(third);
    processes.settle();
    assert.equal(reader.keys.length, 50);
    await once(reader, 'sampled');
    assert.deepEqual([reader.shown, reader.total], [50, 1_080]);
    reader.remove();
  });

  it('reports have a limited size, however many readers and requests there are', () => {
    const [first, second] = [processes.join('1'), processes.join('2')];
    const readers = Array.from({ length: 50 }, (_, index) => new TestReader(first, { key: `k${index % 10}` }));
    processes.settle();
    for (let each = 0; each < 2_000; each += 1) end(second, `k${each % 10}`);
    processes.settle();
    assert.equal(processes.reported, 200);
    assert.ok(processes.size < 250_000, String(processes.size));
    for (const each of readers) each.remove();
  });

  it('a report of another form is ignored, and those of others are read', () => {
    const live = new LiveRequests();
    const peers = new LivePeers(live);
    const reader = new TestReader(live);
    const odd = ['', '{', '[]', '{"readers":1}', '{"readers":[{"id":"x"}],"totals":{},"requests":[]}'];
    const reports = [...odd, ...odd.map((text) => `{"live":${text}}`), '"live":'];
    peers.read(new Map(reports.map((text, index) => [String(index), text])));
    assert.equal(peers.report()?.readers.length, 1);
    reader.remove();
  });

  it('all processes together have at most 50 readers, 10 of a key, and 10 places for admins', () => {
    const [first, second] = [processes.join('1'), processes.join('2')];
    const full = (key: string, isAdmin: boolean) => {
      processes.settle();
      return [first, second].map((live) => live.fullFor({ key, isAdmin }));
    };
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
