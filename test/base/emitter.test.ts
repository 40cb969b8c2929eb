import assert from 'node:assert/strict';
import { DisposableStore } from '../../src/base/disposable-store.ts';
import { Emitter } from '../../src/base/emitter.ts';

describe('an emitter', () => {
  it('calls each listener with the values, in the order in which they were added', () => {
    const emitter = new Emitter<[string, number]>();
    const calls: string[] = [];
    emitter.event((text, count) => calls.push(`first ${text} ${count}`));
    emitter.event((text, count) => calls.push(`second ${text} ${count}`));
    emitter.fire('a', 1);
    assert.deepEqual(calls, ['first a 1', 'second a 1']);
  });

  it('keeps a listener that was added twice until both subscriptions are disposed', () => {
    const emitter = new Emitter<[]>();
    let calls = 0;
    const listener = () => void calls++;
    const first = emitter.event(listener);
    emitter.event(listener);
    first.dispose();
    first.dispose();
    emitter.fire();
    assert.equal(calls, 1);
  });

  it('calls no listener after it is disposed, and none that is added while it fires', () => {
    const emitter = new Emitter<[]>();
    let calls = 0;
    emitter.event(() => {
      calls++;
      emitter.event(() => calls++);
    });
    emitter.fire();
    assert.equal(calls, 1);
    emitter.dispose();
    emitter.fire();
    assert.equal(calls, 1);
  });
});

describe('a disposable store', () => {
  const disposed: string[] = [];
  const item = (name: string) => ({ dispose: () => void disposed.push(name) });
  beforeEach(() => disposed.splice(0));

  it('disposes its items once, last added first', () => {
    const store = new DisposableStore();
    store.add(item('a'), item('b'));
    store.add(item('c'));
    store.dispose();
    store.dispose();
    assert.deepEqual(disposed, ['c', 'b', 'a']);
  });

  it('disposes an item at once that is added after it was disposed', () => {
    const store = new DisposableStore();
    store.dispose();
    store.add(item('late'));
    assert.deepEqual([disposed, store.disposed], [['late'], true]);
  });
});
