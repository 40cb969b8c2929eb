import assert from 'node:assert/strict';
import fc from 'fast-check';
import { budgetGrant, rateGrant } from '../../src/gateway/limits/grant-rule.ts';

describe('grant rule of leases', () => {
  const amount = fc.nat(1_000_000);
  const judged = fc.record({
    free: amount,
    held: amount,
    needed: fc.integer({ min: -1, max: 1_000_000 }),
    processes: fc.integer({ min: 1, max: 64 }),
  });

  it('grant rule: is never negative and never more than is free', () => {
    fc.assert(
      fc.property(judged, fc.integer({ min: -1_000_000, max: 1_000_000 }), (request, wanted) => {
        for (const granted of [rateGrant(request), budgetGrant(request, wanted)]) {
          assert.ok(granted >= 0 && granted <= request.free && Number.isInteger(granted), String(granted));
        }
      }),
    );
  });

  it('grant rule: the need of a refused request is granted if it is free', () => {
    fc.assert(
      fc.property(judged, (request) => {
        const needed = Math.min(request.free, Math.max(0, request.needed));
        assert.ok(rateGrant({ ...request, needed }) >= needed);
        assert.ok(budgetGrant({ ...request, needed }, 0) >= needed);
      }),
    );
  });

  it('grant rule: equal processes that request one after the other get an equal part of a rate, half of it of a budget', () => {
    const requests = { held: 0, needed: 0, processes: 4 };
    assert.equal(rateGrant({ ...requests, free: 100 }), 25);
    assert.equal(budgetGrant({ ...requests, free: 100 }, 1_000), 12);
    assert.equal(budgetGrant({ ...requests, free: 100 }, 5), 5);
  });
});
