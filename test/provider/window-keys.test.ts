import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname } from 'node:path';
import { Secret } from '../../src/config/settings/secret.ts';
import {
  followWindowKeys,
  readWindowKeys,
  type StoredKeyMap,
  serveWindowKeys,
  type WindowKeysServer,
} from '../../src/provider/window-keys.ts';

const SIGNAL = new AbortController().signal;

describe('keys of a VS Code window', () => {
  let server: WindowKeysServer;
  let keys: StoredKeyMap;

  beforeEach(async () => {
    keys = new Map([['acme', { secret: new Secret('sk-1'), origin: 'https://acme.example' }]]);
    server = await serveWindowKeys(async () => keys);
  });
  afterEach(() => server.dispose());

  const revealed = (map: StoredKeyMap | undefined) =>
    [...(map ?? [])].map(([id, { secret, origin }]) => [id, secret.reveal(), origin]);

  it('window keys: are read with their origin', async () => {
    const read = await readWindowKeys(server, SIGNAL);
    assert.deepEqual(revealed(read?.keys), [['acme', 'sk-1', 'https://acme.example']]);
  });

  it('window keys: are refused without the token, and after the window was closed', async () => {
    assert.equal(await readWindowKeys({ ...server, token: 'x'.repeat(server.token.length) }, SIGNAL), undefined);
    assert.equal(await readWindowKeys({ ...server, token: '' }, SIGNAL), undefined);
    server.dispose();
    assert.equal(await readWindowKeys(server, SIGNAL), undefined);
  });

  it('window keys: only the user can open the folder of the socket', () => {
    // On Windows, a named pipe has no folder.
    const others = process.platform === 'win32' ? 0 : statSync(dirname(server.socket)).mode & 0o077;
    assert.equal(others, 0);
  });

  it('window keys: a change is reported to a process that waits for it', async () => {
    const first = await readWindowKeys(server, SIGNAL);
    const change = Promise.withResolvers<StoredKeyMap>();
    const ended = new AbortController();
    const following = followWindowKeys(server, ended.signal, first?.version, async (next) => change.resolve(next));
    // The answer to another request comes only after the server has received the one that waits.
    await readWindowKeys(server, SIGNAL);
    keys = new Map([['acme', { secret: new Secret('sk-2') }]]);
    server.changed();
    assert.deepEqual(revealed(await change.promise), [['acme', 'sk-2', undefined]]);
    ended.abort();
    await following;
  });

  it('window keys: a message that is not valid closes only its connection', async () => {
    for (const text of ['not json\n', '{}\n', `${'x'.repeat(2_000_000)}`]) {
      const client = connect(server.socket);
      client.on('error', () => undefined);
      client.write(text);
      await new Promise((resolve) => client.once('close', resolve));
    }
    assert.equal((await readWindowKeys(server, SIGNAL))?.keys.size, 1);
  });
});
