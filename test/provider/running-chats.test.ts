import assert from 'node:assert/strict';
import { withServedWindow } from '../../src/catalog/served-window.ts';
import { RunningChats } from '../../src/provider/running-chats.ts';
import { untilEqual } from '../gateway/until.ts';
import { modelAt } from './test-model.ts';

describe('RunningChats', () => {
  const llama = modelAt('http://127.0.0.1:8080/v1', { kind: 'llamacpp' }, { id: 'q' });
  const parallel = withServedWindow(llama, { context: 4096, slots: 3 });

  async function* events() {
    yield 'a';
    yield 'b';
  }

  it('RunningChats: the slots that the server tells, else one, and many for a vendor', () => {
    const chats = new RunningChats();
    assert.equal(chats.freeSlots(parallel), 3);
    assert.equal(chats.freeSlots(llama), 1);
    assert.equal(chats.freeSlots(modelAt('https://api.example.com/v1')), undefined);
  });

  it('RunningChats: a request takes a slot while it is read and for a moment after, of its model on its server', async () => {
    const chats = new RunningChats(1);
    const changes: (number | undefined)[] = [];
    chats.onDidChange(() => changes.push(chats.freeSlots(llama)));
    const other = [
      modelAt('http://127.0.0.1:8081/v1', { kind: 'llamacpp' }, { id: 'q' }),
      modelAt('http://127.0.0.1:8080/v1', { kind: 'llamacpp' }, { id: 'small' }),
    ];
    const seen: string[] = [];
    for await (const event of chats.during(llama, events())) {
      seen.push(event);
      assert.deepEqual(
        [llama, parallel, ...other].map((each) => chats.freeSlots(each)),
        [0, 2, 1, 1],
      );
    }
    assert.deepEqual(seen, ['a', 'b']);
    await untilEqual('a free slot', () => chats.freeSlots(llama), 1);
    assert.deepEqual(changes, [0, 1]);
  });

  it('RunningChats: a request that is given up frees its slot; one that runs beside it keeps its own', async () => {
    const chats = new RunningChats(1);
    const first = chats.during(llama, events());
    const second = chats.during(llama, events());
    await first.next();
    await second.next();
    assert.equal(chats.freeSlots(parallel), 1);
    await first.return(undefined);
    await untilEqual('a free slot', () => chats.freeSlots(parallel), 2);
    assert.equal(chats.freeSlots(llama), 0);
    await second.return(undefined);
    await untilEqual('all slots', () => chats.freeSlots(parallel), 3);
  });

  it('RunningChats: a model is loading until its load ends, and no other one is', async () => {
    const chats = new RunningChats();
    const other = modelAt('http://127.0.0.1:8080/v1', { kind: 'llamacpp' }, { id: 'small' });
    const changes: unknown[] = [];
    chats.onDidChange(() => changes.push(chats.serverState(llama)));
    const { promise, resolve } = Promise.withResolvers<void>();
    const done = chats.whileLoading(llama, promise);
    assert.deepEqual(chats.serverState(other), { slots: 1 });
    resolve();
    await done;
    assert.deepEqual(changes, [{ slots: 1, loading: true }, { slots: 1 }]);
  });
});
