import assert from 'node:assert/strict';
import { once } from 'node:events';
import { TickBatch } from '../../src/gateway/http/tick-batch.ts';

/** Resolves after the event loop turn that follows the next read. */
const nextTurn = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));

describe('TickBatch', () => {
  it('TickBatch: calls run in order, and calls that are added meanwhile run after them', async () => {
    const done: string[] = [];
    const turn = new TickBatch(() => true);
    turn.later(() => {
      done.push('first');
      turn.later(() => done.push('asked for by the first'));
    });
    turn.later(() => done.push('second'));
    assert.deepEqual(done, []);
    await nextTurn();
    assert.deepEqual(done, ['first', 'second', 'asked for by the first']);
  });

  it('TickBatch: a call runs immediately if nothing else is active, but never before waiting ones', async () => {
    const done: string[] = [];
    let busy = false;
    const turn = new TickBatch(() => busy);
    turn.later(() => done.push('alone'));
    assert.deepEqual(done, ['alone']);
    busy = true;
    turn.later(() => done.push('waits'));
    busy = false;
    turn.later(() => done.push('comes behind'));
    assert.deepEqual(done, ['alone']);
    await nextTurn();
    assert.deepEqual(done, ['alone', 'waits', 'comes behind']);
  });

  it('TickBatch: an exception does not affect the other calls', async () => {
    const done: string[] = [];
    const turn = new TickBatch(() => true);
    const listeners = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException');
    const thrown = once(process, 'uncaughtException');
    try {
      turn.later(() => done.push('before'));
      turn.later(() => {
        throw new Error('a defect');
      });
      turn.later(() => done.push('behind'));
      turn.later(() => done.push('last'));
      const [error] = await thrown;
      assert.equal(error.message, 'a defect');
      await nextTurn();
      assert.deepEqual(done, ['before', 'behind', 'last']);
    } finally {
      for (const listener of listeners) process.on('uncaughtException', listener);
    }
  });
});
