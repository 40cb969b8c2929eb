import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { Replacement } from '../../../src/completion/next-edit/next-edit.ts';
import { applyEdit, isCurrent, textWithEdit } from '../../../src/extension/completion/next-edit/apply-edit.ts';
import { edit } from './completion-provider.ts';
import { writeFile } from './until.ts';

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
