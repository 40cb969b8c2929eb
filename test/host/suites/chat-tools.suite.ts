import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { toolTokens } from '../../../src/chat/tools/tool-choice.ts';
import type { ChatTool, ToolInput, ToolOutcome } from '../../../src/chat/tools/tools.ts';
import { gitDiff } from '../../../src/extension/chat/attachments/git.ts';
import { terminalText } from '../../../src/extension/chat/attachments/terminal-text.ts';
import { Proposals } from '../../../src/extension/chat/editing/proposals.ts';
import { CommandTerminals } from '../../../src/extension/chat/tools/command-terminals.ts';
import { changingTools, harmlessTools } from '../../../src/extension/chat/tools/own-tools.ts';
import { chosenTools } from '../../../src/extension/chat/tools/tool-picker.ts';
import { waitUntil } from '../wait-until.ts';
import { workspaceFolder } from './until.ts';

/** The chat's own tools on files with links and in a shell, as a model calls them. */
describe('chat tools in a workspace with links', () => {
  let root: string;
  let outside: string;
  let tools: readonly ChatTool[];
  const proposals = new Proposals();
  const terminals = new CommandTerminals();

  before(() => {
    root = join(workspaceFolder().fsPath, 'linked');
    outside = realpathSync(mkdtempSync(join(tmpdir(), 'svc-outside-')));
    mkdirSync(join(root, 'src'), { recursive: true });
    writeFileSync(join(outside, 'notes.txt'), 'needle outside\n');
    writeFileSync(join(outside, 'other.txt'), 'needle outside\n');
    writeFileSync(join(root, 'src/a.ts'), 'needle inside\n');
    writeFileSync(join(root, 'prod.env'), 'TOKEN=needle-secret\n');
    symlinkSync(outside, join(root, 'out'));
    symlinkSync(join(outside, 'notes.txt'), join(root, 'out.txt'));
    symlinkSync(join(outside, 'made.txt'), join(root, 'dangling.txt'));
    symlinkSync('prod.env', join(root, 'plain.txt'));
    symlinkSync('src/a.ts', join(root, 'same.ts'));
    symlinkSync('../.vscode', join(root, 'settings'));
    tools = [...harmlessTools(), ...changingTools({ proposals, terminals, fetched: () => undefined })];
  });
  after(() => {
    proposals.dispose();
    terminals.dispose();
    rmSync(root, { recursive: true, force: true });
    rmSync(outside, { recursive: true, force: true });
  });

  const tool = (name: string): ChatTool => {
    const found = tools.find((each) => each.name === name);
    assert.ok(found);
    return found;
  };
  const run = async (name: string, input: ToolInput, signal = new AbortController().signal): Promise<ToolOutcome> =>
    (await tool(name).prepare(input)).run({ signal, message: 'm', call: 'c', owner: {} });
  const asks = async (name: string, input: ToolInput) => {
    const { confirmation } = await tool(name).prepare(input);
    return typeof confirmation === 'boolean' ? confirmation : confirmation.kind;
  };

  for (const path of ['linked/out.txt', 'linked/out/notes.txt', 'linked/src/../out/notes.txt', 'linked\\out.txt']) {
    it(`chat tools: read no file outside the workspace: ${path}`, async () => {
      await assert.rejects(asks('read_file', { path }), /not inside the workspace/);
      await assert.rejects(run('read_file', { path }), /not inside the workspace/);
    });
  }

  it('chat tools: a file with secrets needs approval for each spelling of its path, and no other does', async () => {
    for (const path of ['prod.env', './prod.env', 'src/../prod.env', 'prod.env/.', 'plain.txt', 'src\\..\\plain.txt']) {
      assert.equal(await asks('read_file', { path: `linked/${path}` }), 'secret', path);
    }
    assert.equal(await asks('read_file', { path: 'linked/same.ts' }), false);
    assert.equal((await run('read_file', { path: 'linked/same.ts' })).output, 'needle inside\n');
  });

  it('chat tools: search and listing follow no link that leaves the workspace or leads to a secret', async () => {
    const found = (await run('search_text', { query: 'needle' })).output;
    assert.match(found, /linked\/src\/a\.ts:1: needle inside/);
    assert.doesNotMatch(found, /outside|secret/);
    const listed = (await run('list_files', { pattern: 'linked/**' })).output.split('\n');
    assert.ok(listed.includes('linked/src/a.ts') && listed.includes('linked/prod.env'), listed.join());
    assert.deepEqual(
      listed.filter((path) => /linked\/(?:out|dangling|plain)/.test(path)),
      [],
    );
  });

  it('chat tools: write no file outside the workspace, nor through a link without a target', async () => {
    for (const path of ['linked/dangling.txt', 'linked/out/made.txt', '../made.txt']) {
      const input = { path, old_text: '', new_text: 'x' };
      await assert.rejects(asks('edit_file', input), /not inside the workspace/);
      await assert.rejects(run('edit_file', input), /not inside the workspace/);
    }
    await assert.rejects(run('edit_file', { path: 'linked/out.txt', old_text: 'needle', new_text: 'x' }));
    assert.equal(existsSync(join(outside, 'made.txt')), false);
    assert.equal(readFileSync(join(outside, 'notes.txt'), 'utf8'), 'needle outside\n');
  });

  it('chat tools: a write to a file that makes programs run needs approval each time, for the real file', async () => {
    const edit = (path: string) => asks('edit_file', { path, old_text: '', new_text: 'x' });
    assert.equal(await edit('linked/src/b.ts'), true);
    assert.equal(await edit('.VSCode/tasks.json'), 'editor');
    assert.equal(await edit('linked/settings/tasks.json'), 'editor');
    assert.equal(await edit('.git/hooks/pre-commit'), 'git');
    assert.equal(await edit('linked/package.json'), 'package');
  });

  it('chat tools: an approved command runs unchanged in a visible terminal', async () => {
    const { output } = await run('run_in_terminal', { command: "printf '[%s]' 'a\tb' '!!'; echo; pwd; exit 4" });
    assert.equal(output, `[a\tb][!!]\n${realpathSync(workspaceFolder().fsPath)}\n[exit code 4]`);
    const shown = vscode.window.terminals.filter(({ name }) => name === 'Svc');
    assert.equal(shown.length, 1);
    assert.match(await terminalText(), /\[a\tb\]\[!!\]/);
  });

  it('chat tools: a command with control characters does not run', async () => {
    for (const command of ['echo a\u0015touch x', 'echo a\rtouch x', '\u0001touch x', 'a\u001b[2J', '']) {
      await assert.rejects(asks('run_in_terminal', { command }), /control character|empty/);
      await assert.rejects(run('run_in_terminal', { command }), /control character|empty/);
    }
  });

  it('chat tools: stop ends a command, and a long output keeps its end', async () => {
    const stop = new AbortController();
    const running = run('run_in_terminal', { command: 'touch started; sleep 1000' }, stop.signal);
    await waitUntil(
      'the command has started',
      () => existsSync(join(workspaceFolder().fsPath, 'started')),
      (exists) => exists,
    );
    stop.abort();
    assert.match((await running).output, /\[stopped\]$/);
    const long = await run('run_in_terminal', { command: 'seq 1 30000; rm started' });
    assert.match(long.output, /^1\n2\n[\d\n]+\n\[… [\d,]+ characters left out …\]\n[\d\n]+\n30000\n\[exit code 0\]$/);
  });

  it('chat tools: the tools that are offered without other extensions cost at most 3,000 tokens', () => {
    const offered = chosenTools({ proposals, terminals, fetched: () => undefined });
    const sizes = offered.map((tool) => `${tool.name} ${toolTokens(tool)}`).join('\n');
    const total = offered.reduce((sum, tool) => sum + toolTokens(tool), 0);
    assert.ok(offered.length >= 18 && total <= 3000, `${total}\n${sizes}`);
    assert.deepEqual(
      offered.filter(({ origin }) => origin !== 'Svc').map(({ name }) => name),
      ['terminal_selection', 'terminal_last_command', 'testFailure'],
    );
  });

  it('chat tools: a diff contains no file with secrets', async () => {
    const folder = join(outside, 'repository');
    mkdirSync(folder);
    const git = (...args: string[]) => execFileSync('git', ['-C', folder, ...args]);
    git('init', '-q');
    writeFileSync(join(folder, 'a.ts'), 'one\n');
    writeFileSync(join(folder, 'prod.env'), 'TOKEN=needle-secret\n');
    git('add', '.');
    const diff = await gitDiff('commit', vscode.Uri.file(folder));
    assert.match(diff, /\+one/);
    assert.doesNotMatch(diff, /needle-secret/);
    git('reset', '-q', '--', 'a.ts');
    // New files are part of it, too.
    const unstaged = await gitDiff('commit', vscode.Uri.file(folder));
    assert.match(unstaged, /\+\+\+ b\/a\.ts\n@@ -0,0 \+1,1 @@\n\+one\n/);
    assert.doesNotMatch(unstaged, /needle-secret/);
  });
});
