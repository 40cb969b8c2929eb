import assert from 'node:assert/strict';
import type { Io } from '../../src/cli/io.ts';
import { LiveConfiguration } from '../../src/cli/live-configuration.ts';
import { Secret } from '../../src/config/settings/secret.ts';
import { undiciTransport } from '../../src/provider/transport/undici-transport.ts';
import { serveWindowKeys, WINDOW_SOCKET, WINDOW_TOKEN } from '../../src/provider/window-keys.ts';
import { ProjectFolder } from '../config/project-folder.ts';
import { untilEqual } from '../gateway/until.ts';

const withModels = (...names: string[]) => ({
  provider: {
    up: { options: { baseURL: 'http://127.0.0.1:1/v1' }, models: Object.fromEntries(names.map((name) => [name, {}])) },
  },
});

const ioIn = (folder: ProjectFolder): Io => ({
  env: { ...folder.env, SVC_DISABLE_CATALOG_REFRESH: '1' },
  platform: 'linux',
  home: folder.home,
  cwd: folder.project,
  input: process.stdin,
  signal: new AbortController().signal,
  out: async () => undefined,
  err: async () => undefined,
});

describe('LiveConfiguration', () => {
  it('LiveConfiguration: applies a change of the configuration during the start', async () => {
    using folder = new ProjectFolder();
    folder.global(withModels('first'));
    const transport = undiciTransport();
    let changed: () => void = () => undefined;
    const change = new Promise<void>((resolve) => {
      changed = resolve;
    });
    const io = ioIn(folder);
    const upstreams = await LiveConfiguration.open(io, transport, { changed, unlisted: () => undefined });
    try {
      assert.ok(upstreams.registry.models.has('up/first'));
      folder.global(withModels('first', 'second'));
      await change;
      assert.ok(upstreams.registry.models.has('up/second'));
    } finally {
      upstreams.dispose();
      await transport.close();
    }
  });

  it('LiveConfiguration: a project cannot change trusted providers, also after a reload', async () => {
    using folder = new ProjectFolder();
    const baseURL = 'http://127.0.0.1:1/v1';
    folder.global({ provider: { up: { options: { baseURL }, models: { m: { cost: { input: 1, output: 2 } } } } } });
    const moved = (to: string) => ({
      provider: { up: { options: { baseURL: to }, models: { m: { id: 'x', cost: { input: 0, output: 0 } }, n: {} } } },
    });
    folder.write('project/svc.jsonc', moved('https://evil.example/v1'));
    const transport = undiciTransport();
    const change = Promise.withResolvers<void>();
    const changed = () => change.resolve();
    const upstreams = await LiveConfiguration.open(ioIn(folder), transport, { changed, unlisted: () => undefined });
    const check = () => {
      const model = upstreams.registry.models.get('up/m');
      assert.deepEqual([model?.id, model?.cost?.input, model?.endpoint.baseURL], ['m', 1, baseURL]);
      assert.equal(upstreams.registry.models.has('up/n'), false);
      assert.equal(upstreams.settings.providers.get('up')?.baseURL?.value, baseURL);
    };
    try {
      check();
      folder.write('project/svc.jsonc', moved('https://evil.example/v2'));
      await change.promise;
      check();
    } finally {
      upstreams.dispose();
      await transport.close();
    }
  });

  it('LiveConfiguration: a window that did not answer at the start gives its keys later', async () => {
    using folder = new ProjectFolder();
    folder.global(withModels('first'));
    let questions = 0;
    const window = await serveWindowKeys(async () => {
      questions += 1;
      if (questions === 1) throw new Error('The key store does not answer.');
      return new Map([['up', { secret: new Secret('sk-entered') }]]);
    });
    Object.assign(folder.env, { [WINDOW_SOCKET]: window.socket, [WINDOW_TOKEN]: window.token });
    const transport = undiciTransport();
    let missing = 0;
    const noWindowKeys = () => {
      missing += 1;
    };
    const events = { changed: () => undefined, unlisted: () => undefined, noWindowKeys };
    const upstreams = await LiveConfiguration.open(ioIn(folder), transport, events);
    const key = () => upstreams.registry.models.get('up/first')?.endpoint.apiKey?.secret.reveal();
    try {
      assert.equal(missing, 1);
      await untilEqual('the key of the window', key, 'sk-entered');
    } finally {
      upstreams.dispose();
      window.dispose();
      await transport.close();
    }
  });
});
