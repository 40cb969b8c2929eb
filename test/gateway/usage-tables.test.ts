import assert from 'node:assert/strict';
import fc from 'fast-check';
import { toNano } from '../../src/base/money.ts';
import { type Period, TimeZone } from '../../src/base/time-zone.ts';
import { ledgerRow } from './ledger-row.ts';
import { reportMemory, StateUnderTest, type UsageRow } from './state-under-test.ts';

const DAY = 86_400_000;
const OUTCOMES = ['complete', 'client-gone', 'failed', 'refused'];

describe('usage tables', () => {
  let state: StateUnderTest;
  const write = (...rows: readonly UsageRow[]) => state.write(...rows);
  const row = (more: Partial<UsageRow> = {}): UsageRow => ledgerRow(more);

  beforeEach(async () => {
    state = await StateUnderTest.open();
  });
  afterEach(() => state.close());

  it('usage tables: a row that is written twice counts once', () => {
    const one = row({ requestId: 'same' });
    write(one, one);
    write(one);
    write(row({ requestId: 'same', attempt: 2 }));
    const { requests, nano } = state.sums();
    assert.deepEqual([state.rowCount, requests, nano], [2, 2, 1e9]);
  });

  it('usage tables: output tokens per second are those of the time in which answers were made', () => {
    const usage = { input: 1, output: 100 };
    const rate = (more: Partial<UsageRow>) => {
      const model = `p/${more.firstByteMs}`;
      write(row({ ...more, model, usage }));
      const [found] = state.report({ since: 0, by: [], model }).rows;
      // A report that begins within a quarter of an hour reads the row itself.
      const [single] = state.report({ since: 1, by: [], model }).rows;
      assert.deepEqual(single, found);
      return found?.output_tokens_per_second;
    };
    assert.equal(rate({ waitMs: 100, firstByteMs: 400, durationMs: 2500 }), 50, 'streamed');
    assert.equal(rate({ waitMs: 500, firstByteMs: 1990, durationMs: 2500 }), 50, 'sent all at once');
    assert.equal(rate({ waitMs: 1, firstByteMs: 1, durationMs: 1 }), null, 'no time at all');
  });

  it('usage tables: reports are the same when the days that are over are sealed, also after a late row and retention', () => {
    const from = Date.parse('2026-10-20T00:00:00Z');
    const end = from + 9 * DAY;
    const sample = (n: number) =>
      row({
        at: from + ((n * 7_919_000) % (8 * DAY)),
        key: `k${n % 3}`,
        user: n % 2 ? 'ann' : '',
        model: `p/m${n % 5}`,
        outcome: n % 11 ? 'complete' : 'refused',
        cost: n * 1_000_000_001,
        byok: n % 7 === 0,
        tags: n % 3 ? undefined : { team: 'a' },
        firstByteMs: n % 400,
        durationMs: 400 + n,
      });
    write(...Array.from({ length: 500 }, (_, n) => sample(n)));
    const queries = ['UTC', 'Europe/Berlin', 'Asia/Kolkata', 'Asia/Kathmandu'].flatMap((name) => {
      const zone = new TimeZone(name);
      return [
        { zone, since: 0, by: [] },
        { zone, since: from + 5_000_000, until: end - DAY - 7_000_000, by: ['model', 'user'] as const },
        { zone, since: from, until: end, by: ['day', 'key'] as const },
        { zone, since: from, by: ['week', 'outcome'] as const, key: 'k1' },
        { zone, since: from + 1, by: ['provider'] as const, step: 'hour' as const, user: 'ann', model: 'p/m2' },
        { zone, since: from, by: [], step: 'quarter' as const },
        { zone, since: from, by: ['tag:team'] as const },
        { zone, since: from, by: [], key: 'nobody' },
      ];
    });
    // As a gateway does: what reports computed before is used again.
    const cache = reportMemory();
    const reports = () => queries.map((query) => state.report(query, cache));
    const sealed = () => state.sealedDays;
    const sealAll = () => state.sealUntil(end);
    const before = reports();
    sealAll();
    assert.equal(sealed(), 8);
    assert.deepEqual(reports(), before);

    write(sample(501));
    assert.equal(sealed(), 7, 'the day of a late row is not sealed any more');
    const late = reports();
    assert.notDeepEqual(late, before);
    sealAll();
    assert.equal(sealed(), 8);
    assert.deepEqual(reports(), late);

    const total = state.report({ since: 0, by: ['model'] });
    const age = 40 * DAY;
    state.removeOld({ usage: age, rollup: age }, from + age + 3 * DAY);
    assert.equal(sealed(), 5);
    assert.deepEqual(state.report({ since: 0, by: ['model'] }), total);
  });

  it('usage tables: sums of amounts that floating point rounds are exact', () => {
    write(...Array.from({ length: 1_000 }, () => row({ cost: toNano(0.1) })));
    assert.equal(state.report({ since: 0, by: [] }).total.cost, 100);
  });

  it('usage tables: a series has the rows of the most expensive groups, and the sums of all', () => {
    const at = Date.parse('2026-10-20T00:00:00Z');
    for (const [n, key] of ['a', 'b', 'c', ''].entries()) {
      write(row({ at, key, cost: (n + 1) * 1e9 }), row({ at: at + DAY, key, cost: n * 1e9 }));
    }
    const query = { since: at, until: at + 2 * DAY, by: ['key'], step: 'day', top: 2 } as const;
    const { rows, total, series } = state.report(query);
    assert.deepEqual(
      rows.map(({ start, key, cost }) => [String(start).slice(0, 10), key, cost]),
      [
        ['2026-10-20', null, 4],
        ['2026-10-20', 'c', 3],
        ['2026-10-21', null, 3],
        ['2026-10-21', 'c', 2],
      ],
    );
    assert.deepEqual(
      series?.groups.map(({ key, cost }) => [key, cost]),
      [
        [null, 7],
        ['c', 5],
        ['b', 3],
        ['a', 1],
      ],
    );
    assert.deepEqual(
      series?.steps.map(({ cost }) => cost),
      [10, 6],
    );
    assert.equal(total.cost, 16);
  });

  for (const [what, sealedDays, kept] of [
    ['nothing sealed', 0, 10],
    ['the newest days not sealed', 5.3, 10],
    ['hours and days missing', 8, 7],
    ['all sealed', 8, 10],
  ] as const) {
    it(`usage tables: reports equal the sum of the rows in every time zone, period and range: ${what}`, () => {
      const zones = [
        'UTC',
        'Europe/Berlin',
        'Asia/Kolkata',
        'Asia/Kathmandu',
        'America/St_Johns',
        'Australia/Lord_Howe',
      ];
      const from = Date.parse('2026-10-21T00:00:00Z');
      const rows = Array.from({ length: 1_000 }, (_, n) =>
        row({
          at: from + ((n * 7_919_000) % (8 * DAY)),
          key: `k${n % 3}`,
          user: n % 2 ? 'ann' : '',
          model: `p/m${n % 5}`,
          cost: n * 1_001,
          byok: n % 7 === 0,
          tags: n % 4 === 0 ? { project: `x${n % 8}` } : undefined,
          outcome: OUTCOMES[n % 4] ?? 'complete',
        }),
      );
      write(...rows);
      state.sealUntil(from + sealedDays * DAY);
      state.dropSealed(kept);
      const labels = new Map<string, string>();
      const labelOf = (zone: TimeZone, period: Period, at: number) => {
        const quarter = at - (at % 900_000);
        const id = `${zone.name} ${period} ${quarter}`;
        const label = labels.get(id) ?? zone.label(period, quarter);
        labels.set(id, label);
        return label;
      };
      fc.assert(
        fc.property(
          fc.constantFrom(...zones),
          fc.constantFrom<Period>('hour', 'day', 'week', 'month'),
          fc.constantFrom('model', 'user', 'tag:project'),
          fc.integer({ min: 0, max: 8 * DAY }),
          fc.integer({ min: 0, max: 8 * DAY }),
          (name, period, second, start, length) => {
            const zone = new TimeZone(name);
            const [since, until] = [from + start, from + start + length];
            const field = second === 'tag:project' ? ('tag:project' as const) : second === 'user' ? 'user' : 'model';
            const expected = new Map<string, number[]>();
            for (const { at, cost, model, user, tags, byok, outcome } of rows) {
              if (at < since || at >= until) continue;
              const value = { model, user: user || null, 'tag:project': tags?.project ?? null }[field];
              const id = JSON.stringify([labelOf(zone, period, at), value]);
              const [spent = 0, own = 0, refused = 0, gone = 0] = expected.get(id) ?? [];
              const one = (condition: boolean) => (condition ? 1 : 0);
              expected.set(id, [
                ...[spent + (cost ?? 0), own + (byok ? (cost ?? 0) : 0)],
                ...[refused + one(outcome === 'refused'), gone + one(outcome === 'client-gone')],
              ]);
            }
            const report = state.report({ since, until, zone, by: [period, field] });
            const found = new Map(
              report.rows.map((each) => [
                JSON.stringify([each[period], each[field]]),
                [toNano(each.cost), toNano(each.byok_cost), each.refused, each.client_gone],
              ]),
            );
            assert.deepEqual(new Map([...found].sort()), new Map([...expected].sort()));
          },
        ),
        { numRuns: 20 },
      );
    });
  }

  it('usage tables: removing old rows keeps the sums, and removing old sums keeps the totals', () => {
    const now = Date.parse('2026-11-22T12:00:00Z');
    write(...Array.from({ length: 1_500 }, (_, n) => row({ at: now - n * DAY, cost: 1_000_000 })));
    const totals = () => state.report({ since: 0, by: ['key'] }).rows;
    const month = () => state.report({ since: now - 300 * DAY, until: now - 200 * DAY, by: ['day'] }).rows;
    const before = { totals: totals(), month: month() };
    state.removeOld({ usage: 90 * DAY, rollup: 400 * DAY }, now);
    assert.deepEqual({ totals: totals(), month: month() }, before);
    assert.deepEqual([state.rowCount, state.sums().buckets], [91, 402]);
    assert.deepEqual(state.check().differences, []);
  });

  it('usage tables: nothing is removed by default', () => {
    write(row({ at: 1 }));
    const forever = Number.POSITIVE_INFINITY;
    state.removeOld({ usage: forever, rollup: forever }, Date.now());
    assert.deepEqual([state.rowCount, state.sums().buckets], [1, 1]);
  });

  it('state check: finds a deleted row that cost nothing', () => {
    write(row({ key: 'ann', at: Date.now() }), row({ key: 'bob', at: Date.now(), cost: undefined }));
    state.damage('bob', 'rows');
    const { differences } = state.check();
    assert.deepEqual(
      differences.map(({ what, stored, rows }) => [/(ann|bob).*/.exec(what)?.[0], stored, rows]),
      [['bob, 1 requests without a row', 0, 0]],
    );
  });

  it('state check: finds each sum that differs from its rows', () => {
    write(row({ key: 'ann', at: Date.now() }), row({ key: 'bob', at: Date.now() }));
    assert.deepEqual(state.check(), { rows: 2, spent: 1e9, differences: [] });
    state.damage('ann', 'sum');
    state.damage('bob', 'rows');
    const { differences } = state.check();
    assert.deepEqual(differences.map(({ what, stored, rows }) => [/ann|bob/.exec(what)?.[0], stored, rows]).sort(), [
      ['ann', 500_000_001, 500_000_000],
      ['bob', 500_000_000, 0],
    ]);
  });
});
