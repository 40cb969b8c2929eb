import assert from 'node:assert/strict';
import type { Io } from '../../src/cli/io.ts';
import { Upstreams } from '../../src/cli/upstreams.ts';
import { undiciTransport } from '../../src/provider/undici-transport.ts';
import { ProjectFolder } from '../config/project-folder.ts';

const withModels = (...names: string[]) => ({
  provider: {
    up: { options: { baseURL: 'http://127.0.0.1:1/v1' }, models: Object.fromEntries(names.map((name) => [name, {}])) },
  },
});

describe('the models of a process that runs on', () => {
  it('follow a change that comes while the process starts', async () => {
    using folder = new ProjectFolder();
    folder.global(withModels('first'));
    const transport = undiciTransport();
    let changed: () => void = () => undefined;
    const change = new Promise<void>((resolve) => {
      changed = resolve;
    });
    const io: Io = {
      env: { ...folder.env, SVC_DISABLE_CATALOG_REFRESH: '1' },
      platform: 'linux',
      home: folder.home,
      cwd: folder.project,
      input: process.stdin,
      signal: new AbortController().signal,
      out: async () => undefined,
      err: async () => undefined,
    };
    const upstreams = await Upstreams.open(io, transport, { changed, unlisted: () => undefined });
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
});
