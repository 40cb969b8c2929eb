import assert from 'node:assert/strict';
import type { Io } from '../../src/cli/io.ts';
import { LiveConfiguration } from '../../src/cli/live-configuration.ts';
import { undiciTransport } from '../../src/provider/transport/undici-transport.ts';
import { ProjectFolder } from '../config/project-folder.ts';

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
});
