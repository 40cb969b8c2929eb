import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { waitUntil } from '../wait-until.ts';
import {
  type CompletionProvider,
  edit,
  startCompletionProvider,
  take,
  takeSome,
  untilAvailable,
} from './completion-provider.ts';
import { writeFile } from './until.ts';

const run = vscode.commands.executeCommand;
/** Context is gathered when the cursor has not moved for 150 ms, and a fix that comes after 300 ms is left out. */
const CURSOR_RESTS_MS = 500;
/** A language that nothing else in the host has a server for. */
const language = 'go';

/** Each setting by what it changes in the requests that arrive. */
describe('settings of completions', () => {
  let provider: CompletionProvider;
  const written: vscode.Uri[] = [];
  const changed = new Set<string>();

  async function file(name: string, content: string): Promise<vscode.Uri> {
    const uri = await writeFile(name, content);
    written.push(uri);
    return uri;
  }

  /** A new file: an untitled document may get the name of a previous one that is being closed. */
  async function open(content: string, extension = 'go'): Promise<vscode.TextEditor> {
    return edit('', { uri: await file(`case${written.length}.${extension}`, content) });
  }

  async function set(name: string, value: unknown): Promise<void> {
    changed.add(name);
    await vscode.workspace.getConfiguration('svc').update(name, value, vscode.ConfigurationTarget.Global);
  }

  /** Requests as after a key; resolves when VS Code has the answer, or none. */
  async function ask(): Promise<void> {
    await run('editor.action.inlineSuggest.trigger', { explicit: false });
  }

  async function trigger(): Promise<void> {
    await run('svc.completion.trigger');
  }

  /** Whether an action sends a request. */
  async function sends(action: () => Promise<void>): Promise<boolean> {
    const before = provider.prompts().length;
    await action();
    return provider.prompts().length > before;
  }

  /** Whether an action, or the editor by itself before it, sends a request for the end of a text, which occurs once. */
  async function sendsFor(text: string, action: () => Promise<void>): Promise<boolean> {
    await action();
    return provider.prompts().some((prompt) => prompt.endsWith(text));
  }

  before(async () => {
    provider = await startCompletionProvider();
    await file('svc.jsonc', provider.config());
    await untilAvailable(provider, await file('early.go', 'var early = '));
  });
  after(async () => {
    for (const uri of written) await vscode.workspace.fs.delete(uri);
    await provider.upstream.close();
  });
  afterEach(async () => {
    provider.answer = 'answer();';
    for (const name of changed) await set(name, undefined);
    changed.clear();
    await run('workbench.action.closeAllEditors');
  });

  it('setting trigger: manual or automatic', async () => {
    await set('completion.trigger', 'manual');
    await open('var manual = ');
    assert.equal(await sendsFor('var manual = ', ask), false);
    assert.equal(await sendsFor('var manual = ', take), true);
    await run('workbench.action.revertAndCloseActiveEditor');
    await set('completion.trigger', 'automatic');
    await open('var automatic = ');
    assert.equal(await sendsFor('var automatic = ', ask), true);
    await run('workbench.action.revertAndCloseActiveEditor');
  });

  it('setting languages: enables completions per language', async () => {
    const opened = async (content: string, extension?: string) => {
      await open(content, extension);
      const sent = await sendsFor(content, ask);
      await run('workbench.action.revertAndCloseActiveEditor');
      return sent;
    };
    assert.equal(await opened('# One ', 'md'), false);
    await set('completion.languages', { markdown: true, go: false });
    assert.equal(await opened('# Two ', 'md'), true);
    assert.equal(await opened('var two = '), false);
    await set('completion.languages', { '*': false, go: true });
    assert.equal(await opened('var three = '), true);
    assert.equal(await opened('four = ', 'ini'), false);
  });

  it('setting disabledGlobs: disables completions per file', async () => {
    await set('completion.disabledGlobs', ['off/**', '*.gen.go']);
    for (const [name, expected] of [
      ['off/one.go', false],
      ['two.gen.go', false],
      ['three.go', true],
    ] as const) {
      const text = `var ${name.replaceAll(/\W/g, '')} = `;
      await edit('', { uri: await file(name, text) });
      assert.equal(await sendsFor(text, ask), expected, name);
    }
  });

  it('setting maxLines: limits the requested and the shown lines', async () => {
    provider.answer = 'one()\ntwo()\nthree()\nfour()\n';
    await set('completion.maxLines', 3);
    const { document } = await open('var lines = ');
    await takeSome(document);
    assert.equal(document.getText(), 'var lines = one()\ntwo()\nthree()');
    const three = Number(provider.bodies().at(-1)?.max_tokens);
    await run('workbench.action.revertAndCloseActiveEditor');
    await set('completion.maxLines', 1);
    const one = await open('var line = ');
    await takeSome(one.document);
    assert.equal(one.document.getText(), 'var line = one()');
    assert.ok(Number(provider.bodies().at(-1)?.max_tokens) < three);
    assert.deepEqual(provider.bodies().at(-1)?.stop, ['\n']);
    await run('workbench.action.revertAndCloseActiveEditor');
  });

  it('setting debounceFloor: the minimum delay of a request', async () => {
    await set('completion.debounceFloor', 1000);
    await open('var floor = ');
    let earlier = -1;
    // The subject is a delay. This timer starts before it and is shorter, so it fires first on any machine.
    setTimeout(() => {
      earlier = provider.prompts().length;
    }, 900);
    const before = provider.prompts().length;
    assert.equal(await sends(ask), true);
    assert.equal(earlier, before);
    await run('workbench.action.revertAndCloseActiveEditor');
  });

  /** An editor that was just opened has the focus later, or what closes meanwhile takes it, and nothing is copied then. */
  async function copy(): Promise<void> {
    let copied = false;
    const watch = vscode.languages.registerDocumentPasteEditProvider(
      { language },
      {
        prepareDocumentPaste: () => {
          copied = true;
        },
      },
      { copyMimeTypes: ['text/plain'], providedPasteEditKinds: [] },
    );
    try {
      await waitUntil(
        'a copied text',
        async () => {
          await run('workbench.action.focusActiveEditorGroup');
          await run('editor.action.clipboardCopyAction');
        },
        () => copied,
      );
    } finally {
      watch.dispose();
    }
  }

  it('setting context: selects the context in the prompt', async () => {
    const rest = (word: string) => Array.from({ length: 40 }, (_, at) => `${word}${at}`).join(' ');
    await vscode.workspace.openTextDocument(await file('tab.go', 'tabbed apple banana cherry walnut'));
    const edited = await file('edited.go', rest('plum'));
    await edit('', { uri: edited });
    const change = new vscode.WorkspaceEdit();
    change.insert(edited, new vscode.Position(0, 0), 'edited ');
    await vscode.workspace.applyEdit(change);
    const imported = await file('imported.go', 'func imported(pear int) int {\n\treturn pear\n}\n');
    const definition = vscode.languages.registerDefinitionProvider(
      { language },
      { provideDefinition: () => new vscode.Location(imported, new vscode.Position(0, 5)) },
    );
    await edit('', { uri: await file('visited.go', 'walked path') });
    const lines = Array.from({ length: 60 }, (_, at) => `grape${at}`);
    const copied = await edit('', { uri: await file('copied.go', ['carried', ...lines].join('\n')) });
    copied.selection = new vscode.Selection(0, 0, 0, 7);
    await copy();
    copied.selection = new vscode.Selection(50, 0, 50, 0);
    const places = Array.from({ length: 400 }, (_, at) => `apple banana cherry walnut${at} = `);
    const uri = await file('main.go', ['import fruits from x', ...places].join('\n'));
    const problems = vscode.languages.createDiagnosticCollection('suite');
    const fix = vscode.languages.registerCodeActionsProvider(
      { language },
      {
        provideCodeActions: (_, { start }) => {
          const action = new vscode.CodeAction('Repair it', vscode.CodeActionKind.QuickFix);
          action.edit = new vscode.WorkspaceEdit();
          action.edit.insert(uri, start, 'repaired');
          action.isPreferred = true;
          return [action];
        },
      },
    );
    const names = {
      openTabs: 'tabbed',
      recentEdits: '+edited ',
      imports: 'func imported(',
      visited: 'walked path',
      copied: 'carried\n',
      problems: 'fix: Repair it\nrepaired\n',
    };
    let line = 0;
    const sent = async (): Promise<string[]> => {
      // Another place each time, so that no earlier answer serves it; without an edit, which would be context.
      line += 1;
      assert.ok(line <= places.length, 'too few places');
      const editor = await vscode.window.showTextDocument(uri);
      const { end } = editor.document.lineAt(line).range;
      editor.selection = new vscode.Selection(end, end);
      problems.set(uri, [new vscode.Diagnostic(editor.selection, 'broken')]);
      assert.ok(await sends(trigger));
      const prompt = provider.prompts().at(-1) ?? '';
      return Object.entries(names).flatMap(([kind, text]) => (prompt.includes(`\n${text}`) ? [kind] : []));
    };
    const all = Object.keys(names);
    for (const off of [undefined, ...all]) {
      if (off !== undefined) await set('completion.context', { [off]: false });
      const rest = all.filter((kind) => kind !== off).join();
      const ask = async () => {
        const kinds = await sent();
        assert.ok(off === undefined || !kinds.includes(off), `${off} in ${kinds}`);
        return kinds.join();
      };
      await waitUntil(`a request with ${rest}`, ask, (kinds) => kinds === rest, CURSOR_RESTS_MS);
    }
    for (const each of [definition, fix, problems]) each.dispose();
    await vscode.window.showTextDocument(edited);
    await run('workbench.action.files.revert');
  });

  it('setting context.terminal: the output of a failed command is sent only if it is on', async () => {
    const terminal = vscode.window.createTerminal();
    const ended = new Promise<number | undefined>((resolve) => {
      const ends = vscode.window.onDidEndTerminalShellExecution(({ exitCode }) => {
        ends.dispose();
        resolve(exitCode);
      });
    });
    terminal.show();
    const integration = await new Promise<vscode.TerminalShellIntegration>((resolve) => {
      const starts = vscode.window.onDidChangeTerminalShellIntegration((event) => {
        if (event.terminal !== terminal) return;
        starts.dispose();
        resolve(event.shellIntegration);
      });
    });
    // VS Code reports no output of a command that ends at once.
    integration.executeCommand("sh -c 'sleep 0.5; echo shattered glass; sleep 0.5; exit 3'");
    assert.equal(await ended, 3);
    const editor = await open('begin');
    const sent = async (): Promise<string> => {
      const next = new vscode.WorkspaceEdit();
      const { document } = editor;
      next.insert(document.uri, document.lineAt(document.lineCount - 1).range.end, '\nnext = ');
      await vscode.workspace.applyEdit(next);
      await edit('', { uri: document.uri });
      assert.ok(await sends(trigger));
      return provider.prompts().at(-1) ?? '';
    };
    for (let count = 0; count < 5; count += 1) assert.ok(!(await sent()).includes('shattered'));
    await set('completion.context', { terminal: true });
    while (!(await sent()).includes('\nshattered glass'));
    terminal.dispose();
    await run('workbench.action.files.revert');
  });
});
