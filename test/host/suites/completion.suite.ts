import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { InlineRefresh, type Provide } from '../../../src/extension/completion/inline-refresh.ts';
import { documentView } from '../../../src/extension/document-view.ts';
import { type CompletionProvider, edit, startCompletionProvider, take, takeSome } from './completion-provider.ts';
import { until, writeFile } from './until.ts';

const run = vscode.commands.executeCommand;

/** Completions in every kind of document that VS Code has. */
describe('completions in VS Code', () => {
  let provider: CompletionProvider;
  let config: vscode.Uri;

  before(async () => {
    provider = await startCompletionProvider();
    config = await writeFile('svc.jsonc', provider.config());
  });
  after(() => end(provider, config));
  afterEach(async () => {
    provider.answer = 'answer();';
    await run('workbench.action.revertAndCloseActiveEditor');
  });

  const prompts = () => provider.prompts();
  /** Accepts automatic suggestions until the document has this text. */
  const accepted = async (document: vscode.TextDocument, text: string) => {
    while (document.getText() !== text) {
      await run('editor.action.inlineSuggest.commit');
      assert.ok(text.startsWith(document.getText()), document.getText());
    }
  };

  it('completions: accepting one requests the next immediately', async () => {
    const kinds = new Map<number, vscode.InlineCompletionTriggerKind>();
    const recorder = vscode.languages.registerInlineCompletionItemProvider(
      { pattern: '**' },
      {
        provideInlineCompletionItems: ({ version }, _position, { triggerKind }) => {
          if (!kinds.has(version)) kinds.set(version, triggerKind);
          return undefined;
        },
      },
    );
    // Not an untitled document: the next one may get its name and text while it is being closed.
    const { document } = await edit('', { uri: await writeFile('next.ts', 'const a =') });
    await run('type', { text: ' ' });
    await accepted(document, 'const a = answer();');
    const { version } = document;
    await accepted(document, 'const a = answer();answer();');
    assert.equal(kinds.get(version), vscode.InlineCompletionTriggerKind.Invoke);
    recorder.dispose();
  });

  it('completions: none after an undo, also if the file is as it was saved then', async () => {
    const { document } = await edit('', { uri: await writeFile('undone.ts', 'const undone =') });
    await run('type', { text: ' ' });
    await accepted(document, 'const undone = answer();');
    await run('undo');
    await run('undo');
    await until(vscode.workspace.onDidChangeTextDocument, () => !document.isDirty);
    await run('editor.action.inlineSuggest.trigger', { explicit: false });
    assert.deepEqual(
      prompts().filter((prompt) => prompt.endsWith('const undone =')),
      [],
    );
  });

  it('completions: work in an untitled document', async () => {
    const { document } = await edit('const a = ');
    await takeSome(document);
    assert.equal(document.getText(), 'const a = answer();');
  });

  it('completions: work in the modified side of a comparison', async () => {
    const left = await writeFile('left.ts', 'const a = 1;\n');
    const right = await writeFile('right.ts', 'const a = ');
    await run('vscode.diff', left, right, 'Comparison');
    const editor = await until(vscode.window.onDidChangeActiveTextEditor, () => {
      const active = vscode.window.activeTextEditor;
      return active?.document.uri.path === right.path && active;
    });
    const end = editor.document.lineAt(0).range.end;
    editor.selection = new vscode.Selection(end, end);
    await takeSome(editor.document);
    assert.equal(editor.document.getText(), 'const a = answer();');
  });

  // Go, because nothing else in the host reads it: the editor's own TypeScript takes seconds for so much.
  it('completions: work in a file of 50,000 lines', async () => {
    const lines = Array.from({ length: 50_000 }, (_, line) => `var value${line} = ${line}`);
    const uri = await writeFile('large.go', `${lines.join('\n')}\nvar last = `);
    const { document } = await edit('', { uri });
    await takeSome(document);
    assert.equal(document.lineAt(50_000).text, 'var last = answer();');
    assert.ok((prompts().at(-1)?.length ?? 0) < 14_000);
  });

  it('completions: work in a line of 100,000 characters', async () => {
    const { document } = await edit(`var wide = "${'x y '.repeat(25_000)}" + `, { language: 'go' });
    await takeSome(document);
    assert.ok(document.getText().endsWith('" + answer();'), document.getText().slice(-40));
    assert.ok((prompts().at(-1)?.length ?? 0) < 14_000);
  });

  it('completions: work in a notebook, with the cells before directly before the text, and no files of other languages', async () => {
    await edit('', { uri: await writeFile('tiny.html', '<p>print(threshold_of_alarm)</p>\n') });
    await edit('', { uri: await writeFile('tiny.sql', 'select threshold_of_alarm\n') });
    const cell = (source: string, cell_type = 'code', languageId = 'python') => {
      const code = cell_type === 'code' ? { outputs: [], execution_count: null } : {};
      return { cell_type, metadata: { vscode: { languageId } }, ...code, source: [source] };
    };
    const metadata = { language_info: { name: 'python' } };
    const texts = [cell('When to *ring*.', 'markdown', 'markdown'), cell('threshold_of_alarm = 42')];
    const cells = [...texts, cell('select 1', 'code', 'sql'), cell('print('), cell('after = 1')];
    const uri = await writeFile('book.ipynb', JSON.stringify({ cells, metadata, nbformat: 4, nbformat_minor: 5 }));
    const book = await vscode.workspace.openNotebookDocument(uri);
    const editor = await vscode.window.showNotebookDocument(book);
    editor.selection = new vscode.NotebookRange(3, 4);
    await run('notebook.cell.edit');
    const document = book.cellAt(3).document;
    const inCell = await until(vscode.window.onDidChangeActiveTextEditor, () => {
      const active = vscode.window.activeTextEditor;
      return active?.document === document && active;
    });
    inCell.selection = new vscode.Selection(0, 6, 0, 6);
    provider.answer = 'threshold_of_alarm)';
    await takeSome(document);
    assert.equal(document.getText(), 'print(threshold_of_alarm)');
    const prompt = prompts().at(-1) ?? '';
    const before = '# markdown\n# When to *ring*.\n\nthreshold_of_alarm = 42\n\n# sql\n# select 1\n\nprint(';
    assert.equal(prompt.slice(prompt.lastIndexOf('book.ipynb')), `book.ipynb\n${before}`);
    assert.doesNotMatch(prompt, /tiny/);
  });

  it('completions: none for a file outside the workspace or a read-only file', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-outside-'));
    writeFileSync(join(folder, 'outside.ts'), 'const outside = ');
    const before = prompts().length;
    const { document } = await edit('', { uri: vscode.Uri.file(join(folder, 'outside.ts')) });
    await take();
    assert.equal(document.getText(), 'const outside = ');
    assert.equal(prompts().length, before);
    rmSync(folder, { recursive: true });
  });
});

