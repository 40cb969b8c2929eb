import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { cautionFor, findInWorkspace } from '../../src/chat/tools/workspace-files.ts';

describe('workspace paths from a model', () => {
  let base: string;
  let root: string;

  before(() => {
    base = realpathSync(mkdtempSync(path.join(tmpdir(), 'svc-files-')));
    root = path.join(base, 'project');
    for (const folder of ['project/src', 'project/.git', 'project/.vscode', 'outside', 'second']) {
      mkdirSync(path.join(base, folder), { recursive: true });
    }
    for (const file of [
      'project/src/a.ts',
      'project/.env',
      'project/.git/config',
      'outside/notes.txt',
      'outside/.env',
    ]) {
      writeFileSync(path.join(base, file), 'text');
    }
    const links: Readonly<Record<string, string>> = {
      'plain.txt': '.env',
      'again.txt': 'plain.txt',
      out: '../outside',
      'out.txt': '../outside/notes.txt',
      'dangling.txt': '../outside/new.txt',
      'dangling-folder': '../outside/none/deep',
      'round-a': 'round-b',
      'round-b': 'round-a',
      settings: '.vscode',
      source: 'src',
      'new.ts': 'src/made.ts',
      'through.txt': 'out/../outside/notes.txt',
      second: '../second',
    };
    for (const [name, target] of Object.entries(links)) symlinkSync(target, path.join(root, name));
    symlinkSync(root, path.join(base, 'alias'));
  });
  after(() => rmSync(base, { recursive: true, force: true }));

  const find = (written: string, from = root) => findInWorkspace([{ name: 'project', path: from }], written);

  for (const written of [
    '../outside/notes.txt',
    'src/../../outside/notes.txt',
    '..\\outside\\notes.txt',
    '/etc/passwd',
    'out/notes.txt',
    'out/new.txt',
    'out.txt',
    'dangling.txt',
    'dangling-folder/x.txt',
    'round-a',
    'round-b/x',
    'source/../out/notes.txt',
    './out/./notes.txt',
    'through.txt',
    'second/x.ts',
    'src/a.ts\0.png',
  ]) {
    it(`workspace path: cannot leave the workspace: ${JSON.stringify(written)}`, async () =>
      assert.equal(await find(written), undefined));
  }

  for (const [written, relative] of [
    ['src/a.ts', 'src/a.ts'],
    ['./src/../src//a.ts', 'src/a.ts'],
    ['src\\a.ts', 'src/a.ts'],
    ['source/a.ts', 'src/a.ts'],
    ['new.ts', 'src/made.ts'],
    ['src/new/deep.ts', 'src/new/deep.ts'],
    ['', ''],
  ] as const) {
    it(`workspace path: resolves to its real file: ${JSON.stringify(written)}`, async () => {
      assert.equal((await find(written))?.relative, relative);
      assert.equal((await find(written, path.join(base, 'alias')))?.relative, relative);
      assert.equal((await find(path.join(root, written)))?.relative, relative);
    });
  }

  for (const [written, read, write] of [
    ['.env', 'secret', 'shell'],
    ['./src/../.env', 'secret', 'shell'],
    ['src\\..\\.env', 'secret', 'shell'],
    ['src/./../.env/.', 'secret', 'shell'],
    ['plain.txt', 'secret', 'shell'],
    ['again.txt', 'secret', 'shell'],
    ['.git/config', 'secret', 'git'],
    ['settings/tasks.json', undefined, 'editor'],
    ['SRC/../.VSCODE/tasks.json', undefined, 'editor'],
    ['src/a.ts', undefined, undefined],
    ['new.ts', undefined, undefined],
  ] as const) {
    it(`workspace path: the approval names its real file: ${JSON.stringify(written)}`, async () => {
      const file = await find(written);
      assert.ok(file);
      assert.equal(cautionFor(file, written, 'read')?.kind, read);
      assert.equal(cautionFor(file, written, 'write')?.kind, write);
    });
  }

  it('workspace path: may start with the name of a folder if there are several', async () => {
    const roots = [
      { name: 'project', path: root },
      { name: 'second', path: path.join(base, 'second') },
    ];
    assert.equal((await findInWorkspace(roots, 'second/x.ts'))?.root.name, 'second');
    assert.equal(await findInWorkspace(roots, 'project/out/notes.txt'), undefined);
  });

  it('workspace path: without the name of a folder it is in the folder where the file exists, or in the first', async () => {
    const roots = [
      { name: 'second', path: path.join(base, 'second') },
      { name: 'project', path: root },
    ];
    assert.equal((await findInWorkspace(roots, 'src/a.ts'))?.root.name, 'project');
    assert.equal((await findInWorkspace(roots, 'src/none.ts'))?.root.name, 'second');
  });

  it('workspace path: with several folders of one name it is in the folder where the file exists', async () => {
    const roots = ['second', 'project'].map((folder) => ({ name: 'same', path: path.join(base, folder) }));
    assert.equal((await findInWorkspace(roots, 'same/src/a.ts'))?.real, path.join(root, 'src/a.ts'));
  });
});
