import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { Replacement } from '../../../src/completion/next-edit/next-edit.ts';
import { applyEdit, isCurrent, textWithEdit } from '../../../src/extension/completion/next-edit/apply-edit.ts';
import { QuickFixSource } from '../../../src/extension/completion/next-edit/quick-fix-source.ts';
import { documentView } from '../../../src/extension/document-view.ts';
import { edit } from './completion-provider.ts';
import { until, writeFile } from './until.ts';

interface AppliedCase {
  readonly name: string;
  readonly before: string;
  readonly replacements: readonly Replacement[];
  readonly after: string;
}

function replace(
  [line, character]: readonly [number, number],
  [endLine, endCharacter]: readonly [number, number],
  expected: string,
  text: string,
): Replacement {
  return { start: { line, character }, end: { line: endLine, character: endCharacter }, expected, text };
}

const CASES: readonly AppliedCase[] = [
  {
    name: 'several places',
    before: 'a = b\nc(b, b)\n',
    replacements: [replace([1, 2], [1, 3], 'b', 'long'), replace([1, 5], [1, 6], 'b', 'long')],
    after: 'a = b\nc(long, long)\n',
  },
  {
    name: 'lines of a file with CRLF',
    before: 'one\r\ntwo\r\nthree\r\n',
    replacements: [replace([0, 0], [1, 3], 'one\ntwo', 'one\nand\ntwo')],
    after: 'one\r\nand\r\ntwo\r\nthree\r\n',
  },
  {
    name: 'characters that share their first or second half',
    before: 'x = "😀"\n',
    replacements: [replace([0, 5], [0, 7], '😀', '😁')],
    after: 'x = "😁"\n',
  },
  { name: 'removed lines', before: 'a\nb\nc', replacements: [replace([0, 1], [1, 1], '\nb', '')], after: 'a\nc' },
];

