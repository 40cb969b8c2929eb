import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { StateUnderTest } from './state-under-test.ts';

const DAY = 24 * 60 * 60 * 1000;

describe('expired keys', () => {
  const now = Date.now;
  let folder: string;
  let state: StateUnderTest;

  beforeEach(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'svc-keys-'));
    state = await StateUnderTest.open(path.join(folder, 'gateway.db'));
  });
  afterEach(() => {
    Date.now = now;
    state.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Moves the clock of this process. */
  const setClock = (milliseconds: number) => {
    Date.now = () => now() + milliseconds;
  };

  for (const [what, make] of Object.entries({
    'by its own date': () => state.createKey({ name: 'k', expiresAt: now() + DAY }),
    'by a rotation': () => {
      const key = state.createKey({ name: 'k' });
      state.rotateKey('k', DAY);
      return key;
    },
  })) {
    it(`expired key: remains expired if the clock is set back, ${what}`, () => {
      const key = make();
      const keys = state.heldKeys();
      assert.ok(keys.accepts(key));
      setClock(2 * DAY);
      assert.equal(keys.accepts(key), false);
      setClock(0);
      assert.equal(keys.accepts(key), false, 'in this process');
      keys.readAgain();
      assert.equal(keys.accepts(key), false, 'after the keys were read again');
      keys.follow();
      assert.equal(state.heldKeys().accepts(key), false, 'in the next process');
    });

    it(`expired key: remains expired without earlier use if the clock is set back, ${what}`, () => {
      const key = make();
      setClock(2 * DAY);
      state.heldKeys().follow();
      setClock(0);
      assert.equal(state.heldKeys().accepts(key), false);
    });
  }

  it('expired key: other keys remain valid', () => {
    const [other, later] = [
      state.createKey({ name: 'other' }),
      state.createKey({ name: 'later', expiresAt: now() + 9 * DAY }),
    ];
    state.createKey({ name: 'k', expiresAt: now() + DAY });
    setClock(2 * DAY);
    const keys = state.heldKeys();
    keys.follow();
    assert.ok(keys.accepts(other));
    assert.ok(keys.accepts(later));
  });
});
