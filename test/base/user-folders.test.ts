import assert from 'node:assert/strict';
import { svcFolder, type UserFolder, xdgFolder } from '../../src/base/user-folders.ts';

type Env = Readonly<Record<string, string>>;

describe('user folders', () => {
  const cases: readonly (readonly [UserFolder, NodeJS.Platform, Env, string])[] = [
    ['config', 'linux', {}, '/h/.config/svc'],
    ['config', 'darwin', {}, '/h/.config/svc'],
    ['config', 'linux', { XDG_CONFIG_HOME: '/x' }, '/x/svc'],
    ['config', 'linux', { XDG_CONFIG_HOME: 'relative' }, '/h/.config/svc'],
    ['config', 'win32', { APPDATA: 'C:\\r', XDG_CONFIG_HOME: 'C:\\x' }, 'C:\\r\\svc'],
    ['config', 'win32', { APPDATA: '' }, 'C:\\h\\AppData\\Roaming\\svc'],
    ['cache', 'linux', {}, '/h/.cache/svc'],
    ['cache', 'darwin', {}, '/h/Library/Caches/svc'],
    ['cache', 'win32', {}, 'C:\\h\\AppData\\Local\\svc\\Cache'],
    ['cache', 'win32', { XDG_CACHE_HOME: 'C:\\x' }, 'C:\\x\\svc'],
    ['data', 'linux', { XDG_DATA_HOME: '/x' }, '/x/svc'],
    ['data', 'darwin', {}, '/h/Library/Application Support/svc'],
    ['data', 'win32', { LOCALAPPDATA: 'C:\\l' }, 'C:\\l\\svc'],
    ['state', 'darwin', {}, '/h/.local/state/svc'],
    ['state', 'linux', { XDG_STATE_HOME: '' }, '/h/.local/state/svc'],
    ['state', 'win32', {}, 'C:\\h\\AppData\\Local\\svc'],
  ];
  for (const [kind, platform, env, expected] of cases) {
    it(`svcFolder is ${expected} for ${kind} on ${platform} with ${JSON.stringify(env)}`, () => {
      assert.equal(svcFolder(kind, { env, platform, home: platform === 'win32' ? 'C:\\h' : '/h' }), expected);
    });
  }

  it('xdgFolder uses the XDG folder on Windows too', () => {
    const place = { platform: 'win32', home: 'C:\\h' } as const;
    assert.equal(xdgFolder('config', { ...place, env: { APPDATA: 'C:\\r' } }), 'C:\\h\\.config');
    assert.equal(xdgFolder('config', { ...place, env: { XDG_CONFIG_HOME: 'D:\\x' } }), 'D:\\x');
  });
});
