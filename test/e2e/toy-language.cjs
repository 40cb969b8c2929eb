// A language for the tests of next edits. Its provider for renames finds words, a line with `broken` has an error, and
// the preferred quick fix of the error is in fix.json: `{ "title", "range": [line, character, line, character], "text" }`.
// It has ghost text after `// `. A new line in a file whose name begins with `late` stops all extensions for a while.
// In one whose name begins with `clock`, the clock of the extensions is set back again and again after a quick fix.
// Its status bar item names the file and the word whose declaration and rename it gave.
const path = require('node:path');
const vscode = require('vscode');

const toy = { language: 'toy' };
/** `file word` of each definition and rename that was requested. */
const requested = { definition: new Set(), rename: new Set() };
let status;
const STOPPED_MS = 2000;
const HOUR_MS = 3_600_000;
let restoreClock;

exports.activate = ({ subscriptions }) => {
  const problems = vscode.languages.createDiagnosticCollection('toy');
  const check = (document) => {
    if (document.languageId === 'toy') problems.set(document.uri, findProblems(document));
  };
  status = vscode.window.createStatusBarItem('toy');
  status.show();
  subscriptions.push(
    problems,
    status,
    vscode.commands.registerCommand('toy.armed', () => undefined),
    vscode.workspace.onDidOpenTextDocument(check),
    vscode.workspace.onDidCloseTextDocument(() => restoreClock?.()),
    vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
      check(document);
      const late = path.basename(document.uri.fsPath).startsWith('late');
      if (late && contentChanges.some(({ text }) => text.includes('\n'))) stopExtensions();
    }),
    vscode.languages.registerCodeActionsProvider(toy, { provideCodeActions: createFixes }),
    vscode.languages.registerDefinitionProvider(toy, { provideDefinition: findDefinition }),
    vscode.languages.registerInlineCompletionItemProvider(toy, { provideInlineCompletionItems: continueLines }),
    vscode.languages.registerRenameProvider(toy, { provideRenameEdits: renameWords }),
  );
  for (const document of vscode.workspace.textDocuments) check(document);
};

function stopExtensions() {
  const end = Date.now() + STOPPED_MS;
  while (Date.now() < end);
}

function setBackClock() {
  const { now } = Date;
  let hours = 0;
  Date.now = () => now() - hours * HOUR_MS;
  const timer = setInterval(() => hours++, 20);
  restoreClock = () => {
    clearInterval(timer);
    Date.now = now;
    restoreClock = undefined;
  };
}

function findProblems(document) {
  const broken = [...document.getText().matchAll(/broken/g)];
  return broken.map(({ index }) => {
    const start = document.positionAt(index);
    return new vscode.Diagnostic(new vscode.Range(start, start.translate(0, 6)), 'It is broken.');
  });
}

async function createFixes(document, _range, { diagnostics }) {
  if (diagnostics.length === 0) return [];
  restoreClock?.();
  if (path.basename(document.uri.fsPath).startsWith('clock')) setBackClock();
  const file = vscode.Uri.joinPath(document.uri, '..', 'fix.json');
  const { title, range, text } = JSON.parse(new TextDecoder().decode(await vscode.workspace.fs.readFile(file)));
  const fix = new vscode.CodeAction(title, vscode.CodeActionKind.QuickFix);
  fix.isPreferred = true;
  fix.diagnostics = [diagnostics[0]];
  fix.edit = new vscode.WorkspaceEdit();
  fix.edit.replace(document.uri, new vscode.Range(...range), text);
  return [fix];
}

/** A word is declared after `let`. */
function findDefinition(document, position) {
  const word = document.getText(document.getWordRangeAtPosition(position));
  const found = new RegExp(`let (${word})\\b`).exec(document.getText());
  if (!found) return undefined;
  const start = document.positionAt(found.index + 4);
  report('definition', document, word);
  return new vscode.Location(document.uri, new vscode.Range(start, start.translate(0, word.length)));
}

async function renameWords(document, position, name) {
  const word = document.getText(document.getWordRangeAtPosition(position));
  const edit = new vscode.WorkspaceEdit();
  // At once: the user may type while the other files are read.
  replaceWords(edit, document, word, name);
  for (const uri of await vscode.workspace.findFiles('**/*.toy')) {
    const other = await vscode.workspace.openTextDocument(uri);
    if (other !== document) replaceWords(edit, other, word, name);
  }
  report('rename', document, word);
  return edit;
}

function report(kind, document, word) {
  const name = `${path.basename(document.uri.fsPath)} ${word}`;
  requested[kind].add(name);
  if (requested.definition.has(name) && requested.rename.has(name)) status.text = name;
}

function replaceWords(edit, document, word, name) {
  for (const { index } of document.getText().matchAll(new RegExp(`\\b${word}\\b`, 'g'))) {
    const start = document.positionAt(index);
    edit.replace(document.uri, new vscode.Range(start, start.translate(0, word.length)), name);
  }
}

function continueLines(document, position) {
  if (!document.lineAt(position.line).text.slice(0, position.character).endsWith('// ')) return [];
  return [new vscode.InlineCompletionItem('of the toy', new vscode.Range(position, position))];
}
