import assert from 'node:assert/strict';
import type { DatabaseSync } from 'node:sqlite';
import { SumCache } from '../../src/gateway/reports/sum-cache.ts';
import { readUsageReport } from '../../src/gateway/reports/usage-report.ts';
import { sealNext } from '../../src/gateway/state/sealing.ts';
import { openState } from '../../src/gateway/state/state-database.ts';
import { transaction } from '../../src/gateway/state/transaction.ts';
import { UsageTables } from '../../src/gateway/state/usage-tables.ts';
import { ledgerRow } from './ledger-row.ts';

const DAY = 86_400_000;
const FROM = Date.parse('2026-10-01T00:00:00Z');
const DAYS = 10;
const END = FROM + DAYS * DAY;

describe('sums of sealed days in memory', () => {
  let database: DatabaseSync;
  const write = (at: number, key = 'k') =>
    transaction(database, () => new UsageTables(database).write([ledgerRow({ at, key })], assert.fail));
  const sealAll = () => {
    while (sealNext(database, END));
  };
  const requests = (cache: SumCache, key?: string) =>
    readUsageReport(database, { since: FROM, until: END, by: ['model'], key }, cache).total.requests;

  beforeEach(async () => {
    database = await openState(':memory:');
    for (let day = 0; day < DAYS; day += 1) write(FROM + day * DAY);
    sealAll();
  });
  afterEach(() => database.close());

  it('a second report does not read the sealed days again', () => {
    const cache = new SumCache();
    assert.equal(requests(cache), DAYS);
    database.exec("UPDATE usage_sealed SET sums = x'00'");
    assert.equal(requests(cache), DAYS);
    assert.throws(() => requests(cache, 'k'), 'other sums are read');
  });

  for (const day of [0, DAYS - 1]) {
    it(`a late row counts after day ${day + 1} of ${DAYS} is sealed again, each time`, () => {
      const cache = new SumCache();
      requests(cache);
      for (let late = 1; late <= 3; late += 1) {
        write(FROM + day * DAY);
        sealAll();
        assert.equal(requests(cache), DAYS + late);
      }
    });
  }

  it('reports with other filters and groups have their own sums', () => {
    const cache = new SumCache();
    write(FROM, 'other');
    sealAll();
    assert.deepEqual(
      [undefined, 'other', 'k', 'nobody', undefined].map((key) => requests(cache, key)),
      [DAYS + 1, 1, DAYS, 0, DAYS + 1],
    );
  });

  it('the memory has a bound, and reports are right without enough of it', () => {
    const all = new SumCache();
    requests(all);
    const small = new SumCache(all.bytes / 2);
    for (let round = 0; round < 3; round += 1) {
      assert.equal(requests(small), DAYS);
      assert.ok(small.bytes > 0 && small.bytes <= all.bytes / 2, `${small.bytes} of ${all.bytes} bytes`);
    }
    const none = new SumCache(0);
    assert.equal(requests(none), DAYS);
    assert.equal(none.bytes, 0);
  });
});
