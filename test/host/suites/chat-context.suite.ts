import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import * as vscode from 'vscode';
import { Attach } from '../../../src/extension/chat/attachments/attach.ts';
import { Mentions } from '../../../src/extension/chat/attachments/mentions.ts';
import { ConversationContext } from '../../../src/extension/chat/context/conversation-context.ts';
import { instructionFiles } from '../../../src/extension/chat/context/instruction-files.ts';
import { fillPrompt, promptFiles } from '../../../src/extension/chat/context/prompt-files.ts';
import { existingPaths, openPath } from '../../../src/extension/chat/links.ts';
import { ExcludedFiles } from '../../../src/extension/completion/excluded-files.ts';
import { createMemento } from './memento.ts';
import { workspaceFolder } from './until.ts';

const FILES = {
  'AGENTS.md': 'Root rules.',
  'CLAUDE.md': 'Root rules.',
  '.github/copilot-instructions.md': 'Copilot rules.',
  '.github/instructions/ts.instructions.md': '---\napplyTo: "packages/**/*.{ts,tsx}"\n---\nTypeScript rules.',
  '.github/instructions/py.instructions.md': '---\napplyTo: "**/*.py"\n---\nPython rules.',
  '.github/instructions/manual.instructions.md': 'Only by hand.',
  '.svc/instructions/team.md': 'Team rules.',
  '.github/prompts/review.prompt.md':
    '---\ndescription: Reviews a file\ntools: [search]\n---\nReview ${file}: ${selection}',
  'packages/app/AGENTS.md': 'App rules.',
  'packages/app/src/main.ts': 'const first = 1;\nconst second = 2;\nconst third = 3;\n',
  'packages/app/prod.env': 'TOKEN=1\n',
  'packages/lib/src/only-here.ts': 'export {};\n',
  'packages/lib/.gitignore': 'built/\n*.log\n*.key\n!kept.log\n',
  'packages/lib/built/mention-me.js': '1;\n',
  'packages/lib/mention-me.log': 'line\n',
  'packages/lib/kept.log': 'line\n',
  'packages/lib/mention-me.ts': 'export {};\n',
  'packages/lib/node_modules/mention-me/index.js': '1;\n',
  'packages/mention-me.pem': 'key\n',
  'packages/lib/mention-me.key': 'key\n',
} as const;

