import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { Secret } from '../../src/config/settings/secret.ts';
import { serveWindowKeys, WINDOW_SOCKET, WINDOW_TOKEN } from '../../src/provider/window-keys.ts';
import { ProjectFolder } from '../config/project-folder.ts';
import { startUpstream, type Upstream } from '../upstream/upstream.ts';
import { svc, svcProcess } from './run-svc.ts';

describe('svc and the keys that were entered in VS Code', () => {
  let upstream: Upstream;
  let folder: ProjectFolder;

  before(async () => {
    upstream = await startUpstream();
  });
  after(() => upstream.close());
  beforeEach(() => {
    folder = new ProjectFolder();
    const models = { text: { id: 'scenario:text' }, refused: { id: 'scenario:status-401' } };
    const baseURL = upstream.url;
    folder.global({ provider: { acme: { name: 'Acme', options: { baseURL: `${baseURL}/v1` }, models } } });
  });
  afterEach(() => folder[Symbol.dispose]());

  it('window keys: a gateway that can’t start ends, although the window stays open', async () => {
    const server = await serveWindowKeys(async () => new Map());
    Object.assign(folder.env, { [WINDOW_SOCKET]: server.socket, [WINDOW_TOKEN]: server.token });
    const provider = { acme: { options: { baseURL: `${upstream.url}/v1` } } };
    folder.global({ provider, gateway: { state: 'postgres://svc@127.0.0.1:1/state' } });
    try {
      const { code, err } = await svcProcess(folder, ['serve', '--port', '0']);
      assert.equal(code, 1, err);
      assert.match(err, /The gateway’s state at 127\.0\.0\.1:1\/state can’t be opened/);
    } finally {
      server.dispose();
    }
  });

  it('window keys: a command in a terminal of VS Code uses the key of the window', async () => {
    const origin = upstream.url;
    const server = await serveWindowKeys(async () => new Map([['acme', { secret: new Secret('sk-entered'), origin }]]));
    Object.assign(folder.env, { [WINDOW_SOCKET]: server.socket, [WINDOW_TOKEN]: server.token });
    try {
      const { code, err } = await svc(folder, ['chat', '-m', 'acme/text', 'Hello']);
      assert.deepEqual([code, err], [0, '']);
      assert.equal(upstream.requests.at(-1)?.headers.authorization, 'Bearer sk-entered');
    } finally {
      server.dispose();
    }
  });

  it('window keys: a window that is closed leaves no file', async () => {
    const server = await serveWindowKeys(async () => new Map());
    assert.equal(existsSync(server.socket), true);
    server.dispose();
    // VS Code does not wait.
    assert.equal(existsSync(dirname(server.socket)), false);
  });

  it('window keys: a provider with a key of the window is the user’s, also if only the project configures it', async () => {
    const origin = 'https://mistral.example';
    const key = { secret: new Secret('sk-entered'), origin };
    const server = await serveWindowKeys(async () => new Map([['mistral', key]]));
    Object.assign(folder.env, { [WINDOW_SOCKET]: server.socket, [WINDOW_TOKEN]: server.token });
    folder.write('project/svc.jsonc', { provider: { mistral: { options: { baseURL: `${upstream.url}/v1` } } } });
    try {
      const { err } = await svc(folder, ['chat', '-m', 'acme/text', 'Hello']);
      assert.match(err, /not used: provider\.mistral\.options\.baseURL\./);
    } finally {
      server.dispose();
    }
  });

  it('window keys: elsewhere, a refused command says which key store svc can’t read and what to do', async () => {
    const { code, err } = await svc(folder, ['chat', '-m', 'acme/refused', 'Hello']);
    assert.equal(code, 1);
    assert.match(err, /Acme has no key here\. svc can’t read the keys that you entered in VS Code: .*GNOME Keyring/);
    assert.match(err, /Run svc in a terminal of VS Code, or put `"apiKey": "\{env:NAME\}"` into the options of acme/);
  });

  it('window keys: a terminal whose window was closed says so', async () => {
    Object.assign(folder.env, { [WINDOW_SOCKET]: '/nowhere/keys.sock', [WINDOW_TOKEN]: 'x' });
    const { code, err } = await svc(folder, ['chat', '-m', 'acme/refused', 'Hello']);
    assert.equal(code, 1);
    assert.match(
      err,
      /The window of this terminal has no key for it, does not answer, or was closed or reloaded.* open a new terminal/,
    );
  });
});
