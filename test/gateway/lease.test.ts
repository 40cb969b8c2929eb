import assert from 'node:assert/strict';
import fc from 'fast-check';
import { grantOf, PART } from '../../src/gateway/limits/lease.ts';

describe('grant rule of leases', () => {
  const amount = fc.nat(1_000_000);
  const available = fc.record({
    free: amount,
    left: amount,
    processes: fc.integer({ min: 1, max: 64 }),
    part: fc.constantFrom(PART.budget, PART.rate),
  });
  const request = fc.record({ demand: fc.integer({ min: -1_000_000, max: 1_000_000 }), needed: amount });

  it('grant rule: is never negative and never more than is free', () => {
    fc.assert(
      fc.property(request, available, (requested, judged) => {
        const granted = grantOf(requested, judged);
        assert.ok(granted >= 0 && granted <= judged.free && Number.isInteger(granted), String(granted));
      }),
    );
  });

  it('grant rule: the need of a refused request is granted if it is free, and nothing to a process that returns', () => {
    fc.assert(
      fc.property(request, available, ({ demand, needed }, judged) => {
        const granted = grantOf({ demand, needed }, judged);
        assert.ok(demand < 0 ? granted === 0 : granted >= Math.min(needed, judged.free));
      }),
    );
  });

  it('grant rule: requests that wait get an equal part together, and one of them also more', () => {
    const judged = { free: 100, left: 0, processes: 4, part: PART.budget };
    assert.equal(grantOf({ demand: 1_000, needed: 1, waiting: 80 }, judged), 25);
    assert.equal(grantOf({ demand: 1_000, needed: 40, waiting: 80 }, judged), 40);
    assert.equal(grantOf({ demand: 20, needed: 1, waiting: 20 }, judged), 20);
    assert.equal(grantOf({ demand: -5, needed: 1, waiting: 80 }, judged), 0);
  });

  it('grant rule: equal processes that request one after the other get an equal part of a rate, half of it of a budget', () => {
    const judged = { free: 100, left: 0, processes: 4 };
    assert.equal(grantOf({ demand: 1_000, needed: 0 }, { ...judged, part: PART.rate }), 25);
    assert.equal(grantOf({ demand: 1_000, needed: 0 }, { ...judged, part: PART.budget }), 13);
    assert.equal(grantOf({ demand: 5, needed: 0 }, { ...judged, part: PART.budget }), 5);
  });
});
