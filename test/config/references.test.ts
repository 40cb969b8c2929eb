import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { inspect } from 'node:util';
import { readRegularFile } from '../../src/base/regular-file.ts';
import { reportSettings } from '../../src/config/editing/report.ts';
import { isWrittenInside, referencedFile } from '../../src/config/load/references.ts';
import { codes, ProjectFolder } from './project-folder.ts';

const withKey = (apiKey: string) => ({ provider: { p: { name: 'P', options: { apiKey } }, q: { name: 'Q' } } });

async function trustedKey(folder: ProjectFolder, apiKey: string) {
  folder.global(withKey(apiKey));
  const settings = await folder.load();
  return { key: settings.providers.get('p')?.apiKey?.secret.reveal(), settings };
}

describe('references in trusted files', () => {
  const env = {
    A: 'aa',
    B: 'b{env:A}',
    FILE: '{file:k}',
    QUOTES: 'x","baseURL":"http://evil',
    EMPTY: '',
    WIN: 'C:\\new\\t',
  };
  const cases: readonly [string, string | undefined, string?][] = [
    ['{env:A}', 'aa'],
    ['Bearer-{env:A}-{env:A}', 'Bearer-aa-aa'],
    ['{env:B}', 'b{env:A}'],
    ['{env:FILE}', '{file:k}'],
    ['{env:QUOTES}', 'x","baseURL":"http://evil'],
    ['{env:WIN}', 'C:\\new\\t'],
    ['${env:A}', '$aa', 'not-a-reference'],
    ['${A}', '${A}', 'not-a-reference'],
    ['{{A}}', '{{A}}', 'not-a-reference'],
    ['{ENV:A}', '{ENV:A}', 'not-a-reference'],
    ['{env:A', '{env:A', 'not-a-reference'],
    ['{ env:A }', '{ env:A }', 'not-a-reference'],
    ['{a}', '{a}'],
    ['{env: A }', undefined, 'env-not-set'],
    ['{env:}', undefined, 'env-not-set'],
    ['{env:NOT}', undefined, 'env-not-set'],
    ['{env:EMPTY}', undefined, 'env-not-set'],
    ['{env:toString}', undefined, 'env-not-set'],
    ['{file:k}', 'from file'],
    ['{file:./k}', 'from file'],
    ['{file:~/k2}', 'from home {env:A}\nsecond'],
    ['{file:~user/k2}', undefined, 'file-reference'],
    ['{file:~}', undefined, 'file-reference'],
    ['{file:}', undefined, 'file-reference'],
    ['{file:nope}', undefined, 'file-reference'],
    ['{file:folder}', undefined, 'file-reference'],
    ['{file:big}', undefined, 'file-reference'],
    ['{file:nul}', undefined, 'file-reference'],
    ['{file:latin}', undefined, 'file-reference'],
    ['{file:empty}', undefined, 'file-reference'],
  ];
  for (const [reference, expected, code] of cases) {
    it(`reference: ${reference} yields ${[expected === undefined ? '' : JSON.stringify(expected), code ?? ''].join(' ').trim()}`, async () => {
      using folder = new ProjectFolder();
      Object.assign(folder.env, env);
      folder.write('home/.config/svc/k', '\ufeff  from file\r\n');
      folder.write('home/k2', 'from home {env:A}\nsecond\n');
      folder.write('home/.config/svc/folder/x', '');
      folder.write('home/.config/svc/big', 'x'.repeat(64 * 1024 + 1));
      folder.write('home/.config/svc/nul', 'a\u0000b');
      folder.write('home/.config/svc/latin', Uint8Array.of(0xe9, 0x20));
      folder.write('home/.config/svc/empty', ' \n');
      const { key, settings } = await trustedKey(folder, reference);
      assert.equal(key, expected);
      assert.deepEqual(codes(settings), code === undefined ? [] : [code]);
      assert.equal(settings.providers.get('q')?.name, 'Q');
    });
  }

  it('references: resolved text is never shown, also in names, ids and filters', async () => {
    using folder = new ProjectFolder();
    folder.env.KEY = 'k-123';
    const entry = {
      name: '{env:KEY}',
      whitelist: ['m', '{env:KEY}'],
      models: { m: { id: '{env:KEY}', name: 'x{env:KEY}' } },
    };
    folder.global({ provider: { p: entry } });
    const settings = await folder.load();
    assert.equal(settings.providers.get('p')?.models.get('m')?.id, 'k-123');
    const report = reportSettings(settings);
    assert.ok(!JSON.stringify(report).includes('k-123'));
    assert.deepEqual(report.providers.p?.name, { set: true, from: `${settings.sources[1]?.path}:4` });
  });

  it('references: an error contains the variable, or the token and the absolute path', async () => {
    using folder = new ProjectFolder();
    const { settings } = await trustedKey(folder, '{env:MY_KEY}');
    assert.match(settings.diagnostics[0]?.message ?? '', /"MY_KEY"/);
    const missing = await trustedKey(folder, '{file:nope}');
    const message = missing.settings.diagnostics[0]?.message ?? '';
    assert.ok(message.includes('{file:nope}') && message.includes(path.join(folder.home, '.config/svc/nope')));
    assert.equal(missing.settings.diagnostics[0]?.line, 6);
  });

  it('references: the resolved text is validated, and a failed reference counts as a missing key', async () => {
    using folder = new ProjectFolder();
    Object.assign(folder.env, { DIALECT: 'mistral', WORD: 'nonsense' });
    const found = async (provider: unknown) => {
      folder.global({ provider });
      return (await folder.load()).diagnostics.map(({ code, key, line }) => `${code} ${key} ${line}`);
    };
    assert.deepEqual(await found({ p: { fim: '{env:DIALECT}' } }), []);
    assert.deepEqual(await found({ p: { fim: '{env:WORD}' } }), ['invalid-value provider.p.fim 4']);
    assert.deepEqual(await found({ p: { fim: '{mistral}' } }), ['invalid-value provider.p.fim 4']);
    const timeout = { options: { timeout: '{env:DIALECT}' } };
    assert.deepEqual(await found({ p: timeout }), ['invalid-value provider.p.options.timeout 5']);
    const modalities = { input: ['text'], output: '{env:NOT}' };
    const output = 'provider.p.models.m.modalities.output';
    assert.deepEqual(await found({ p: { models: { m: { modalities } } } }), [
      `env-not-set ${output} 10`,
      `missing-key ${output} 6`,
    ]);
  });

  it('references: comments and keys are not resolved', async () => {
    using folder = new ProjectFolder();
    folder.env.A = 'aa';
    folder.global('{ // {file:nope}\n /* {env:NOT} */ "provider": {"{env:A}": {"name": "x"}} }');
    const settings = await folder.load();
    assert.deepEqual([...settings.providers.keys()], ['{env:A}']);
    assert.deepEqual(settings.diagnostics, []);
  });

  it('references: paths in SVC_CONFIG_CONTENT are relative to the working directory', async () => {
    using folder = new ProjectFolder();
    folder.write('project/k', 'here');
    folder.env.SVC_CONFIG_CONTENT = JSON.stringify(withKey('{file:k}'));
    assert.equal((await folder.load()).providers.get('p')?.apiKey?.secret.reveal(), 'here');
  });

  it('references: are resolved in any text, headers and addresses', async () => {
    using folder = new ProjectFolder();
    folder.env.A = 'aa';
    folder.global({ provider: { p: { options: { baseURL: 'http://{env:A}/v1', headers: { x: 'Token {env:A}' } } } } });
    const p = (await folder.load()).providers.get('p');
    assert.equal(p?.baseURL?.value, 'http://aa/v1');
    assert.equal(p?.headers.get('x')?.secret.reveal(), 'Token aa');
  });

  it('references: relative paths start at the folder of a linked configuration file', async () => {
    using folder = new ProjectFolder();
    folder.write('real/svc.jsonc', withKey('{file:k}'));
    folder.write('real/k', 'beside the target');
    folder.write('home/.config/svc/k', 'beside the link');
    symlinkSync(path.join(folder.root, 'real/svc.jsonc'), path.join(folder.home, '.config/svc/svc.jsonc'));
    assert.equal((await folder.load()).providers.get('p')?.apiKey?.secret.reveal(), 'beside the link');
  });

  it('references: a FIFO never blocks, and devices are rejected', async () => {
    using folder = new ProjectFolder();
    mkdirSync(path.join(folder.home, '.config/svc'), { recursive: true });
    execFileSync('mkfifo', [path.join(folder.home, '.config/svc/pipe')]);
    for (const token of ['{file:pipe}', '{file:/dev/zero}', '{file:/dev/tty}']) {
      const { key, settings } = await trustedKey(folder, token);
      assert.equal(key, undefined);
      assert.deepEqual(codes(settings), ['file-reference']);
    }
  });
});

