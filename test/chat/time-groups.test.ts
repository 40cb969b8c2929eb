import assert from 'node:assert/strict';
import { shortTime, timeGroup } from '../../src/chat/history/time-groups.ts';

describe('times in the history', () => {
  const now = new Date(2026, 10, 22, 9, 30).getTime();
  for (const [when, group, short] of [
    [new Date(2026, 10, 22, 9, 5), 'today', '9:05 AM'],
    [new Date(2026, 10, 22, 0, 0), 'today', '12:00 AM'],
    [new Date(2026, 10, 23, 8, 0), 'today', '8:00 AM'],
    [new Date(2026, 10, 21, 23, 59), 'yesterday', '11:59 PM'],
    [new Date(2026, 10, 20, 12, 0), 'week', 'Fri'],
    [new Date(2026, 10, 16, 12, 0), 'week', 'Mon'],
    [new Date(2026, 10, 15, 12, 0), 'older', 'Nov 15'],
    [new Date(2025, 11, 31, 12, 0), 'older', 'Dec 31, 2025'],
  ] as const) {
    it(`history: ${when.toISOString()} is in “${group}” and shown as ${short}`, () => {
      assert.equal(timeGroup(when.getTime(), now), group);
      assert.equal(shortTime(when.getTime(), now, 'en-US').replace('\u202f', ' '), short);
    });
  }
});
