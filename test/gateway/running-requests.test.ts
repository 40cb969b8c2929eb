import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { RequestContext } from '../../src/gateway/http/request-context.ts';
import { RunningRequests } from '../../src/gateway/http/running-requests.ts';

/** The part of a request that is used: its connection, which notes that it was closed. */
function request(closed: Set<number>, id: number): RequestContext {
  const response: Pick<RequestContext['response'], 'destroy'> = {
    destroy() {
      closed.add(id);
      return this as RequestContext['response'];
    },
  };
  return { response } as RequestContext;
}

describe('running requests', () => {
  it('running requests: the end of a key closes those that run, in whatever order others have ended', () => {
    const acts = fc.array(fc.record({ key: fc.constantFrom('a', 'b'), ends: fc.nat({ max: 20 }) }), { maxLength: 60 });
    fc.assert(
      fc.property(acts, (list) => {
        const running = new RunningRequests();
        const closed = new Set<number>();
        const open: { readonly id: number; readonly key: string; readonly leave: () => void }[] = [];
        for (const [id, { key, ends }] of list.entries()) {
          open.push({ id, key, leave: running.enter(key, request(closed, id)) });
          if (ends < open.length) for (const { leave } of open.splice(ends, 1)) leave();
        }
        const wanted = open.flatMap(({ id, key }) => (key === 'a' ? id : []));
        assert.equal(running.cut('a'), wanted.length);
        assert.deepEqual([...closed].sort(), wanted.sort());
        for (const { leave } of open) leave();
        assert.equal(running.cut('a') + running.cut('b'), 0);
      }),
    );
  });
});
