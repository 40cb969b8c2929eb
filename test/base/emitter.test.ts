import assert from 'node:assert/strict';
import { DisposableStore } from '../../src/base/disposable-store.ts';
import { Emitter } from '../../src/base/emitter.ts';

describe('Emitter', () => {
  it('Emitter: calls listeners with the values in the order of subscription', () => {
    const emitter = new Emitter<[string, number]>();
    const calls: string[] = [];
    emitter.event((text, count) => calls.push(`first ${text} ${count}`));
    emitter.event((text, count) => calls.push(`second ${text} ${count}`));
    emitter.fire('a', 1);
    assert.deepEqual(calls, ['first a 1', 'second a 1']);
  });

  it('Emitter: a listener with two subscriptions is called until both are disposed', () => {
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

  it('Emitter: does not call listeners after dispose, or listeners that are added during fire', () => {
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

describe('DisposableStore', () => {
  const disposed: string[] = [];
  const item = (name: string) => ({ dispose: () => void disposed.push(name) });
  beforeEach(() => disposed.splice(0));

  it('DisposableStore: disposes its items once, last added first', () => {
    const store = new DisposableStore();
    store.add(item('a'), item('b'));
    store.add(item('c'));
    store.dispose();
    store.dispose();
    assert.deepEqual(disposed, ['c', 'b', 'a']);
  });

  it('DisposableStore: immediately disposes an item that is added after dispose', () => {
    const store = new DisposableStore();
    store.dispose();
    store.add(item('late'));
    assert.deepEqual([disposed, store.disposed], [['late'], true]);
  });
});