describe('references in project files', () => {
  const load = async (folder: ProjectFolder, apiKey: string, file = 'project/svc.json', cwd = folder.project) => {
    folder.write(file, withKey(apiKey));
    const settings = await folder.load({ cwd });
    assert.equal(settings.providers.get('q')?.name, 'Q');
    return { key: settings.providers.get('p')?.apiKey?.secret.reveal(), settings };
  };

  for (const token of ['{env:KEY}', 'x{env:KEY}y', '{env:}', '\u007benv:KEY}']) {
    it(`project references: reject ${token} and keep all other values`, async () => {
      using folder = new ProjectFolder();
      folder.env.KEY = 'CANARY-1';
      const { key, settings } = await load(folder, token);
      assert.equal(key, undefined);
      assert.deepEqual(codes(settings), ['project-env-refused']);
      assert.equal(settings.providers.get('p')?.name, 'P');
    });
  }

  it('project references: read a file inside the root, also from a subfolder and by its absolute path', async () => {
    using folder = new ProjectFolder();
    const file = folder.write('project/secrets/k', 'inside\n');
    folder.write('project/..hidden', 'dots');
    assert.equal((await load(folder, '{file:secrets/k}')).key, 'inside');
    assert.equal((await load(folder, `{file:${file}}`)).key, 'inside');
    assert.equal((await load(folder, '{file:..hidden}')).key, 'dots');
    const below = path.join(folder.project, 'sub/dir');
    assert.equal((await load(folder, '{file:../../secrets/k}', 'project/sub/dir/svc.json', below)).key, 'inside');
  });

  it('project references: links inside the project and a linked root are followed', async () => {
    using folder = new ProjectFolder();
    folder.write('project/k', 'inside');
    symlinkSync('k', path.join(folder.project, 'link'));
    assert.equal((await load(folder, '{file:link}')).key, 'inside');
    const alias = path.join(folder.root, 'alias');
    symlinkSync(folder.project, alias);
    assert.equal((await folder.load({ cwd: alias })).providers.get('p')?.apiKey?.secret.reveal(), 'inside');
  });

  it('project references: an absolute path through a link to the project is inside, through another link it is not', async () => {
    using folder = new ProjectFolder();
    folder.write('project/sub/k', 'inside');
    folder.write('elsewhere/sub/k', 'CANARY-4');
    const [alias, other] = [path.join(folder.root, 'alias'), path.join(folder.root, 'other')];
    symlinkSync(folder.project, alias);
    symlinkSync(path.join(folder.root, 'elsewhere'), other);
    assert.equal((await load(folder, `{file:${alias}/sub/k}`)).key, 'inside');
    assert.equal((await load(folder, `{file:${other}/sub/k}`)).key, undefined);
    assert.equal((await load(folder, '{file:../alias/sub/k}')).key, undefined);
    symlinkSync(other, path.join(folder.project, 'out'));
    assert.equal((await load(folder, `{file:${alias}/out/sub/k}`)).key, undefined);
  });

  it('project references: the error outside the project is the same for existing and missing files', async () => {
    using folder = new ProjectFolder();
    folder.write('outside', 'CANARY-2');
    folder.write('project-evil/k', 'CANARY-2');
    folder.write('home/k', 'CANARY-2');
    symlinkSync(path.join(folder.root, 'outside'), path.join(folder.project, 'link'));
    symlinkSync(path.join(folder.root, 'nothing'), path.join(folder.project, 'dangling'));
    symlinkSync(folder.root, path.join(folder.project, 'up'));
    symlinkSync('link', path.join(folder.project, 'chain'));
    const names = [
      '/etc/hostname',
      '/etc/nothing-here',
      '../outside',
      '../nothing',
      'sub/../../outside',
      '~/k',
      'link',
      'dangling',
    ];
    names.push(
      'up/outside',
      'up/nothing',
      'chain',
      '../project-evil/k',
      '/proc/self/environ',
      '/proc/self/root/etc/hostname',
      'missing',
      '',
    );
    for (const name of names) {
      const { key, settings } = await load(folder, `{file:${name}}`);
      assert.equal(key, undefined, name);
      const [diagnostic] = settings.diagnostics;
      assert.equal(
        diagnostic?.message,
        `{file:${name}} is not a readable file inside the project folder, so this value is ignored.`,
      );
      assert.equal(settings.diagnostics.length, 1);
    }
  });

  it('project references: other spellings of a path are rejected on a case-sensitive file system', async () => {
    using folder = new ProjectFolder();
    folder.write('project/k', 'inside');
    folder.write('PROJECT/k', 'CANARY-3');
    assert.equal((await load(folder, '{file:../PROJECT/k}')).key, undefined);
    assert.equal((await load(folder, '{file:\u2024\u2024/outside}')).key, undefined);
  });

  it('project references: a FIFO inside the project does not block', async () => {
    using folder = new ProjectFolder();
    execFileSync('mkfifo', [path.join(folder.project, 'pipe')]);
    assert.deepEqual(codes((await load(folder, '{file:pipe}')).settings), ['project-file-refused']);
    assert.match((await load(folder, '{file:pipe}')).settings.diagnostics[0]?.message ?? '', /regular file/);
  });

  it('configuration file: a FIFO does not block', async () => {
    using folder = new ProjectFolder();
    execFileSync('mkfifo', [path.join(folder.project, 'svc.json')]);
    assert.deepEqual(codes(await folder.load()), ['unreadable']);
  });

  it('project references: never read outside the project while a link is swapped', async () => {
    using folder = new ProjectFolder();
    folder.write('project/in/k', 'inside');
    folder.write('out/k', 'CANARY-4');
    const link = path.join(folder.project, 'swap');
    let stop = false;
    const swapping = (async () => {
      for (let turn = 0; !stop; turn++) {
        const next = path.join(folder.project, `next-${turn}`);
        symlinkSync(turn % 2 === 0 ? path.join(folder.root, 'out') : 'in', next);
        renameSync(next, link);
        await new Promise((resolve) => setImmediate(resolve));
      }
    })();
    const seen = new Set<string>();
    for (let turn = 0; turn < 2_000; turn++) {
      const read = await readRegularFile(path.join(link, 'k'), { limit: 1024, inside: folder.project });
      seen.add('bytes' in read ? Buffer.from(read.bytes).toString() : read.problem);
    }
    stop = true;
    await swapping;
    assert.ok(!seen.has('CANARY-4'));
    assert.ok(seen.has('inside') && seen.has('outside'), [...seen].join());
    rmSync(link);
  });

  it('project references: a hard link is accepted, because it equals a file of the project', async () => {
    using folder = new ProjectFolder();
    const file = folder.write('outside', 'shared');
    linkSync(file, path.join(folder.project, 'hard'));
    assert.equal((await load(folder, '{file:hard}')).key, 'shared');
  });

  it('project references: are not resolved in an untrusted workspace', async () => {
    using folder = new ProjectFolder();
    folder.write('project/k', 'inside');
    folder.write('project/svc.json', withKey('{file:k}'));
    const settings = await folder.load({ trustedWorkspace: false });
    assert.equal(settings.providers.get('p')?.apiKey, undefined);
    assert.deepEqual(
      settings.diagnostics.map(({ severity }) => severity),
      ['information'],
    );
    assert.match(settings.providers.get('p')?.problem ?? '', /not trusted/);
  });
});