describe('accepted next edits', () => {
  const written: vscode.Uri[] = [];

  afterEach(() => vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor'));
  after(async () => {
    for (const uri of written) await vscode.workspace.fs.delete(uri);
  });

  /** A new file: an untitled document may get the name of a previous one that is being closed. */
  async function open(content: string): Promise<vscode.TextEditor> {
    const uri = await writeFile(`accepted${written.length}.txt`, content);
    written.push(uri);
    return edit('', { uri });
  }

  for (const { name, before, replacements, after } of CASES) {
    it(`accepted next edits: change ${name}, in one undo step`, async () => {
      const editor = await open(before);
      const expected = textWithEdit(editor.document, { replacements });
      assert.equal(await applyEdit(editor, { replacements }), true);
      assert.equal(editor.document.getText(), after);
      assert.equal(expected, after);
      await vscode.commands.executeCommand('undo');
      assert.equal(editor.document.getText(), before);
    });
  }

  it('accepted next edits: change nothing if the text is not the expected one', async () => {
    const editor = await open('a = b\nc(b, b)\n');
    const replacements = [replace([0, 4], [0, 5], 'b', 'd'), replace([1, 2], [1, 3], 'x', 'd')];
    assert.equal(isCurrent(editor.document, { replacements }), false);
    assert.equal(await applyEdit(editor, { replacements }), false);
    assert.equal(editor.document.getText(), 'a = b\nc(b, b)\n');
  });
});

describe('quick fixes as next edits', () => {
  const never = new AbortController().signal;
  let problems: vscode.DiagnosticCollection;
  let source: QuickFixSource;
  /** Called before quick fixes are given to a search. */
  let asked: (token: vscode.CancellationToken) => Promise<unknown> | undefined;
  let provider: vscode.Disposable;
  let files = 0;

  const provide = () =>
    vscode.languages.registerCodeActionsProvider(
      { pattern: '**/quick-fix-*.txt' },
      {
        provideCodeActions: async ({ uri }, _range, { only }, token) => {
          // The light bulb of the editor asks for all kinds of actions.
          if (only?.value !== vscode.CodeActionKind.QuickFix.value) return [];
          await asked(token);
          const action = new vscode.CodeAction('Import it', vscode.CodeActionKind.QuickFix);
          action.isPreferred = true;
          action.edit = new vscode.WorkspaceEdit();
          action.edit.insert(uri, new vscode.Position(0, 0), 'import it\n');
          return [action];
        },
      },
    );

  beforeEach(() => {
    problems = vscode.languages.createDiagnosticCollection('quick-fix-suite');
    source = new QuickFixSource();
    asked = () => undefined;
    provider = provide();
  });
  afterEach(async () => {
    const written = vscode.window.activeTextEditor?.document.uri;
    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
    if (written) await vscode.workspace.fs.delete(written);
    vscode.Disposable.from(problems, source, provider).dispose();
  });

  /** A new file with one line: VS Code keeps a closed one for a while, and loads it again while a test changes it. */
  async function open(content: string): Promise<vscode.TextEditor> {
    return edit('', { uri: await writeFile(`quick-fix-${++files}.txt`, content) });
  }

  async function type(editor: vscode.TextEditor, text: string): Promise<void> {
    assert.ok(await editor.edit((builder) => builder.insert(editor.selection.active, text)));
  }

  function report(
    { document }: vscode.TextEditor,
    ...places: readonly (readonly [line: number, character: number])[]
  ): void {
    const at = ([line, character]: readonly [number, number]) => new vscode.Range(line, character, line, character + 4);
    problems.set(
      document.uri,
      places.map((place) => new vscode.Diagnostic(at(place), `Cannot find name ${place}`)),
    );
  }

  async function find({ document }: vscode.TextEditor, signal = never): Promise<readonly string[]> {
    const { text } = document.lineAt(0);
    const view = documentView(document);
    const position = { line: 0, character: text.length };
    const found = await source.find({ document: view, position, line: 0, before: [''], after: [text] }, signal);
    return found.map(({ title }) => (title.kind === 'quick-fix' ? title.title : title.kind));
  }

  it('quick fixes: are found after another key or a move of the cursor has ended the search for them', async () => {
    const editor = await open('mean');
    await type(editor, '(1, 2)');
    report(editor, [0, 0]);
    const ended = new AbortController();
    const reached = Promise.withResolvers<void>();
    const late = Promise.withResolvers<void>();
    asked = () => {
      reached.resolve();
      return late.promise;
    };
    const first = find(editor, ended.signal);
    await reached.promise;
    await type(editor, ';');
    ended.abort();
    late.resolve();
    assert.deepEqual(await first, []);
    assert.deepEqual(await find(editor), ['Import it']);
    let times = 0;
    asked = () => {
      times += 1;
      return undefined;
    };
    assert.deepEqual(await find(editor), ['Import it'], 'the same edit');
    assert.equal(times, 0, 'nothing has changed');
  });

  it('quick fixes: are found again after another key in the line, which ends an offer, and not for errors of other lines', async () => {
    const editor = await open('mean\nwrong');
    editor.selection = new vscode.Selection(0, 4, 0, 4);
    await type(editor, '(1, 2)');
    report(editor, [0, 0], [1, 0]);
    assert.deepEqual(await find(editor), ['Import it']);
    let times = 0;
    asked = () => {
      times += 1;
      return undefined;
    };
    await type(editor, ';');
    assert.deepEqual(await find(editor), ['Import it']);
    assert.equal(times, 1);
  });

  it('quick fixes: are requested again when the cursor moves after a request for them failed', async () => {
    const editor = await open('mean');
    await type(editor, '(1, 2)');
    report(editor, [0, 0]);
    const others: vscode.Disposable[] = [];
    const provider = { provideCodeActions: () => [] };
    asked = (token) => {
      if (others.length >= 5) return undefined;
      others.push(vscode.languages.registerCodeActionsProvider({ scheme: 'file' }, provider));
      return until(token.onCancellationRequested, () => token.isCancellationRequested);
    };
    assert.deepEqual(await find(editor), []);
    assert.equal(others.length, 5);
    assert.deepEqual(await find(editor), ['Import it']);
    vscode.Disposable.from(...others).dispose();
  });

  it('quick fixes: are found although errors of removed lines are still reported', async () => {
    const editor = await open('');
    report(editor, [7, 0]);
    await type(editor, 'mean(1, 2)');
    report(editor, [0, 0]);
    assert.deepEqual(await find(editor), ['Import it']);
  });

  it('quick fixes: are requested again if another extension is loaded meanwhile', async () => {
    const editor = await open('');
    await type(editor, 'mean(1, 2)');
    report(editor, [0, 0]);
    const reached = Promise.withResolvers<void>();
    let held = true;
    asked = (token) => {
      reached.resolve();
      return held ? until(token.onCancellationRequested, () => token.isCancellationRequested) : undefined;
    };
    const found = find(editor);
    await reached.promise;
    held = false;
    const other = vscode.languages.registerCodeActionsProvider({ scheme: 'file' }, { provideCodeActions: () => [] });
    assert.deepEqual(await found, ['Import it']);
    other.dispose();
  });
});
