import assert from 'node:assert/strict';
import { TimeZone } from '../../../src/base/time-zone.ts';
import { ledgerRow } from '../ledger-row.ts';
import { sharedPostgres } from '../shared-servers.ts';
import { query } from './postgres-server.ts';
import {
  openPostgres,
  openSqlite,
  type StateAdmin,
  sealPostgres,
  type UsageRow,
  writePostgres,
} from './postgres-under-test.ts';

const ACTOR = { who: 'ann', source: '192.0.2.1' };
const NOON = Date.UTC(2026, 2, 29, 12);

/** Both kinds of state must give the admin API the same answers. */
describe('the state for the admin API, in SQLite and in Postgres', () => {
  let states: readonly StateAdmin[];
  let url: string;
  let late: (row: UsageRow) => Promise<void>;

  before(async () => {
    url = await (await sharedPostgres()).database();
    const sqlite = await openSqlite();
    states = [sqlite.admin, await openPostgres(url)];
    const rows = sampleRows();
    sqlite.write(rows);
    await writePostgres(url, rows);
    late = async (row) => {
      sqlite.write([row]);
      await writePostgres(url, [row]);
    };
  });

  after(async () => {
    for (const state of states) await state.close();
  });

  /** Calls both. @returns the answer of SQLite, which is that of Postgres too. */
  async function both<T>(call: (state: StateAdmin) => Promise<T>): Promise<T> {
    const [one, other] = await Promise.all(states.map(call));
    assert.deepEqual(other, one);
    if (one === undefined) throw new Error('No state.');
    return one;
  }

  const compareReports = async () => {
    for (const zone of ['UTC', 'Europe/Berlin', 'Asia/Kolkata', 'Asia/Kathmandu'].map((name) => new TimeZone(name))) {
      for (const more of [
        { by: [] },
        { by: ['model', 'user'] as const, key: 'k1' },
        { by: ['outcome'] as const, model: 'p/m1' },
        { by: ['key'] as const, step: 'day' as const },
        { by: [], step: 'quarter' as const, provider: 'p' },
        { by: ['tag:team'] as const, organization: 'acme' },
      ]) {
        const { rows } = await both((state) =>
          state.usage({ since: NOON + 1_000, until: NOON + 86_400_000, zone, ...more }),
        );
        assert.ok(rows.length > 0, JSON.stringify(more));
      }
    }
  };

  it('reports with every group, filter and step are equal', compareReports);

  it('reports are equal when Postgres has sealed hours and days, also after a late row', async () => {
    const sealed = async () => {
      const [row] = await query(url, 'SELECT count(*) AS n FROM svc.usage_sealed');
      return Number(row?.n);
    };
    await sealPostgres(url);
    const before = await sealed();
    assert.ok(before > 2, String(before));
    await compareReports();
    await late(ledgerRow({ requestId: 'late', at: NOON + 7_000_000, key: 'k1', model: 'p/m1', organization: 'acme' }));
    assert.equal(await sealed(), before - 2, 'the hour and the day of a late row are not sealed any more');
    await compareReports();
    await sealPostgres(url);
    await compareReports();
  });

  it('pages of requests are equal, and so are the rows of one', async () => {
    for (const filter of [
      {},
      { key: 'k1' },
      { user: 'u', outcome: 'failures' },
      { model: 'p/m2', organization: 'acme' },
    ]) {
      let after: { at: number; requestId: string } | undefined;
      let count = 0;
      do {
        const position = after;
        const page = await both(async (state) => {
          const query = { since: 0, until: Number.MAX_SAFE_INTEGER, limit: 7, after: position, ...filter };
          const { requests, next } = await state.requests(query);
          return { requests, next: next && { at: next.at, requestId: next.requestId } };
        });
        count += page.requests.length;
        after = page.next;
      } while (after !== undefined);
      assert.ok(count > 0);
    }
    assert.equal((await both((state) => state.request('again'))).length, 2);
  });

  it('keys, their search and the audit log are equal', async () => {
    const times = ({
      createdAt: _,
      revokedAt: __,
      hashes,
      ...key
    }: {
      createdAt: number;
      revokedAt?: number;
      hashes: readonly unknown[];
    }) => {
      return { ...key, hashes: hashes.length };
    };
    for (const name of ['k0', 'k1', 'a%b_', 'zoe']) {
      await both(async (state) => typeof (await state.createKey(ACTOR, { name, user: `u-${name}`, admin: 'read' })));
    }
    await both(async (state) => {
      await state.updateKey(ACTOR, 'k1', { rates: [{ requests: 5, model: '*' }] });
      await state.rotateKey(ACTOR, 'k0', 60_000);
      await state.revokeKey(ACTOR, 'zoe', true);
      return true;
    });
    for (const query of [
      {},
      { search: 'K' },
      { search: '%' },
      { search: '_' },
      { state: 'revoked' as const },
      { user: 'u-k0' },
      { after: 'k0' },
    ]) {
      const found = await both(async (state) => {
        const { keys, total } = await state.searchKeys({ limit: 3, ...query });
        return { total, keys: keys.map(times) };
      });
      assert.ok(found.keys.length > 0, JSON.stringify(query));
    }
    assert.equal(await both(async (state) => (await state.findKey('k1'))?.usedAt), NOON + 39 * 1_000_000);
    const entries = await both(async (state) =>
      (await state.audit({ limit: 3, action: 'key.create' })).map(({ at: _, ...row }) => row),
    );
    assert.deepEqual(
      entries.map(({ target, who, source }) => [target, who, source]),
      [
        ['zoe', 'ann', '192.0.2.1'],
        ['a%b_', 'ann', '192.0.2.1'],
        ['k1', 'ann', '192.0.2.1'],
      ],
    );
  });

  it('sessions and one-time links work in both', async () => {
    await both(async (state) => {
      const proof = await state.startSession('hash', Date.now() + 60_000);
      assert.equal((await state.findSession(proof))?.keyHash, 'hash');
      await state.endSession(proof);
      const link = await state.createLink();
      return [await state.findSession(proof), await state.useLink(link.token), await state.useLink(link.token)];
    });
  });
});

function sampleRows(): UsageRow[] {
  const rows = Array.from({ length: 40 }, (_, index) =>
    ledgerRow({
      at: NOON + index * 1_000_000,
      key: `k${index % 2}`,
      user: index % 3 === 0 ? 'u' : '',
      organization: index % 4 === 0 ? 'acme' : '',
      model: `p/m${index % 3}`,
      outcome: index % 5 === 0 ? 'failed' : 'complete',
      tags: index % 4 === 0 ? { team: 'search' } : undefined,
      status: index % 5 === 0 ? 503 : 200,
      prices: '1,2,,,',
      usage: { input: 10 + index, output: 5, cacheRead: index % 7 },
      waitMs: 3,
      firstByteMs: 10 * (index + 1),
      durationMs: 10 * (index + 1) + 500,
    }),
  );
  const first = ledgerRow({
    requestId: 'again',
    at: NOON + 5,
    outcome: 'failed',
    counted: false,
    cost: undefined,
    usage: undefined,
  });
  return [...rows, first, ledgerRow({ requestId: 'again', at: NOON + 5, attempt: 2 })];
}
