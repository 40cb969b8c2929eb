import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import * as vscode from 'vscode';
import { Checkpoints } from '../../../src/chat/checkpoints/checkpoints.ts';
import { completeOutcome } from '../../../src/chat/tools/tools.ts';
import { EditorFiles } from '../../../src/extension/chat/tools/editor-files.ts';
import { fileTools } from '../../../src/extension/chat/tools/file-tools.ts';
import { symbolChangingTools, symbolTools } from '../../../src/extension/chat/tools/symbol-tools.ts';
import { ToolCalls } from './tool-calls.ts';
import { until, workspaceFolder } from './until.ts';

describe('chat tools that change files', () => {
  let root: string;
  let kept: string;
  let checkpoints: Checkpoints;
  const calls = new ToolCalls(() => [...fileTools(), ...symbolTools(), ...symbolChangingTools()]);
  const uri = (path: string) => vscode.Uri.file(join(root, path));
  const write = (path: string, text: string | Buffer) => writeFileSync(join(root, path), text);
  const read = (path: string) => readFileSync(join(root, path), 'latin1');

  beforeEach(() => {
    root = join(workspaceFolder().fsPath, 'changed');
    mkdirSync(root, { recursive: true });
    kept = mkdtempSync(join(tmpdir(), 'svc-kept-'));
    let id = 0;
    const deps = { newId: () => `e${++id}`, now: () => id };
    checkpoints = new Checkpoints({ ...deps, folder: kept, files: new EditorFiles() });
  });
  afterEach(async () => {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    rmSync(root, { recursive: true, force: true });
    rmSync(kept, { recursive: true, force: true });
  });

  /** Runs a call with its checkpoint. Returns its outcome before the follow-up. */
  const recorded = async (name: string, input: Record<string, unknown>) => {
    const prepared = await calls.prepare(name, input);
    const changes = prepared.action?.type === 'changes' ? prepared.action.changes : [];
    const run = () => prepared.run({ signal: new AbortController().signal, message: 'm', call: 'c', owner: {} });
    return checkpoints.record({ message: 'm', call: 'c' }, changes, run);
  };
  /** Runs a call as the agent loop does. */
  const change = async (name: string, input: Record<string, unknown>) => completeOutcome(await recorded(name, input));
  const undoAll = async () => checkpoints.undo((await checkpoints.changes()).map(({ id }) => id));

  it('edit_file: an edit of several lines fits a file with Windows line ends, and writes them', async () => {
    write('a.ts', 'one\r\ntwo\r\nthree\r\n');
    await change('edit_file', { path: 'changed/a.ts', old_text: 'one\ntwo\n', new_text: 'ONE\nand\ntwo\n' });
    assert.equal(read('a.ts'), 'ONE\r\nand\r\ntwo\r\nthree\r\n');
    await undoAll();
    assert.equal(read('a.ts'), 'one\r\ntwo\r\nthree\r\n');
  });

  it('edit_file: other lines keep their line ends, the byte order mark and the encoding stay', async () => {
    write('mixed.ts', 'one\ntwo\r\nthree\n');
    write('mark.ts', Buffer.from('\u00ef\u00bb\u00bfone\r\n', 'latin1'));
    await change('edit_file', { path: 'changed/mixed.ts', old_text: 'three', new_text: 'THREE' });
    await change('edit_file', { path: 'changed/mark.ts', old_text: 'one', new_text: 'ONE' });
    assert.equal(read('mixed.ts'), 'one\ntwo\r\nTHREE\n');
    assert.equal(read('mark.ts'), '\u00ef\u00bb\u00bfONE\r\n');
    await undoAll();
    assert.equal(read('mixed.ts'), 'one\ntwo\r\nthree\n');
    assert.equal(read('mark.ts'), '\u00ef\u00bb\u00bfone\r\n');
  });

  it('edit_file: several edits in several files are made together or not at all', async () => {
    write('a.ts', 'alpha\nbeta\n');
    write('b.ts', 'gamma\n');
    const edits = [
      { path: 'changed/a.ts', old_text: 'alpha', new_text: 'ALPHA' },
      { path: 'changed/b.ts', old_text: 'gamma', new_text: 'GAMMA' },
      { path: 'changed/a.ts', old_text: 'beta', new_text: 'BETA' },
    ];
    const missing = { path: 'changed/b.ts', old_text: 'gama', new_text: '' };
    await assert.rejects(calls.prepare('edit_file', { edits: [...edits, missing] }), /Edit 2 of 2: .*changed\/b\.ts/);
    assert.equal(read('a.ts'), 'alpha\nbeta\n');
    const { action } = await calls.prepare('edit_file', { edits });
    assert.deepEqual(
      action?.type === 'changes' && action.changes.map(({ path, added, removed }) => [path, added, removed]),
      [
        ['changed/a.ts', 2, 2],
        ['changed/b.ts', 1, 1],
      ],
    );
    await change('edit_file', { edits });
    assert.deepEqual([read('a.ts'), read('b.ts')], ['ALPHA\nBETA\n', 'GAMMA\n']);
    await undoAll();
    assert.deepEqual([read('a.ts'), read('b.ts')], ['alpha\nbeta\n', 'gamma\n']);
  });

  it('edit_file: is one undo step in the editor, and unsaved changes of the user stay', async () => {
    write('open.txt', 'one\ntwo\nthree\n');
    const editor = await vscode.window.showTextDocument(uri('open.txt'));
    await editor.edit((edit) => edit.insert(new vscode.Position(2, 0), 'mine '));
    await change('edit_file', {
      path: 'changed/open.txt',
      edits: [
        { old_text: 'one', new_text: 'ONE' },
        { old_text: 'two', new_text: 'TWO' },
      ],
    });
    assert.equal(editor.document.getText(), 'ONE\nTWO\nmine three\n');
    assert.equal(read('open.txt'), 'one\ntwo\nthree\n');
    await vscode.commands.executeCommand('undo');
    assert.equal(editor.document.getText(), 'one\ntwo\nmine three\n');
    await vscode.commands.executeCommand('redo');
    await undoAll();
    assert.equal(editor.document.getText(), 'one\ntwo\nmine three\n');
    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
  });

  it('edit_file: does not overwrite what the user typed after the call was prepared', async () => {
    write('typed.txt', 'one\n');
    const editor = await vscode.window.showTextDocument(uri('typed.txt'));
    const prepared = await calls.prepare('edit_file', { path: 'changed/typed.txt', old_text: 'one', new_text: 'two' });
    await editor.edit((edit) => edit.insert(new vscode.Position(1, 0), 'mine\n'));
    const run = { signal: new AbortController().signal, message: 'm', call: 'c', owner: {} };
    await assert.rejects(prepared.run(run), /has changed\. Nothing was done/);
    assert.equal(editor.document.getText(), 'one\nmine\n');
    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
  });

  it('files: are created, renamed and deleted, and undo gives the first bytes back', async () => {
    write('old name.txt', 'moved\r\n');
    write('picture.bin', Buffer.from([0, 255, 1]));
    await change('create_file', { path: 'changed/new/deep.ts', content: 'export {};\n' });
    await change('rename_file', { path: 'changed/old name.txt', new_path: 'changed/sub/new name.txt' });
    await change('delete_file', { path: 'changed/picture.bin' });
    assert.equal(read('new/deep.ts'), 'export {};\n');
    assert.equal(read('sub/new name.txt'), 'moved\r\n');
    assert.equal(existsSync(join(root, 'picture.bin')), false);
    assert.deepEqual(
      (await undoAll()).map(({ result }) => result),
      ['done', 'done', 'done'],
    );
    assert.equal(existsSync(join(root, 'new/deep.ts')), false);
    assert.equal(read('old name.txt'), 'moved\r\n');
    assert.deepEqual([...readFileSync(join(root, 'picture.bin'))], [0, 255, 1]);
    await checkpoints.redo();
    assert.equal(read('sub/new name.txt'), 'moved\r\n');
  });

  it('undo: never writes through a link that came later', async () => {
    write('plain.txt', 'one\n');
    write('hook.txt', 'hook\n');
    await change('edit_file', { path: 'changed/plain.txt', old_text: 'one', new_text: 'two' });
    rmSync(join(root, 'plain.txt'));
    symlinkSync('hook.txt', join(root, 'plain.txt'));
    const ids = (await checkpoints.changes()).map(({ id }) => id);
    await checkpoints.undo(ids).catch(() => undefined);
    await checkpoints.undo(ids, true).catch(() => undefined);
    assert.equal(read('hook.txt'), 'hook\n');
    rmSync(join(root, 'plain.txt'));
  });

  /** Lets the tools see two workspace folders named `src`. VS Code can't add folders without a restart. */
  const withNamesakes = async (work: () => Promise<void>) => {
    const folders = ['client/src', 'server/src'].map((path, index) => ({ uri: uri(path), name: 'src', index }));
    const folderOf = (file: vscode.Uri) => folders.find((folder) => file.path.startsWith(`${folder.uri.path}/`));
    const stubs = {
      workspaceFolders: folders,
      getWorkspaceFolder: folderOf,
      asRelativePath: (file: vscode.Uri) => `src/${relative(folderOf(file)?.uri.fsPath ?? '', file.fsPath)}`,
    };
    const real = Object.getOwnPropertyDescriptors(vscode.workspace);
    for (const [name, value] of Object.entries(stubs))
      Object.defineProperty(vscode.workspace, name, { value, configurable: true });
    try {
      await work();
    } finally {
      for (const [name, descriptor] of Object.entries(real))
        if (name in stubs) Object.defineProperty(vscode.workspace, name, descriptor);
    }
  };

  it('files: with two workspace folders of one name, the file that the card shows is changed, and undo finds it', async () => {
    for (const side of ['client', 'server']) {
      mkdirSync(join(root, side, 'src'), { recursive: true });
      for (const name of ['edited', 'moved', 'gone']) write(`${side}/src/${name}.txt`, `${name} of the ${side}\n`);
    }
    const path = (name: string) => join(root, 'server/src', name);
    const texts = (side: string) =>
      ['edited', 'moved', 'gone', 'new'].map((name) => {
        const file = `${side}/src/${name}.txt`;
        return existsSync(join(root, file)) ? read(file) : undefined;
      });
    const before = [texts('client'), texts('server')];
    await withNamesakes(async () => {
      const edit = { old_text: 'edited', new_text: 'EDITED' };
      const both = ['client', 'server'].map((side) => ({ ...edit, path: join(root, side, 'src/edited.txt') }));
      await change('edit_file', { edits: both });
      await change('rename_file', { path: path('moved.txt'), new_path: path('new.txt') });
      await change('delete_file', { path: path('gone.txt') });
      assert.deepEqual(texts('client'), [
        'EDITED of the client\n',
        'moved of the client\n',
        'gone of the client\n',
        undefined,
      ]);
      assert.deepEqual(texts('server'), ['EDITED of the server\n', undefined, undefined, 'moved of the server\n']);
      await undoAll();
    });
    assert.deepEqual([texts('client'), texts('server')], before);
  });

  it('create_file: leaves no folder behind if the file cannot be created', async () => {
    const path = `changed/new/deeper/${'n'.repeat(300)}.ts`;
    await assert.rejects(change('create_file', { path, content: '' }));
    assert.equal(existsSync(join(root, 'new')), false);
  });

  const REFUSED: readonly [tool: string, input: Record<string, string>, reason: RegExp][] = [
    ['create_file', { path: 'changed/a.ts', content: '' }, /already exists/],
    ['rename_file', { path: 'changed/a.ts', new_path: 'changed/b.ts' }, /b\.ts already exists/],
    ['rename_file', { path: 'changed/a.ts', new_path: '../b.ts' }, /not inside the workspace/],
    ['delete_file', { path: 'changed' }, /is a folder/],
    ['delete_file', { path: 'changed/none.ts' }, /does not exist/],
    ['edit_file', { path: 'changed/bin', old_text: 'a', new_text: 'b' }, /not a text file/],
    ['edit_file', { path: 'changed/a.ts', old_text: 'aplha', new_text: 'b' }, /was not found in changed\/a\.ts/],
  ];
  for (const [tool, input, reason] of REFUSED) {
    it(`${tool}: is refused before anyone is asked: ${JSON.stringify(input)}`, async () => {
      write('a.ts', 'alpha\n');
      write('b.ts', '');
      write('bin', Buffer.from([0, 1, 2, 255, 0, 0, 3]));
      await assert.rejects(calls.prepare(tool, input), reason);
    });
  }

  it('edit_file: reports the problems that it causes, after the change was recorded', async () => {
    write('checked.txt', 'good\n');
    const problems = vscode.languages.createDiagnosticCollection('test');
    const check = vscode.workspace.onDidChangeTextDocument(({ document }) => {
      const range = new vscode.Range(0, 0, 0, 3);
      if (document.getText().startsWith('bad'))
        problems.set(document.uri, [new vscode.Diagnostic(range, 'This is bad.', vscode.DiagnosticSeverity.Error)]);
    });
    const outcome = await recorded('edit_file', { path: 'changed/checked.txt', old_text: 'good', new_text: 'bad' });
    const { output } = await completeOutcome(outcome);
    check.dispose();
    problems.dispose();
    assert.equal(outcome.output, 'changed/checked.txt was changed: 1 lines added, 1 removed.');
    assert.match(
      output,
      /^changed\/checked\.txt was changed: 1 lines added, 1 removed\.\nProblems after this change:\nchanged\/checked\.txt:1:1: error: This is bad\.$/,
    );
  });

  it('edit_file: reports and shows what the editor changed when it saved the file, and undo takes all back', async () => {
    const text = '{x:1,y:2}\nend  \n';
    write('saved.fmt', text);
    const formatter = vscode.languages.registerDocumentFormattingEditProvider(
      { pattern: '**/*.fmt' },
      {
        provideDocumentFormattingEdits: (document) => [
          vscode.TextEdit.replace(document.lineAt(0).range, document.lineAt(0).text.replace(/([{,])/g, '$1\n')),
        ],
      },
    );
    const settings = vscode.workspace.getConfiguration('', workspaceFolder());
    await settings.update('editor.formatOnSave', true);
    await settings.update('files.trimTrailingWhitespace', true);
    try {
      const { output, action } = await change('edit_file', {
        path: 'changed/saved.fmt',
        old_text: 'y:2',
        new_text: 'y:3',
      });
      assert.equal(read('saved.fmt'), '{\nx:1,\ny:3}\nend\n');
      assert.match(
        output,
        /^changed\/saved\.fmt was changed: 1 lines added, 1 removed\.\nWhen it saved .* 4 more lines:/,
      );
      assert.match(output, /\n-end {2}\n\+\{\n\+x:1,\n\+y:3\}\n\+end/);
      const made = action?.type === 'changes' ? action.changes[0] : undefined;
      assert.deepEqual([made?.added, made?.removed, made?.formatted], [4, 2, 4]);
      // The second edit fits the text that the model was told.
      await change('edit_file', { path: 'changed/saved.fmt', old_text: 'x:1,\ny:3}', new_text: 'x:2,\ny:3}' });
      await undoAll();
      assert.equal(read('saved.fmt'), text);
    } finally {
      await settings.update('editor.formatOnSave', undefined);
      await settings.update('files.trimTrailingWhitespace', undefined);
      formatter.dispose();
    }
  });

  it('symbols: references, definition and rename go through the language extensions', async () => {
    write('one.tst', 'name = 1\n');
    write('two.tst', 'use name\r\n');
    const [one, two] = [uri('one.tst'), uri('two.tst')];
    const at = (file: vscode.Uri, line: number, from: number) =>
      new vscode.Location(file, new vscode.Range(line, from, line, from + 4));
    const selector = { pattern: '**/*.tst' };
    const providers = vscode.Disposable.from(
      vscode.languages.registerReferenceProvider(selector, { provideReferences: () => [at(one, 0, 0), at(two, 0, 4)] }),
      vscode.languages.registerDefinitionProvider(selector, { provideDefinition: () => at(one, 0, 0) }),
      vscode.languages.registerRenameProvider(selector, {
        provideRenameEdits: (_document, _position, name) => {
          const edit = new vscode.WorkspaceEdit();
          for (const { uri: file, range } of [at(one, 0, 0), at(two, 0, 4)]) edit.replace(file, range, name);
          return edit;
        },
      }),
    );
    const input = { path: 'changed/two.tst', symbol: 'name' };
    assert.equal(
      await calls.output('find_references', input),
      'changed/one.tst:1: name = 1\nchanged/two.tst:1: use name',
    );
    assert.equal(await calls.output('go_to_definition', { ...input, line: 1 }), 'changed/one.tst:1: name = 1');
    await assert.rejects(calls.output('go_to_definition', { ...input, symbol: 'nam' }), /nam is not in changed\/two/);
    await change('rename_symbol', { ...input, new_name: 'title' });
    assert.deepEqual([read('one.tst'), read('two.tst')], ['title = 1\n', 'use title\r\n']);
    await undoAll();
    assert.deepEqual([read('one.tst'), read('two.tst')], ['name = 1\n', 'use name\r\n']);
    write('long.tst', `${'x'.repeat(3000)} name ${'y'.repeat(3000)}`);
    const long = vscode.languages.registerDefinitionProvider(
      { pattern: '**/long.tst' },
      { provideDefinition: () => at(uri('long.tst'), 0, 3001) },
    );
    const row = await calls.output('go_to_definition', { path: 'changed/long.tst', symbol: 'name' });
    assert.match(row, /^changed\/long\.tst:1: …x{99} name y{195}…$/m);
    long.dispose();
    providers.dispose();
  });

  it('undo: an open editor shows the restored text', async () => {
    write('shown.txt', 'one\n');
    const editor = await vscode.window.showTextDocument(uri('shown.txt'));
    await change('edit_file', { path: 'changed/shown.txt', old_text: 'one', new_text: 'two' });
    assert.equal(editor.document.getText(), 'two\n');
    await undoAll();
    // VS Code reports a change of the text before that of the state, and both with this event.
    await until(
      vscode.workspace.onDidChangeTextDocument,
      () => editor.document.getText() === 'one\n' && !editor.document.isDirty,
    );
  });
});
