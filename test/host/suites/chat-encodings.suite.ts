import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { Checkpoints } from '../../../src/chat/checkpoints/checkpoints.ts';
import { gitDiff } from '../../../src/extension/chat/attachments/git.ts';
import { EditorFiles, writeTexts } from '../../../src/extension/chat/tools/editor-files.ts';
import { fileTools } from '../../../src/extension/chat/tools/file-tools.ts';
import { readingTools } from '../../../src/extension/chat/tools/reading-tools.ts';
import { ToolCalls } from './tool-calls.ts';
import { workspaceFolder } from './until.ts';

const latin1 = (text: string) => Buffer.from(text, 'latin1');
const GBK = Buffer.from([...Buffer.from('s = "'), 0xd6, 0xd0, 0xce, 0xc4, ...Buffer.from('"\nx = 1\n')]);
const CP852 = Buffer.from([...Buffer.from('# '), 0xa5, 0xa8, ...Buffer.from('\nx = 1\n')]);
const UTF16 = Buffer.from('\uFEFFname = "中文"\nx = 1\n', 'utf16le');

describe('encodings of files in the chat tools', () => {
  let root: string;
  let kept: string;
  let checkpoints: Checkpoints;
  const calls = new ToolCalls(() => [...fileTools(), ...readingTools()]);
  const uri = (path: string) => vscode.Uri.file(join(root, path));
  const write = (path: string, bytes: Uint8Array) => writeFileSync(join(root, path), bytes);
  const read = (path: string) => readFileSync(join(root, path));
  const files = () => vscode.workspace.getConfiguration('files', workspaceFolder());
  const setEncoding = (encoding: string | undefined) => files().update('encoding', encoding);

  beforeEach(() => {
    root = join(workspaceFolder().fsPath, 'encoded');
    mkdirSync(root, { recursive: true });
    kept = mkdtempSync(join(tmpdir(), 'svc-kept-'));
    let id = 0;
    checkpoints = new Checkpoints({ newId: () => `e${++id}`, now: () => id, folder: kept, files: new EditorFiles() });
  });
  afterEach(async () => {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await setEncoding(undefined);
    rmSync(root, { recursive: true, force: true });
    rmSync(kept, { recursive: true, force: true });
  });

  const change = async (name: string, input: Record<string, unknown>) => {
    const prepared = await calls.prepare(name, input);
    const changes = prepared.action?.type === 'changes' ? prepared.action.changes : [];
    const run = () => prepared.run({ signal: new AbortController().signal, message: 'm', call: 'c', owner: {} });
    await checkpoints.record({ message: 'm', call: 'c' }, changes, run);
    return prepared;
  };
  const undoAll = async () => checkpoints.undo((await checkpoints.changes()).map(({ id }) => id));

  const KEPT: readonly [name: string, bytes: Buffer][] = [
    ['latin.pl', latin1('my $n = "José García";\nx = 1\n')],
    ['latin-crlf.pl', latin1('my $n = "José García";\r\nx = 1\r\nlast')],
    ['gbk.py', GBK],
    ['cp852.py', CP852],
    ['utf16.txt', UTF16],
    ['mark.txt', Buffer.from('\uFEFFname = "中文"\r\nx = 1\r\n')],
    ['stray.md', Buffer.concat([Buffer.from('中文\n'), latin1('caf\xe9\n'), Buffer.from('x = 1\n')])],
  ];
  for (const [name, bytes] of KEPT) {
    it(`edit_file: the other bytes of ${name} stay, and undo gives all back`, async () => {
      write(name, bytes);
      await change('edit_file', { path: `encoded/${name}`, old_text: 'x = 1', new_text: 'x = 2' });
      const wide = name === 'utf16.txt' ? 'utf16le' : 'latin1';
      assert.equal(read(name).toString(wide), bytes.toString(wide).replace('x = 1', 'x = 2'));
      assert.deepEqual(
        (await undoAll()).map(({ result }) => result),
        ['done'],
      );
      assert.deepEqual(read(name), bytes);
    });
  }

  it('edit_file: a line with bytes that are not UTF-8 is refused, and so is text in an unknown encoding', async () => {
    const bytes = latin1('one = "é"\nx = 1\n');
    write('refused.pl', bytes);
    const edit = (input: object) => calls.prepare('edit_file', { path: 'encoded/refused.pl', ...input });
    await assert.rejects(
      edit({ old_text: 'one', new_text: 'two' }),
      /^Error: Line 1 of encoded\/refused\.pl has bytes that are not UTF-8.*Nothing was changed\.$/,
    );
    await assert.rejects(edit({ old_text: '"\uFFFD"', new_text: '"e"' }), /Line 1 .* not UTF-8/);
    await assert.rejects(
      edit({ old_text: 'x = 1', new_text: 'x = 1\ny = "→"' }),
      /^Error: U\+2192 \(→\) in line 3 cannot be written/,
    );
    await assert.rejects(edit({ old_text: 'one = "x"', new_text: '' }), (error: Error) => error.message.isWellFormed());
    assert.deepEqual(read('refused.pl'), bytes);
  });

  it('edit_file: a file with unsaved changes whose bytes were lost in the editor is refused', async () => {
    write('dirty.pl', latin1('é\nx = 1\n'));
    const editor = await vscode.window.showTextDocument(uri('dirty.pl'));
    await editor.edit((edit) => edit.insert(new vscode.Position(1, 0), 'mine '));
    const edit = calls.prepare('edit_file', { path: 'encoded/dirty.pl', old_text: 'x = 1', new_text: 'x = 2' });
    await assert.rejects(edit, /unsaved changes, and is not UTF-8/);
    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
  });

  it('a change that the user applies in the editor keeps the bytes of other lines, too', async () => {
    write('applied.pl', latin1('é\r\nx = 1\r\ny = 1\r\n'));
    const document = await vscode.workspace.openTextDocument(uri('applied.pl'));
    const before = document.getText();
    await writeTexts([{ document, before, text: before.replace('x = 1', 'x = 2\r\nz = 3') }]);
    assert.equal(read('applied.pl').toString('latin1'), 'é\r\nx = 2\r\nz = 3\r\ny = 1\r\n');
  });

  it('files.encoding: is followed by reading, edits and new files, and a character that it lacks is refused', async () => {
    await setEncoding('windows1252');
    write('setting.pl', latin1('n = "García"\nx = 1\n'));
    const path = 'encoded/setting.pl';
    assert.equal(await calls.output('read_file', { path }), 'n = "García"\nx = 1\n');
    await change('edit_file', { path, old_text: '"García"\nx = 1', new_text: '"García é"\nx = "ü"' });
    assert.equal(read('setting.pl').toString('latin1'), 'n = "García é"\nx = "ü"\n');
    await assert.rejects(
      calls.prepare('edit_file', { path, old_text: 'x =', new_text: 'y = "→"\nx =' }),
      /^Error: U\+2192 \(→\) in line 2 does not exist in the encoding of encoded\/setting\.pl, windows1252\./,
    );
    await change('create_file', { path: 'encoded/new.pl', content: '# né\n' });
    assert.deepEqual(read('new.pl'), latin1('# né\n'));
    await assert.rejects(
      calls.prepare('create_file', { path: 'encoded/other.pl', content: 'a\n中' }),
      /^Error: U\+4E2D \(中\) in line 2 does not exist in the encoding of encoded\/other\.pl/,
    );
    await setEncoding('gbk');
    write('chinese.py', GBK);
    await change('edit_file', { path: 'encoded/chinese.py', old_text: '"中文"', new_text: '"中文中"' });
    assert.deepEqual(read('chinese.py'), Buffer.concat([GBK.subarray(0, 9), GBK.subarray(5, 7), GBK.subarray(9)]));
  });

  it('create_file: follows the encoding of its language', async () => {
    const settings = vscode.workspace.getConfiguration('', { uri: workspaceFolder(), languageId: 'bat' });
    await settings.update('files.encoding', 'cp850', vscode.ConfigurationTarget.Workspace, true);
    try {
      await change('create_file', { path: 'encoded/new.bat', content: 'echo é\r\n' });
      assert.deepEqual(read('new.bat'), latin1('echo \x82\r\n'));
    } finally {
      await settings.update('files.encoding', undefined, vscode.ConfigurationTarget.Workspace, true);
    }
  });

  it('edit_file: an encoding that was guessed is kept', async () => {
    await files().update('autoGuessEncoding', true);
    const bytes = latin1('# Café, déjà vu, señor, mañana, Grüße aus Köln, über, schön\nx = 1\n');
    write('guessed.pl', bytes);
    try {
      await change('edit_file', { path: 'encoded/guessed.pl', old_text: 'x = 1', new_text: 'x = 2' });
      assert.equal(read('guessed.pl').toString('latin1'), bytes.toString('latin1').replace('x = 1', 'x = 2'));
    } finally {
      await files().update('autoGuessEncoding', undefined);
    }
  });

  it('edit_file: half a surrogate pair of a model is refused', async () => {
    write('plain.txt', Buffer.from('x = 1\n'));
    const edit = calls.prepare('edit_file', { path: 'encoded/plain.txt', old_text: 'x', new_text: 'x\uD83D' });
    await assert.rejects(edit, /^Error: U\+D83D in line 1 does not exist in the encoding/);
  });

  it('read_file: states the lines that it cannot show', async () => {
    write('seen.pl', latin1('one\né\ntwo\n'));
    const output = await calls.output('read_file', { path: 'encoded/seen.pl' });
    assert.match(output, /^one\n\uFFFD\ntwo\n\n\[Line 2 of encoded\/seen\.pl has bytes that are not UTF-8/);
    assert.equal(await calls.output('read_file', { path: 'encoded/seen.pl', to: 1 }), 'one\n\n[lines 1-1 of 4]');
  });

  it('search_text and git_diff: show lines that are not UTF-8, without a byte order mark', async () => {
    write('city.pl', latin1('# Citro\xebn is here\nnext é\n'));
    write('mark.txt', Buffer.from('\uFEFFis here\n'));
    const found = () => calls.output('search_text', { query: 'is here', context: 1, pattern: 'encoded/**' });
    assert.equal(
      await found(),
      '2 matches in 2 files.\nencoded/city.pl:1: # Citro\uFFFDn is here\n  2- next \uFFFD\nencoded/mark.txt:1: is here',
    );
    await setEncoding('windows1252');
    assert.match(await calls.output('search_text', { query: 'citroën', pattern: 'encoded/**' }), /# Citroën is here/);
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', ...args], { cwd: root });
    git('init', '-q');
    git('add', '.');
    git('commit', '-qm', 'first');
    write('city.pl', latin1('# Citro\xebn is here\nnext è\n'));
    write('mark.txt', Buffer.from('\uFEFFis here too\n'));
    write('new.pl', latin1('new ü\n'));
    const diff = await gitDiff('all', vscode.Uri.file(root));
    assert.match(diff, /\n # Citroën is here\n-next é\n\+next è\n/);
    assert.match(diff, /\n-is here\n\+is here too\n/);
    assert.match(diff, /\n\+new ü\n/);
  });
});
