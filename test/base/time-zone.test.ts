import assert from 'node:assert/strict';
import fc from 'fast-check';
import { TimeZone } from '../../src/base/time-zone.ts';

const iso = (at: number) => new Date(at).toISOString();

describe('TimeZone', () => {
  const cases: readonly (readonly [
    zone: string,
    period: 'hour' | 'day' | 'week' | 'month',
    at: string,
    start: string,
    end: string,
  ])[] = [
    ['UTC', 'day', '2026-02-28T23:59:59.999Z', '2026-02-28T00:00:00.000Z', '2026-03-01T00:00:00.000Z'],
    // The day of the change to summer time has 23 hours, the day back has 25.
    ['Europe/Berlin', 'day', '2026-03-29T12:00:00Z', '2026-03-28T23:00:00.000Z', '2026-03-29T22:00:00.000Z'],
    ['Europe/Berlin', 'day', '2026-10-25T12:00:00Z', '2026-10-24T22:00:00.000Z', '2026-10-25T23:00:00.000Z'],
    ['Europe/Berlin', 'month', '2026-03-31T22:30:00Z', '2026-03-31T22:00:00.000Z', '2026-04-30T22:00:00.000Z'],
    ['Europe/Berlin', 'week', '2026-11-22T12:00:00Z', '2026-11-15T23:00:00.000Z', '2026-11-22T23:00:00.000Z'],
    ['Asia/Kolkata', 'day', '2026-11-22T18:29:59Z', '2026-11-21T18:30:00.000Z', '2026-11-22T18:30:00.000Z'],
    ['Asia/Kathmandu', 'hour', '2026-11-22T18:20:00Z', '2026-11-22T18:15:00.000Z', '2026-11-22T19:15:00.000Z'],
    ['America/New_York', 'month', '2026-01-01T04:59:00Z', '2025-12-01T05:00:00.000Z', '2026-01-01T05:00:00.000Z'],
    // Midnight is skipped.
    ['America/Santiago', 'day', '2026-09-06T12:00:00Z', '2026-09-06T04:00:00.000Z', '2026-09-07T03:00:00.000Z'],
    // Midnight is repeated.
    ['America/Havana', 'day', '2026-11-01T12:00:00Z', '2026-11-01T04:00:00.000Z', '2026-11-02T05:00:00.000Z'],
  ];
  for (const [zone, period, at, start, end] of cases) {
    it(`time zone: the ${period} of ${at} in ${zone}`, () => {
      const found = new TimeZone(zone).periodAt(period, Date.parse(at));
      assert.deepEqual([iso(found.start), iso(found.end)], [start, end]);
    });
  }

  it('time zone: labels name the local day, month and hour', () => {
    const zone = new TimeZone('Europe/Berlin');
    const at = Date.parse('2026-10-25T00:30:00Z');
    assert.deepEqual(
      (['hour', 'day', 'week', 'month'] as const).map((period) => zone.label(period, at)),
      ['2026-10-25T02:00+02:00', '2026-10-25', '2026-10-19', '2026-10'],
    );
    assert.equal(zone.label('hour', at + 3_600_000), '2026-10-25T02:00+01:00');
  });

  it('time zone: periods contain their instants, follow each other and start at a quarter of an hour', () => {
    const zones = Intl.supportedValuesOf('timeZone');
    const from = Date.parse('2000-01-01');
    const to = Date.parse('2040-01-01');
    fc.assert(
      fc.property(
        fc.constantFrom(...zones),
        fc.constantFrom('hour' as const, 'day' as const, 'week' as const, 'month' as const),
        fc.integer({ min: from, max: to }),
        (name, period, at) => {
          // Samoa skipped a day; Lord Howe changes by half an hour, and Antarctic stations by several.
          fc.pre(!/Apia|Fakaofo|Lord_Howe|Antarctica/.test(name));
          const zone = new TimeZone(name);
          const { start, end } = zone.periodAt(period, at);
          assert.ok(start <= at && at < end, `${name} ${period} ${iso(at)}`);
          assert.equal(zone.periodAt(period, end).start, end, `${name} ${period} ${iso(at)}`);
          assert.equal(start % 900_000, 0, `${name} ${period} ${iso(at)}`);
        },
      ),
      { numRuns: 2_000 },
    );
  });
});
