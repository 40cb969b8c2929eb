import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { ODD_ANSWERS } from '../../completion/situations.ts';
import { type CompletionProvider, edit, startCompletionProvider, take, untilAvailable } from './completion-provider.ts';
import { until, writeFile } from './until.ts';

const run = vscode.commands.executeCommand;

/** Text before the caret, the keys, the text that VS Code adds after the caret, the answer, and the file then. */
interface Pair {
  readonly file: string;
  readonly before: string;
  readonly keys: string;
  readonly closed: string;
  readonly answer: string;
  readonly after: string;
}

function pair(file: string, before: string, keys: string, closed: string, answer: string, after: string): Pair {
  return { file, before, keys, closed, answer, after };
}

/** Pairs that VS Code closes, with an answer that has the closer and goes on after it. */
const PAIRS: readonly Pair[] = [
  pair(
    'block.ts',
    'if (a) ',
    '{',
    '}',
    '\n  one();\n} else {\n  two();\n}',
    'if (a) {\n  one();\n} else {\n  two();\n}',
  ),
  pair('comment.ts', '', '/**', ' */', '\n * Adds.\n */\nfunction add() {}', '/**\n * Adds.\n */\nfunction add() {}'),
  pair('line.ts', '', '/**', ' */', ' Adds. */\nfunction add() {}', '/** Adds. */\nfunction add() {}'),
  pair('call.py', 'print', '(', ')', '"a", sep="")\nnext_step()', 'print("a", sep="")\nnext_step()'),
  pair('comment.html', '', '<!--', '-->', ' Head -->\n<p>x</p>', '<!-- Head -->\n<p>x</p>'),
];

/** Answers that were wrong once: fences, indentation, lines further down, code to the right of the caret. */
const ODD = [
  'whole function in a fence',
  'statements of two in a block of four',
  'statements at column 0 of a method',
  'block below again',
  'statement before a comment',
  'lines of an element in brackets',
];

describe('pairs that VS Code closes', () => {
  let provider: CompletionProvider;
  let config: vscode.Uri;

  before(async () => {
    provider = await startCompletionProvider();
    config = await writeFile('svc.jsonc', provider.config());
    await untilAvailable(provider, await writeFile('early.ts', 'const early = '));
  });
  after(async () => {
    await run('workbench.action.closeAllEditors');
    await vscode.workspace.fs.delete(config);
    await provider.upstream.close();
  });
  afterEach(() => run('workbench.action.revertAndCloseActiveEditor'));

  for (const { file, before, keys, closed, answer, after } of PAIRS) {
    it(`pairs: are right in the saved file, automatically and by the command: ${file}`, async () => {
      for (const how of ['automatic', 'command'] as const) {
        const uri = await writeFile(`${how}-${file}`, before);
        let given = how === 'automatic';
        provider.answer = (prompt) => (given && prompt.endsWith(before + keys) ? answer : '');
        const { document } = await edit('', { uri });
        for (const text of keys) await run('type', { text });
        const typed = `${before}${keys}${closed}`;
        await until(vscode.workspace.onDidChangeTextDocument, () => document.getText() === typed);
        given = true;
        if (how === 'command') await take();
        await accepted(document, typed);
        await isSaved(document, after);
      }
    });
  }

  for (const name of ODD) {
    const found = ODD_ANSWERS.find((each) => each.name === name);
    if (found === undefined) throw new Error(`No answer "${name}".`);
    const { language, file, answer, result } = found;
    it(`answers: are right in the saved file: ${language}, ${name}`, async () => {
      const [before = '', after = ''] = file.split('‸');
      const opened = await vscode.workspace.openTextDocument(
        await writeFile(`${ODD.indexOf(name)}.odd`, before + after),
      );
      const document = await vscode.languages.setTextDocumentLanguage(opened, language);
      const editor = await vscode.window.showTextDocument(document);
      const caret = document.positionAt(before.length);
      editor.selection = new vscode.Selection(caret, caret);
      provider.answer = (prompt) => (prompt.endsWith(before) ? answer : '');
      await take();
      await accepted(document, before + after);
      await isSaved(document, result);
    });
  }

  /** Accepts what is suggested until the document is no longer what was typed. */
  async function accepted(document: vscode.TextDocument, typed: string): Promise<void> {
    while (document.getText() === typed) await run('editor.action.inlineSuggest.commit');
  }

  async function isSaved(document: vscode.TextDocument, expected: string): Promise<void> {
    // The first lines of an answer can be accepted before the others are there.
    for (let more = 0; more < 4 && document.getText() !== expected; more++) await take();
    await document.save();
    const saved = new TextDecoder().decode(await vscode.workspace.fs.readFile(document.uri));
    assert.equal(saved, expected);
  }
});
