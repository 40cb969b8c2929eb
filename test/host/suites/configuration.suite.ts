import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { codeActions, until, writeFile } from './until.ts';

const CONTENT = `{
  // A provider of the project.
  "provider": {
    "local": {
      "name": "Local",
      "options": { "baseURL": "http://127.0.0.1:9/v1", "apiKey": "{env:SECRET_KEY}" },
      "models": {
        "coder": { "limit": { "context": 32000, "output": 4000 }, "tool_cal": true }
      }
    }
  }
}
`;

describe('svc.jsonc in the editor', () => {
  let uri: vscode.Uri;
  let document: vscode.TextDocument;
  const diagnostics = () => vscode.languages.getDiagnostics(uri).filter(({ source }) => source === 'svc');
  const at = (needle: string, plus = 1) => document.positionAt(CONTENT.indexOf(needle) + plus);

  before(async () => {
    uri = await writeFile('svc.jsonc', CONTENT);
    document = await vscode.workspace.openTextDocument(uri);
    await vscode.window.showTextDocument(document);
    await until(vscode.languages.onDidChangeDiagnostics, () =>
      ['SECRET_KEY', 'tool_cal'].every((name) => diagnostics().some(({ message }) => message.includes(name))),
    );
  });
  after(async () => {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await vscode.workspace.fs.delete(uri);
  });

  it('svc.jsonc: a diagnostic states that a project must not read the environment', () => {
    const refused = diagnostics().find(({ message }) => message.includes('SECRET_KEY'));
    assert.ok(refused, JSON.stringify(diagnostics()));
    assert.equal(refused.range.start.line, CONTENT.slice(0, CONTENT.indexOf('{env:')).split('\n').length - 1);
  });

  it('svc.jsonc: a quick fix corrects a misspelled key', async () => {
    const unknown = diagnostics().find(({ message }) => message.includes('tool_cal'));
    assert.ok(unknown);
    const [fix] = await codeActions(uri, unknown.range, ({ title }) => title.includes('tool_call'));
    assert.ok(fix?.edit);
    const [, edits] = fix.edit.entries()[0] ?? [];
    assert.equal(edits?.[0]?.newText, '"tool_call"');
  });

  it('svc.jsonc: suggests catalog providers as keys', async () => {
    const list = await vscode.commands.executeCommand<vscode.CompletionList>(
      'vscode.executeCompletionItemProvider',
      uri,
      at('"local"', 2),
    );
    const labels = list.items.map(({ label }) => (typeof label === 'string' ? label : label.label));
    assert.ok(labels.includes('mistral') && labels.includes('anthropic'), labels.slice(0, 20).join());
  });

  it('svc.jsonc: hovers show limits and price, the effective value and the provider address, never the key', async () => {
    const hovers = async (position: vscode.Position) => {
      const found = await vscode.commands.executeCommand<vscode.Hover[]>('vscode.executeHoverProvider', uri, position);
      return found
        .flatMap(({ contents }) => contents.map((each) => (typeof each === 'string' ? each : each.value)))
        .join('\n');
    };
    assert.match(await hovers(at('"coder"')), /32,000 tokens/);
    assert.match(await hovers(at('"baseURL"')), /Effective value:[\s\S]*127\.0\.0\.1:9\/v1.*\(line 6\)/);
    assert.match(await hovers(at('"limit"')), /context: `32000` \(line 8\)\n- output: `4000` \(line 8\)/);
    assert.doesNotMatch(await hovers(at('"apiKey"')), /SECRET_KEY/);
    const provider = await hovers(at('"local"'));
    assert.match(provider, /127\.0\.0\.1:9/);
    assert.doesNotMatch(provider, /SECRET_KEY/);
  });

  it('svc.jsonc: a code lens above each provider tests the connection', async () => {
    const lenses = await vscode.commands.executeCommand<vscode.CodeLens[]>('vscode.executeCodeLensProvider', uri, 10);
    assert.ok(lenses.some(({ command }) => command?.command === 'svc.provider.test'));
  });

  it('svc.jsonc: a change is applied immediately and removes its warning', async () => {
    await writeFile('svc.jsonc', CONTENT.replace('tool_cal"', 'tool_call"'));
    await until(
      vscode.languages.onDidChangeDiagnostics,
      () => !diagnostics().some(({ message }) => message.includes('tool_cal')),
    );
  });

  it('svc.jsonc: an unknown provider is marked, and a quick fix corrects it', async () => {
    const content = CONTENT.replace('"local": {', '"mistrl": { "name": "M" },\n    "local": {');
    await writeFile('svc.jsonc', content);
    await until(vscode.workspace.onDidChangeTextDocument, () => document.getText() === content);
    const unknown = await until(vscode.languages.onDidChangeDiagnostics, () =>
      diagnostics().find(({ message }) => message.includes('mistrl')),
    );
    assert.equal(document.getText(unknown.range), '"mistrl"');
    const [fix] = await codeActions(uri, unknown.range, ({ title }) => title.includes('mistral'));
    assert.equal(fix?.edit?.entries()[0]?.[1][0]?.newText, '"mistral"');
  });

  it('svc.jsonc: other diagnostics remain while the file has a syntax error, which has a position', async () => {
    await writeFile('svc.jsonc', CONTENT.replace('"name": "Local",', '"name": "Local" "x"'));
    // VS Code's own JSON support reports the syntax of open documents.
    const broken = await until(vscode.languages.onDidChangeDiagnostics, () =>
      vscode.languages
        .getDiagnostics(uri)
        .find(({ message, severity }) => severity === vscode.DiagnosticSeverity.Error && /comma/i.test(message)),
    );
    assert.equal(broken.range.start.line, 4);
    assert.ok(diagnostics().length > 0);
  });

  it('svc.jsonc: reports each problem once and allows trailing commas', async () => {
    const content = `{
  "modle": "a/b",
  "provider": { "x": { "options": { "baseURL": 7 }, "bogus": 1, } },
  "provider": {},
  "model": 5,
}
`;
    await writeFile('svc.jsonc', content);
    await until(vscode.workspace.onDidChangeTextDocument, () => document.getText() === content);
    const all = () => vscode.languages.getDiagnostics(uri);
    const places = () => all().map(({ range: { start } }) => `${start.line}:${start.character}`);
    // The last problem of each of the two reporters.
    await until(
      vscode.languages.onDidChangeDiagnostics,
      () => all().some(({ message }) => /duplicate/i.test(message)) && places().includes('4:11'),
    );
    assert.deepEqual(
      all()
        .filter(({ message }) => /trailing/i.test(message))
        .map(({ message }) => message),
      [],
    );
    // JSON support marks both keys of a pair.
    assert.deepEqual([...new Set(places())].sort(), places().sort());
  });
});