describe('the settings and commands of completions', () => {
  it('completion commands: disable and enable completions, also for the language of the editor', async () => {
    const settings = () => vscode.workspace.getConfiguration('svc.completion');
    await run('svc.completion.toggle');
    assert.equal(settings().get('enabled'), false);
    await run('svc.completion.toggle');
    assert.equal(settings().get('enabled'), true);
    const document = await vscode.workspace.openTextDocument({ content: 'text', language: 'markdown' });
    await vscode.window.showTextDocument(document);
    await run('svc.completion.toggleLanguage');
    assert.deepEqual(settings().get('languages'), { markdown: true });
    await run('svc.completion.toggleLanguage');
    assert.deepEqual(settings().get('languages'), { markdown: false });
    await settings().update('languages', undefined, vscode.ConfigurationTarget.Global);
    await settings().update('enabled', undefined, vscode.ConfigurationTarget.Global);
    await run('workbench.action.revertAndCloseActiveEditor');
  });

  it('completion commands: open the last request exactly as it was sent', async () => {
    await run('svc.completion.showLastRequest');
    const document = vscode.window.activeTextEditor?.document;
    const text = document?.getText() ?? '';
    assert.match(text, /^\S+ Model: suite\/coder\n\S+ Sent: /);
    assert.match(text, /threshold_of_alarm = 42/);
    assert.equal(document?.languageId, 'python');
    // Typing into it changes nothing, so it never asks to be saved.
    await run('type', { text: 'x' });
    assert.deepEqual([document?.getText(), document?.isDirty], [text, false]);
    await run('workbench.action.closeActiveEditor');
  });

  it('completion commands: each has a title and a description in the manifest', () => {
    const { contributes } = vscode.extensions.getExtension('svc.svc')?.packageJSON ?? {};
    const commands: string[] = contributes.commands.map(({ command }: { command: string }) => command);
    const wanted = ['trigger', 'next', 'previous', 'accept', 'acceptWord', 'acceptLine', 'dismiss', 'snooze', 'wake'];
    wanted.push('toggle', 'toggleLanguage', 'showLastRequest', 'showCost', 'menu', 'pickModel');
    assert.deepEqual(
      wanted.filter((name) => !commands.includes(`svc.completion.${name}`)),
      [],
    );
  });
});

