import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { hashKey } from '../../src/gateway/access/authentication.ts';
import { KeyCache } from '../../src/gateway/access/key-cache.ts';
import { KeyStore } from '../../src/gateway/access/key-store.ts';
import { openState } from '../../src/gateway/state/state-database.ts';

const DAY = 24 * 60 * 60 * 1000;

describe('expired keys', () => {
  const now = Date.now;
  let folder: string;
  let database: DatabaseSync;
  let store: KeyStore;

  beforeEach(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'svc-keys-'));
    database = await openState(path.join(folder, 'gateway.db'));
    store = new KeyStore(database);
  });
  afterEach(() => {
    Date.now = now;
    database.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Moves the clock of this process. */
  const setClock = (milliseconds: number) => {
    Date.now = () => now() + milliseconds;
  };

  /** Reads the store as the gateway does each second. */
  const readChanges = (keys: KeyCache) => {
    keys.follow((thrown) => assert.fail(String(thrown)));
    keys.dispose();
  };

  for (const [what, make] of Object.entries({
    'by its own date': () => store.create({ name: 'k', expiresAt: now() + DAY }),
    'by a rotation': () => {
      const key = store.create({ name: 'k' });
      store.rotate('k', DAY);
      return key;
    },
  })) {
    it(`expired key: remains expired if the clock is set back, ${what}`, () => {
      const hash = hashKey(make());
      const keys = new KeyCache(store, []);
      assert.ok(keys.find(hash));
      setClock(2 * DAY);
      assert.equal(keys.find(hash), undefined);
      setClock(0);
      assert.equal(keys.find(hash), undefined, 'in this process');
      keys.reload();
      assert.equal(keys.find(hash), undefined, 'after the keys were read again');
      readChanges(keys);
      assert.equal(new KeyCache(store, []).find(hash), undefined, 'in the next process');
    });

    it(`expired key: remains expired without earlier use if the clock is set back, ${what}`, () => {
      const hash = hashKey(make());
      setClock(2 * DAY);
      readChanges(new KeyCache(store, []));
      setClock(0);
      assert.equal(new KeyCache(store, []).find(hash), undefined);
    });
  }

  it('expired key: other keys remain valid', () => {
    const [other, later] = [
      store.create({ name: 'other' }),
      store.create({ name: 'later', expiresAt: now() + 9 * DAY }),
    ];
    store.create({ name: 'k', expiresAt: now() + DAY });
    setClock(2 * DAY);
    const keys = new KeyCache(store, []);
    readChanges(keys);
    assert.ok(keys.find(hashKey(other)));
    assert.ok(keys.find(hashKey(later)));
  });
});
