import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { RequestIds } from '../../src/gateway/http/request-ids.ts';

describe('request ids', () => {
  it('request ids: are unique within one gateway and across two', () => {
    const [one, other] = [new RequestIds(), new RequestIds()];
    const made = Array.from({ length: 2_000 }, () => [one.next(), other.next()]).flat();
    for (const id of made) assert.match(id, /^req_[0-9a-f]{32}$/);
    assert.equal(new Set(made).size, 4_000);
  });

  it('request ids: are in the order of time', async () => {
    const ids = new RequestIds();
    const first = ids.next();
    const start = Date.now();
    while (Date.now() === start) await sleep(1);
    assert.ok(ids.next() > first);
  });
});