describe('views of documents', () => {
  it('document view: lines beyond the end of a text that became shorter are empty', async () => {
    const document = await vscode.workspace.openTextDocument({ content: 'one\ntwo\nthree' });
    const view = documentView(document);
    const change = new vscode.WorkspaceEdit();
    change.delete(document.uri, new vscode.Range(0, 3, 2, 5));
    assert.equal(await vscode.workspace.applyEdit(change), true);
    assert.deepEqual([view.lineCount, document.lineCount], [3, 1]);
    assert.deepEqual([0, 1, 2].map(view.lineAt), ['one', '', '']);
  });
});

describe('requests of VS Code that the extension makes', () => {
  // Alt+] makes VS Code request for the user. That was taken for a request of the extension, so the key had no effect.
  it('completions: a request by the user is one also while the extension makes VS Code request again', async () => {
    const { document } = await edit('const beside = ');
    const triggers: string[] = [];
    const answered = Promise.withResolvers<void>();
    let byUser: Thenable<unknown> | undefined;
    const provide: Provide = async (asked, _position, _context, _token, trigger) => {
      if (asked !== document) return [];
      triggers.push(trigger);
      if (byUser === undefined) {
        byUser = run('editor.action.inlineSuggest.trigger', { explicit: true });
        await answered.promise;
      } else answered.resolve();
      return [];
    };
    const refresh = new InlineRefresh('svc.svc', provide);
    try {
      await refresh.again('automatic');
      await byUser;
      assert.deepEqual(triggers, ['automatic', 'invoke']);
    } finally {
      refresh.dispose();
      await run('workbench.action.revertAndCloseActiveEditor');
    }
  });

  // A suggestion that grows made VS Code request again, which cancelled the request of Alt+].
  it('completions: a request of the extension waits until one by the user has its answer', async () => {
    const { document } = await edit('const beside = ');
    const seen: string[] = [];
    const begun = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<void>();
    const provide: Provide = async (asked, _position, _context, token, trigger) => {
      if (asked !== document) return [];
      seen.push(trigger);
      if (trigger !== 'invoke') return [];
      begun.resolve();
      await answer.promise;
      seen.push(token.isCancellationRequested ? 'cancelled' : 'answered');
      return [];
    };
    const refresh = new InlineRefresh('svc.svc', provide);
    try {
      const byUser = run('editor.action.inlineSuggest.trigger', { explicit: true });
      await begun.promise;
      const refreshed = refresh.again('grown');
      // VS Code would cancel the request by the user in the meantime.
      for (let trips = 0; trips < 50; trips++) await vscode.commands.getCommands();
      answer.resolve();
      await Promise.all([byUser, refreshed]);
      assert.deepEqual(seen, ['invoke', 'answered', 'grown']);
    } finally {
      refresh.dispose();
      await run('workbench.action.revertAndCloseActiveEditor');
    }
  });
});

describe('a model that becomes available', () => {
  it('completions: start automatically when a model becomes available', async () => {
    const provider = await startCompletionProvider();
    await edit('', { uri: await writeFile('early.ts', 'const early =') });
    await run('type', { text: ' ' });
    const config = await writeFile('svc.jsonc', provider.config());
    try {
      // The server is also asked for the window of its models.
      for (let at = 0; provider.prompts().length === 0; at++) await provider.upstream.request(at);
      assert.match(provider.prompts()[0] ?? '', /const early = $/);
    } finally {
      await run('workbench.action.revertAndCloseActiveEditor');
      await end(provider, config);
    }
  });
});

async function end({ upstream }: CompletionProvider, config: vscode.Uri): Promise<void> {
  await run('workbench.action.closeAllEditors');
  await vscode.workspace.fs.delete(config);
  await upstream.close();
}