describe('paths of references on each platform', () => {
  const windows = { opened: 'C:\\work\\Project', real: 'D:\\store\\project' };
  const posix = { opened: '/work/Project', real: '/store/project' };
  const rows: readonly (readonly [NodeJS.Platform, string, string, boolean])[] = [
    ['win32', 'key', 'C:\\work\\Project\\key', true],
    ['win32', 'sub/key', 'C:\\work\\Project\\sub\\key', true],
    ['win32', 'a\\..\\key', 'C:\\work\\Project\\key', true],
    ['win32', '..\\PROJECT\\key', 'C:\\work\\PROJECT\\key', true],
    ['win32', 'd:\\Store\\project\\key', 'd:\\Store\\project\\key', true],
    ['win32', 'C:key', 'C:\\work\\Project\\key', true],
    ['win32', '..\\key', 'C:\\work\\key', false],
    ['win32', 'sub/../../key', 'C:\\work\\key', false],
    ['win32', '..\\Project2\\key', 'C:\\work\\Project2\\key', false],
    ['win32', '\\key', 'C:\\key', false],
    ['win32', 'E:\\work\\Project\\key', 'E:\\work\\Project\\key', false],
    ['win32', '\\\\server\\share\\key', '\\\\server\\share\\key', false],
    ['win32', '\\\\?\\C:\\work\\Project\\key', '\\\\?\\C:\\work\\Project\\key', false],
    ['win32', '\\\\.\\pipe\\x', '\\\\.\\pipe\\x', false],
    ['win32', '~\\key', 'C:\\Users\\ann\\key', false],
    ['win32', '.', 'C:\\work\\Project', false],
    ['darwin', 'sub/key', '/work/Project/sub/key', true],
    ['darwin', '/WORK/project/key', '/WORK/project/key', true],
    ['darwin', 'a\\..\\..\\key', '/work/Project/a\\..\\..\\key', true],
    ['darwin', '../key', '/work/key', false],
    ['linux', '/WORK/project/key', '/WORK/project/key', false],
    ['linux', '/store/project/key', '/store/project/key', true],
    ['linux', '~/key', '/home/ann/key', false],
    ['linux', '..x/key', '/work/Project/..x/key', true],
  ];
  for (const [platform, name, expected, inside] of rows) {
    it(`reference path: ${platform}: ${name} is ${inside ? 'inside' : 'outside'}`, () => {
      const root = platform === 'win32' ? windows : posix;
      const home = platform === 'win32' ? 'C:\\Users\\ann' : '/home/ann';
      const file = referencedFile(name, { platform, folder: root.opened, home });
      assert.equal(file, expected);
      assert.equal(isWrittenInside(file, root, platform), inside);
    });
  }
});

