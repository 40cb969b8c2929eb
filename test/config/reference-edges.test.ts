import assert from 'node:assert/strict';
import { readRegularFile } from '../../src/base/regular-file.ts';
import { load } from '../../src/config/load/load.ts';
import { codes, ProjectFolder } from './project-folder.ts';

/** A key of the configuration in the environment, which is trusted on every platform. */
async function keyFrom(reference: string, platform: NodeJS.Platform, variables: Record<string, string>) {
  using folder = new ProjectFolder();
  const provider = { p: { options: { apiKey: reference } } };
  Object.assign(folder.env, variables, { SVC_CONFIG_CONTENT: JSON.stringify({ provider }) });
  const settings = await folder.load({ platform });
  return { key: settings.providers.get('p')?.apiKey?.secret.reveal(), codes: codes(settings) };
}

describe('references: edge cases', () => {
  it('references: variable names ignore case on Windows only', async () => {
    const variables = { My_Key: 'k-1' };
    assert.equal((await keyFrom('{env:MY_KEY}', 'win32', variables)).key, 'k-1');
    assert.equal((await keyFrom('{env:my_key}', 'win32', variables)).key, 'k-1');
    assert.equal((await keyFrom('{env:My_Key}', 'win32', { ...variables, MY_KEY: 'k-2' })).key, 'k-1');
    for (const platform of ['linux', 'darwin'] as const) {
      assert.deepEqual(await keyFrom('{env:MY_KEY}', platform, variables), { key: undefined, codes: ['env-not-set'] });
      assert.equal((await keyFrom('{env:My_Key}', platform, variables)).key, 'k-1');
    }
  });

  it('references: misspelled references are reported in options only, not in names', async () => {
    using folder = new ProjectFolder();
    const name = '{{A}} {env:A';
    const found = async (provider: unknown) => {
      folder.global({ provider: { p: provider } });
      return codes(await folder.load());
    };
    assert.deepEqual(await found({ name, models: { m: { name } } }), []);
    assert.deepEqual(await found({ options: { headers: { 'X-Own': name } } }), ['not-a-reference']);
  });

  it('references: no file is opened for an untrusted workspace', async () => {
    using folder = new ProjectFolder();
    const file = folder.write('project/key', 'inside');
    folder.write('project/svc.json', { provider: { p: { options: { apiKey: '{file:key}' } } } });
    assert.deepEqual((await load(folder.input())).referenced, [file]);
    assert.deepEqual((await load(folder.input({ trustedWorkspace: false }))).referenced, []);
  });

  if (process.platform === 'linux') {
    it('references: the size limit applies also to a file without a reported size', async () => {
      assert.deepEqual(await readRegularFile('/proc/self/maps', { limit: 100 }), { problem: 'too-large' });
    });
  }

  it('references: errors contain details only for files inside the project', async () => {
    using folder = new ProjectFolder();
    folder.write('project/large', 'x'.repeat(64 * 1024 + 1));
    folder.write('project/folder/x', '');
    folder.write('outside', 'x'.repeat(64 * 1024 + 1));
    const said = async (file: string) => {
      folder.write('project/svc.jsonc', { provider: { p: { options: { apiKey: `{file:${file}}` } } } });
      return (await folder.load()).diagnostics.map(({ message }) => message);
    };
    assert.deepEqual(await said('large'), ['{file:large} is larger than 64 KiB, so this value is ignored.']);
    assert.deepEqual(await said('folder'), ['{file:folder} is not a regular file, so this value is ignored.']);
    for (const file of ['../outside', 'none', '../none']) {
      assert.match((await said(file)).join(), /is not a readable file inside the project folder/, file);
    }
  });
});
