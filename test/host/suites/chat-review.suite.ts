import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { PendingReviews } from '../../../src/extension/chat/review/pending-reviews.ts';
import { KeptTexts } from '../../../src/extension/kept-texts.ts';
import { workspaceFolder } from './until.ts';

const BEFORE = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\n';
const AFTER = 'one\nTWO\nthree\nfour\nfive\nsix\nseven\neight\n';

describe('pending changes in the editor', () => {
  let folder: string;
  let reviews: PendingReviews;
  const texts = new KeptTexts('svc-before');
  let settled: boolean[];

  before(() => {
    folder = join(workspaceFolder().fsPath, 'review');
    mkdirSync(folder, { recursive: true });
  });
  beforeEach(() => {
    settled = [];
    reviews = new PendingReviews(texts);
  });
  afterEach(async () => {
    reviews.dispose();
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });
  after(() => {
    texts.dispose();
    rmSync(folder, { recursive: true, force: true });
  });

  const read = (name: string) => readFileSync(join(folder, name), 'utf8');

  async function start(name: string, before = BEFORE, after = AFTER): Promise<vscode.TextEditor> {
    const file = join(folder, name);
    writeFileSync(file, after);
    const editor = await vscode.window.showTextDocument(vscode.Uri.file(file));
    reviews.add(editor.document.uri, before, { settled: (rejected) => void settled.push(rejected) });
    return editor;
  }
  const place = (editor: vscode.TextEditor, line: number) => {
    editor.selection = new vscode.Selection(line, 0, line, 0);
  };
  const lenses = ({ document }: vscode.TextEditor) =>
    reviews.provideCodeLenses(document).map(({ range, command }) => `${range.start.line} ${command?.title}`);

  it('pending changes: each hunk has Accept and Reject above it', async () => {
    assert.deepEqual(lenses(await start('lenses.txt')), [
      '1 $(check) Accept',
      '1 $(close) Reject',
      '1 +1 −1',
      '7 $(check) Accept',
      '7 $(close) Reject',
      '7 +1 −0',
    ]);
  });

  it('pending changes: a rejected hunk is taken back and saved, an accepted one stays, then the review ends', async () => {
    const editor = await start('hunks.txt');
    place(editor, 1);
    await reviews.rejectHunk(undefined, undefined);
    assert.equal(read('hunks.txt'), AFTER.replace('TWO', 'two'));
    assert.equal(editor.selection.active.line, 7);
    await reviews.acceptHunk(undefined, undefined);
    assert.equal(read('hunks.txt'), AFTER.replace('TWO', 'two'));
    assert.deepEqual([settled, reviews.files], [[false], []]);
  });

  it('pending changes: rejecting all gives back the bytes of a file with CRLF', async () => {
    const crlf = (text: string) => text.replaceAll('\n', '\r\n');
    const { document } = await start('crlf.txt', crlf(BEFORE), crlf(AFTER));
    await reviews.rejectFile(document.uri);
    assert.equal(read('crlf.txt'), crlf(BEFORE));
    assert.deepEqual(settled, [true]);
  });

  it('pending changes: what the user types elsewhere is kept when all is rejected', async () => {
    const editor = await start('typed.txt');
    await editor.edit((edit) => edit.insert(new vscode.Position(3, 4), ', typed'));
    assert.equal(lenses(editor).length, 6);
    await reviews.rejectFile(undefined);
    assert.equal(editor.document.getText(), BEFORE.replace('four', 'four, typed'));
    assert.deepEqual(settled, [false]);
  });

  it('pending changes: Undo of a rejection brings the change back as accepted', async () => {
    const editor = await start('undo.txt');
    await reviews.rejectHunk(editor.document.uri, 7);
    await vscode.commands.executeCommand('undo');
    assert.equal(editor.document.getText(), AFTER);
    assert.deepEqual(lenses(editor), ['1 $(check) Accept', '1 $(close) Reject', '1 +1 −1']);
  });

  it('pending changes: next and previous go through all files', async () => {
    const first = await start('a.txt');
    const second = await start('b.txt');
    place(second, 0);
    const at = () => {
      const { document, selection } = vscode.window.activeTextEditor ?? second;
      return `${document.uri.path.split('/').at(-1)} ${selection.active.line}`;
    };
    const visited: string[] = [];
    for (const direction of [1, 1, 1, 1, 1, -1, -1] as const) {
      await reviews.move(direction);
      visited.push(at());
    }
    assert.deepEqual(visited, ['b.txt 1', 'b.txt 7', 'a.txt 1', 'a.txt 7', 'b.txt 1', 'a.txt 7', 'a.txt 1']);
    assert.equal(first.document.getText(), AFTER);
  });

  it('pending changes: a change without effect needs no review', async () => {
    await start('same.txt', BEFORE, BEFORE);
    assert.deepEqual([reviews.files, settled], [[], [true]]);
  });
});