describe('secrets in settings', () => {
  it('Secret: no printed form of the settings contains it', async () => {
    using folder = new ProjectFolder();
    const canary = 'CANARY-5f3a';
    folder.env.KEY = canary;
    folder.write('home/.config/svc/k', canary);
    folder.global({
      model: '{env:KEY}/m',
      provider: {
        p: {
          name: 5,
          npm: '{env:KEY}',
          options: {
            apiKey: canary,
            baseURL: 'http://{env:KEY}/v1',
            headers: { Authorization: `Bearer ${canary}` },
            deep: { list: ['{file:k}'] },
          },
          models: {
            m: {
              headers: { x: canary },
              options: { a: '{env:KEY}' },
              variants: { v: { b: '{env:KEY}' } },
              limit: { context: '{env:KEY}' },
            },
          },
          fim: '{env:KEY}',
        },
        '{env:KEY}': {},
      },
      gateway: { organizations: { a: { byok: { p: canary } } }, listen: { port: '{env:KEY}' } },
    });
    const settings = await folder.load();
    const printed = [
      JSON.stringify(settings),
      inspect(settings, { depth: 20, showHidden: false }),
      JSON.stringify(settings.diagnostics),
      JSON.stringify(reportSettings(settings)),
      ...settings.diagnostics.map(String),
    ];
    assert.ok(settings.diagnostics.length >= 3);
    for (const text of printed)
      assert.ok(!text.includes(canary), text.slice(Math.max(0, text.indexOf(canary) - 100)).slice(0, 200));
    const p = settings.providers.get('p');
    assert.equal(p?.apiKey?.secret.reveal(), canary);
    assert.equal(p?.baseURL?.value, `http://${canary}/v1`);
  });

  it('Secret: the message of a syntax error does not contain it', async () => {
    using folder = new ProjectFolder();
    folder.global('{"provider": {"p": {"options": {"apiKey": "CANARY-6" "x": 1}}}}');
    const settings = await folder.load();
    assert.ok(codes(settings).includes('syntax'));
    assert.ok(!JSON.stringify(settings).includes('CANARY-6'));
  });
});
