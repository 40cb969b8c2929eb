import assert from 'node:assert/strict';
import { sourceLocation } from '../../src/config/editing/report.ts';
import { ProjectFolder } from './project-folder.ts';

describe('SetValues', () => {
  it('SetValues: each value has the file, line and column of its source', async () => {
    using folder = new ProjectFolder();
    const global = folder.global(
      '{\n  "model": "p/one",\n  "provider": { "p": { "name": "Far", "whitelist": ["a"] } }\n}',
    );
    const near = folder.write('project/svc.jsonc', '{ "provider": { "p": {\n  // nearer\n  "name": "Near" } } }');
    const { values } = await folder.load();
    assert.deepEqual(
      values.all().map(({ path, value, origin }) => [path.join('.'), value, sourceLocation(origin)]),
      [
        ['model', 'p/one', `${global}:2:12`],
        ['provider.p.name', 'Near', `${near}:3:11`],
        ['provider.p.whitelist.0', 'a', `${global}:3:53`],
      ],
    );
    assert.deepEqual(
      values.at(['provider', 'p', 'name']).map(({ value }) => value),
      ['Near'],
    );
    assert.deepEqual(values.at(['provider', 'q']), []);
  });

  it('SetValues: omits values of an untrusted project', async () => {
    using folder = new ProjectFolder();
    folder.global({ model: 'p/one' });
    folder.write('project/svc.jsonc', { model: 'p/two', provider: { q: { name: 'Q' } } });
    const { values } = await folder.load({ trustedWorkspace: false });
    assert.deepEqual(
      values.all().map(({ path, value }) => [path.join('.'), value]),
      [['model', 'p/one']],
    );
  });

  it('SetValues: hides keys, headers, references, queries and options with secret names', async () => {
    using folder = new ProjectFolder();
    folder.env.CANARY = 'CANARY-1';
    folder.write('home/.config/svc/secret.txt', 'CANARY-2');
    folder.global({
      provider: {
        'token-lab': {
          name: '{env:CANARY}',
          options: {
            apiKey: 'CANARY-3',
            baseURL: 'https://lab.example/v1?key=CANARY-4',
            headers: { 'X-Any': 'CANARY-5' },
            session_token: 'CANARY-6',
            region: '{file:./secret.txt}',
            nested: { password: ['CANARY-7'] },
          },
          models: { 'key-model': { name: 'Shown' } },
        },
      },
      gateway: { organizations: { o: { byok: { lab: 'CANARY-8' } } } },
    });
    const { values } = await folder.load();
    const all = values.all();
    assert.doesNotMatch(JSON.stringify(all), /CANARY-/);
    const shown = all.filter(({ secret }) => !secret).map(({ path, value }) => [path.at(-1), value]);
    assert.deepEqual(shown, [
      ['baseURL', 'https://lab.example/v1?…'],
      ['name', 'Shown'],
    ]);
    assert.equal(values.at(['provider', 'token-lab', 'options', 'headers', 'X-Any'])[0]?.secret, true);
  });
});