describe('what is sent with each message', () => {
  const root = () => workspaceFolder().fsPath;
  let secret: string;
  let excluded: ExcludedFiles;
  before(() => {
    secret = mkdtempSync(join(tmpdir(), 'svc-private-'));
    writeFileSync(join(secret, 'private.md'), 'private text');
    for (const [path, text] of Object.entries(FILES)) {
      mkdirSync(dirname(join(root(), path)), { recursive: true });
      writeFileSync(join(root(), path), text);
    }
    symlinkSync(join(secret, 'private.md'), join(root(), '.svc/instructions/link.md'));
    symlinkSync(join(secret, 'private.md'), join(root(), 'packages/mention-me-outside.md'));
    symlinkSync('lib/mention-me.ts', join(root(), 'packages/mention-me-inside.ts'));
    excluded = new ExcludedFiles(() => [], new vscode.EventEmitter<void>().event);
  });
  after(async () => {
    excluded.dispose();
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    for (const path of ['AGENTS.md', 'CLAUDE.md', '.github', '.svc', 'packages', secret])
      rmSync(join(path === secret ? '' : root(), path), { recursive: true, force: true });
  });

  const open = async (path: string) =>
    vscode.window.showTextDocument(vscode.Uri.joinPath(workspaceFolder(), path), { preview: false });
  let id = 0;
  const newId = () => String(++id);

  it('instructions: those of the root, the nearest ones and those for the file’s path, each text once, never a link', async () => {
    const { document } = await open('packages/app/src/main.ts');
    const found = await instructionFiles([document.uri]);
    assert.deepEqual(
      found.map(({ path, text }) => [path, text]),
      [
        ['AGENTS.md', 'Root rules.'],
        ['.github/copilot-instructions.md', 'Copilot rules.'],
        ['.github/instructions/ts.instructions.md', 'TypeScript rules.'],
        ['.svc/instructions/team.md', 'Team rules.'],
        ['packages/app/AGENTS.md', 'App rules.'],
      ],
    );
    assert.ok(found.every(({ tokens }) => tokens > 0));
  });

  it('instructions: of files that the conversation names and no editor shows, with patterns of each form', async () => {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    const folder = vscode.Uri.joinPath(workspaceFolder(), '.github', 'instructions');
    const context = new ConversationContext({ memory: createMemento(), newId, hasTools: () => true });
    assert.doesNotMatch(await context.instructions([]), /App rules/);
    assert.match(await context.instructions(['packages/app/src/main.ts', '../outside.ts']), /App rules\./);
    for (const [pattern, path, holds] of [
      ['**', '', true],
      ['*', '', true],
      ['*.ts', 'packages/app/src/main.ts', true],
      ['*.ts', 'packages/app/prod.env', false],
      ['src/**/*.{ts,tsx}', 'packages/app/src/main.ts', true],
      ['/src/**', 'packages/app/src/main.ts', false],
      ['/packages/**', 'packages/app/src/main.ts', true],
      ['"**/*.py, app/src/*.ts"', 'packages/app/src/main.ts', true],
      ['\n  - "**/*.py"\n  - packages/lib/**', 'packages/lib/src/only-here.ts', true],
      ['["**/*.py"]', 'packages/lib/src/only-here.ts', false],
    ] as const) {
      writeFileSync(join(folder.fsPath, 'form.instructions.md'), `---\napplyTo: ${pattern}\n---\nForm rules.`);
      const text = await context.instructions(path === '' ? [] : [path]);
      assert.equal(text.includes('Form rules.'), holds, `${pattern} for ${path}`);
    }
    context.dispose();
  });

  it('prompts: ${selection} is the text of no file with secrets, whatever its scheme', async () => {
    const write = async (uri: vscode.Uri) => {
      const document = await vscode.workspace.openTextDocument(uri);
      const editor = await vscode.window.showTextDocument(document, { preview: false });
      if (document.isUntitled) await editor.edit((edit) => edit.insert(new vscode.Position(0, 0), 'TOKEN=canary\n'));
      editor.selection = new vscode.Selection(0, 0, 0, 12);
      const filled = await fillPrompt('review');
      await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
      return typeof filled === 'object' ? filled.prompt : filled;
    };
    const untitled = (path: string) => vscode.Uri.from({ scheme: 'untitled', path: join(root(), path) });
    assert.doesNotMatch((await write(untitled('.env'))) ?? '', /canary/);
    assert.doesNotMatch((await write(untitled('deep/id_rsa'))) ?? '', /canary/);
    assert.match((await write(untitled('notes.txt'))) ?? '', /canary/);
  });

  it('context: chips show the open file, its selection and the instructions, and each can be switched off', async () => {
    const context = new ConversationContext({ memory: createMemento(), newId, hasTools: () => true });
    const labels = () => context.chips.map(({ label, on }) => `${label}${on ? '' : ' off'}`);
    const until = async (wanted: string) => {
      while (!labels().includes(wanted)) {
        await new Promise<void>((resolve) => {
          const heard = context.onDidChange(() => {
            heard.dispose();
            resolve();
          });
        });
      }
    };
    const editor = await open('packages/app/src/main.ts');
    editor.selection = new vscode.Selection(1, 0, 1, 0);
    await until('main.ts');
    await until('AGENTS.md');
    const [place] = await context.attachments();
    assert.deepEqual([place?.kind, place?.text], ['editor', 'The cursor is in line 2 of 4.']);
    editor.selection = new vscode.Selection(0, 0, 1, 5);
    await until('main.ts:1-2');
    assert.equal((await context.attachments())[0]?.text, 'const first = 1;\nconst');
    // A whole line: no character of the second one is selected.
    editor.selection = new vscode.Selection(0, 0, 1, 0);
    await until('main.ts:1-1');
    editor.selection = new vscode.Selection(0, 0, 1, 5);
    await until('main.ts:1-2');
    assert.match(await context.instructions([]), /Instructions of the user from AGENTS\.md:\nRoot rules\./);
    await context.handle({ type: 'toggle-context', chip: 'AGENTS.md' });
    await context.handle({ type: 'toggle-context', chip: 'editor' });
    assert.ok(labels().includes('AGENTS.md off') && labels().includes('main.ts:1-2 off'), labels().join());
    assert.doesNotMatch(await context.instructions([]), /Root rules/);
    assert.deepEqual(await context.attachments(), []);
    await context.handle({ type: 'toggle-context', chip: 'AGENTS.md' });
    assert.match(await context.instructions([]), /Root rules/);
    context.dispose();
  });

  it('context: a file that may contain secrets is never sent by itself', async () => {
    await open('packages/app/prod.env');
    const context = new ConversationContext({ memory: createMemento(), newId, hasTools: () => false });
    assert.deepEqual(await context.attachments(), []);
    context.dispose();
  });

  it('prompt files: are listed with their description, and their variables are filled in', async () => {
    const editor = await open('packages/app/src/main.ts');
    editor.selection = new vscode.Selection(0, 0, 0, 5);
    assert.deepEqual(
      (await promptFiles()).map(({ name, description }) => [name, description]),
      [['review', 'Reviews a file']],
    );
    assert.deepEqual(await fillPrompt('review'), {
      prompt: 'Review packages/app/src/main.ts: const',
      options: { tools: ['search'] },
    });
    assert.equal(await fillPrompt('nothing'), undefined);
  });

  it('mentions: names in the message are attached, also one whose list had not arrived', async () => {
    const complete = new Mentions(new Attach(newId), excluded);
    const { text, attachments } = await complete.mentioned('compare @packages/app/src/main.ts, with @only-h', {
      from: 40,
      text: 'only-h',
    });
    assert.equal(text, 'compare @packages/app/src/main.ts, with @only-here.ts');
    assert.deepEqual(attachments.map(({ label }) => label).sort(), ['main.ts', 'only-here.ts']);
    assert.deepEqual((await complete.mentioned('ask @someone about it', undefined)).attachments, []);
    complete.dispose();
  });

  it('mentions: recently shown files are offered first', async () => {
    const complete = new Mentions(new Attach(newId), excluded);
    await open('packages/lib/src/only-here.ts');
    await vscode.commands.executeCommand('workbench.action.closeActiveEditor');
    let labels: readonly string[] = [];
    await complete.items('@', '', (items) => {
      labels = items.map(({ label }) => label);
    });
    assert.ok(labels.includes('only-here.ts'), labels.join());
    complete.dispose();
  });

  it('mentions: nothing that is ignored, in node_modules or behind a link that leads out is offered', async () => {
    const mentions = new Mentions(new Attach(newId), excluded);
    const offered = async (text: string) => {
      let details: readonly (string | undefined)[] = [];
      await mentions.items('@', text, (items) => {
        details = items.map(({ detail }) => detail);
      });
      return [...details].sort();
    };
    assert.deepEqual(await offered('mention-me'), [
      'packages/lib/mention-me.ts',
      'packages/mention-me-inside.ts',
      'packages/mention-me.pem',
    ]);
    assert.deepEqual(await offered('kept.l'), ['packages/lib/kept.log']);
    assert.deepEqual(await offered('built'), []);
    mentions.dispose();
  });

  it('paths of answers: files are found by their path or their end, and open at the line', async () => {
    const texts = [
      'packages/app/src/main.ts:2',
      'src/only-here.ts',
      'main.ts#L3',
      '../outside.ts',
      'no/such.ts',
      '/etc/hosts',
    ];
    assert.deepEqual(await existingPaths(texts), ['packages/app/src/main.ts:2', 'src/only-here.ts', 'main.ts#L3']);
    await openPath('main.ts:2:7');
    const editor = vscode.window.activeTextEditor;
    assert.equal(editor?.document.uri.path.endsWith('packages/app/src/main.ts'), true);
    assert.deepEqual([editor?.selection.active.line, editor?.selection.active.character], [1, 6]);
  });
});
