import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { ANSWERED } from '../../completion/answered-situations.ts';
import { type CompletionProvider, startCompletionProvider, take, untilAvailable } from './completion-provider.ts';
import { writeFile } from './until.ts';

/** One in this many of the situations that the engine is tested with. */
const ONE_IN = 5;
const LANGUAGES = new Set(ANSWERED.map(({ language }) => language));
/** How often the rest of an answer is accepted. */
const MORE = 5;
/** Languages that a VS Code without extensions does not know, or in which completions are off. */
const WITHOUT = new Set(['vue', 'kotlin', 'elixir', 'markdown']);

const run = vscode.commands.executeCommand;

describe('answers in VS Code', () => {
  let provider: CompletionProvider;
  let config: vscode.Uri;

  before(async () => {
    provider = await startCompletionProvider();
    config = await writeFile('svc.jsonc', provider.config());
    await untilAvailable(provider, await writeFile('early.ts', 'const early = '));
    const known = new Set(await vscode.languages.getLanguages());
    const unknown = [...LANGUAGES].filter((language) => !known.has(language) && !WITHOUT.has(language));
    assert.deepEqual(unknown, []);
  });
  after(async () => {
    await run('workbench.action.closeAllEditors');
    await vscode.workspace.fs.delete(config);
    await provider.upstream.close();
  });

  const testable = ANSWERED.filter(({ language }) => !WITHOUT.has(language));
  const chosen = testable.filter((_, index) => index % ONE_IN === 0);
  for (const [number, { title, language, file, answer, result }] of chosen.entries()) {
    it(`the document after acceptance: ${title}`, async () => {
      const [before = '', after = ''] = file.split('‸');
      // Other requests, such as one in advance for the file after the acceptance, get nothing.
      provider.answer = (prompt) => (prompt.trimEnd().endsWith(before.trimEnd()) ? answer : '');
      // A file of its own: VS Code uses the names of untitled documents again.
      const uri = await writeFile(`situation-${number}.txt`, before + after);
      const opened = await vscode.workspace.openTextDocument(uri);
      const document = await vscode.languages.setTextDocumentLanguage(opened, language);
      const editor = await vscode.window.showTextDocument(document);
      const caret = document.positionAt(before.length);
      editor.selection = new vscode.Selection(caret, caret);
      await take();
      // The first lines of an answer can be accepted before the others arrive. They are suggested next.
      provider.answer = '';
      for (let more = 0; more < MORE && document.getText() !== result; more++) await take();
      assert.equal(document.getText().replaceAll('\r\n', '\n'), result);
      await run('workbench.action.revertAndCloseActiveEditor');
    });
  }
});
