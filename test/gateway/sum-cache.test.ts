import assert from 'node:assert/strict';
import { ledgerRow } from './ledger-row.ts';
import { reportMemory, StateUnderTest } from './state-under-test.ts';

const DAY = 86_400_000;
const FROM = Date.parse('2026-10-01T00:00:00Z');
const DAYS = 10;
const END = FROM + DAYS * DAY;

describe('sums of sealed days in memory', () => {
  let state: StateUnderTest;
  const write = (at: number, key = 'k') => state.write(ledgerRow({ at, key }));
  const sealAll = () => state.sealUntil(END);
  const requests = (memory: ReturnType<typeof reportMemory>, key?: string) =>
    state.report({ since: FROM, until: END, by: ['model'], key }, memory).total.requests;

  beforeEach(async () => {
    state = await StateUnderTest.open();
    for (let day = 0; day < DAYS; day += 1) write(FROM + day * DAY);
    sealAll();
  });
  afterEach(() => state.close());

  it('a second report does not read the sealed days again', () => {
    const cache = reportMemory();
    assert.equal(requests(cache), DAYS);
    state.breakSealed();
    assert.equal(requests(cache), DAYS);
    assert.throws(() => requests(cache, 'k'), 'other sums are read');
  });

  for (const day of [0, DAYS - 1]) {
    it(`a late row counts after day ${day + 1} of ${DAYS} is sealed again, each time`, () => {
      const cache = reportMemory();
      requests(cache);
      for (let late = 1; late <= 3; late += 1) {
        write(FROM + day * DAY);
        sealAll();
        assert.equal(requests(cache), DAYS + late);
      }
    });
  }

  it('reports with other filters and groups have their own sums', () => {
    const cache = reportMemory();
    write(FROM, 'other');
    sealAll();
    assert.deepEqual(
      [undefined, 'other', 'k', 'nobody', undefined].map((key) => requests(cache, key)),
      [DAYS + 1, 1, DAYS, 0, DAYS + 1],
    );
  });

  it('the memory has a bound, and reports are right without enough of it', () => {
    const all = reportMemory();
    requests(all);
    const small = reportMemory(all.bytes / 2);
    for (let round = 0; round < 3; round += 1) {
      assert.equal(requests(small), DAYS);
      assert.ok(small.bytes > 0 && small.bytes <= all.bytes / 2, `${small.bytes} of ${all.bytes} bytes`);
    }
    const none = reportMemory(0);
    assert.equal(requests(none), DAYS);
    assert.equal(none.bytes, 0);
  });
});
