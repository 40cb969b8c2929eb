// The languages Vue and Svelte for a VS Code without their extensions: after `>`, the end tag is inserted behind the
// caret, a moment later and as a snippet, as the language servers of HTML and Vue do.
const vscode = require('vscode');

const LANGUAGES = ['vue', 'svelte'];
const LATER_MS = 100;

exports.activate = ({ subscriptions }) => {
  subscriptions.push(
    vscode.workspace.onDidChangeTextDocument(({ document, contentChanges: [change] }) => {
      if (change?.text !== '>' || !LANGUAGES.includes(document.languageId)) return;
      setTimeout(closeTag, LATER_MS, document, document.version, change.range.start.translate(0, 1));
    }),
  );
};

function closeTag(document, version, caret) {
  const editor = vscode.window.activeTextEditor;
  if (editor?.document !== document || document.version !== version) return;
  const [, name] = /<([\w-]+)[^<>]*>$/.exec(document.lineAt(caret.line).text.slice(0, caret.character)) ?? [];
  if (name) editor.insertSnippet(new vscode.SnippetString(`$0</${name}>`), caret);
}
