import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { judge, NO_RULES } from '../../../src/chat/permissions/permission-rules.ts';
import { callSubjects } from '../../../src/chat/tools/call-subjects.ts';
import type { ToolRun } from '../../../src/chat/tools/tools.ts';
import { CommandTerminals } from '../../../src/extension/chat/tools/command-terminals.ts';
import { readingTools } from '../../../src/extension/chat/tools/reading-tools.ts';
import { StoredRules } from '../../../src/extension/chat/tools/stored-rules.ts';
import { terminalTools } from '../../../src/extension/chat/tools/terminal-tools.ts';
import { createMemento } from './memento.ts';
import { ToolCalls } from './tool-calls.ts';
import { workspaceFolder } from './until.ts';

describe('permissions of chat tools in a workspace', () => {
  const terminals = new CommandTerminals();
  const tools = terminalTools(terminals);
  const calls = new ToolCalls(() => tools);
  const stored = new StoredRules((error) => assert.fail(String(error)), createMemento());
  const settings = () => vscode.workspace.getConfiguration('svc.chat');
  let root: string;

  before(() => {
    root = join(workspaceFolder().fsPath, 'permitted');
    for (const folder of ['src/deep', 'private', 'bare']) mkdirSync(join(root, folder), { recursive: true });
    writeFileSync(join(root, 'a.txt'), 'text\n');
    writeFileSync(join(root, 'private/pay.txt'), 'text\n');
    symlinkSync('refs/heads/none', join(root, 'bare/HEAD'));
    symlinkSync('private/pay.txt', join(root, 'linked.txt'));
    writeFileSync(join(root, 'prod.env'), 'TOKEN=x\n');
    symlinkSync(tmpdir(), join(root, 'out'));
    symlinkSync('prod.env', join(root, 'plain.txt'));
  });
  after(async () => {
    terminals.dispose();
    rmSync(root, { recursive: true, force: true });
    await settings().update('permissions', undefined, vscode.ConfigurationTarget.Global);
  });

  it('rules: those of an answer belong to the workspace until they are revoked', async () => {
    stored.allow(['edit:**', 'command:npm test']);
    stored.allow(['edit:**']);
    await stored.removeInWorkspace('edit:**');
    assert.deepEqual(stored.inWorkspace(), ['command:npm test']);
    assert.deepEqual(stored.rules().allow, ['command:npm test']);
    assert.equal(settings().inspect('permissions')?.globalValue, undefined);
    const elsewhere = new StoredRules((error) => assert.fail(String(error)), createMemento());
    assert.deepEqual(elsewhere.rules().allow, []);
    await stored.removeInWorkspace('command:npm test');
  });

  it('rules: are kept in the user settings, listed and revoked', async () => {
    await stored.add('deny', 'command:rm');
    await stored.add('allow', 'edit:**');
    await stored.add('allow', 'command:npm test');
    await stored.add('ask', 'fetch:https://example.com');
    assert.deepEqual(settings().inspect('permissions')?.globalValue, {
      allow: ['edit:**', 'command:npm test'],
      ask: ['fetch:https://example.com'],
      deny: ['command:rm'],
    });
    await stored.remove('allow', 'edit:**');
    await stored.remove('deny', 'command:rm');
    assert.deepEqual(stored.rules(), { allow: ['command:npm test'], ask: ['fetch:https://example.com'], deny: [] });
  });

  it('rules: settings of the workspace are ignored', async () => {
    const folder = join(workspaceFolder().fsPath, '.vscode');
    mkdirSync(folder, { recursive: true });
    const file = vscode.Uri.file(join(folder, 'settings.json'));
    const before = await vscode.workspace.fs.readFile(file).then(
      (bytes) => bytes,
      () => undefined,
    );
    await vscode.workspace.fs.writeFile(file, Buffer.from('{"svc.chat.permissions":{"allow":["command:rm"]}}'));
    assert.ok(!stored.rules().allow.includes('command:rm'));
    await assert.rejects(
      Promise.resolve(settings().update('permissions', { allow: ['x'] }, vscode.ConfigurationTarget.Workspace)),
    );
    if (before) await vscode.workspace.fs.writeFile(file, before);
    else await vscode.workspace.fs.delete(file);
  });

  it('rules: a setting with another form allows nothing, and still restricts', async () => {
    await settings().update('permissions', { allow: 'all', deny: [1, 'read:a'] }, vscode.ConfigurationTarget.Global);
    assert.deepEqual(stored.rules(), { allow: ['all'], ask: [], deny: ['1', 'read:a'] });
  });

  const COMMANDS: readonly [command: string, verdict: 'allow' | 'none' | 'secret'][] = [
    ['cat a.txt', 'allow'],
    ['cat ./a.txt && ls', 'allow'],
    ['cat out/x', 'none'],
    ['cat /etc/hostname', 'none'],
    ['cat ../../x', 'none'],
    ['cd out && cat x', 'none'],
    ['cat prod.env', 'secret'],
    ['cat plain.txt', 'secret'],
    ['cat < prod.env', 'secret'],
    ['npm test --config=prod.env', 'secret'],
    ['git show HEAD:prod.env', 'secret'],
    ['for f in prod.env; do cat $f; done', 'secret'],
    ['npm test', 'allow'],
    ['npm test > a.txt', 'none'],
    ['cd src && cat ../a.txt && ls deep', 'allow'],
    // A `cd` may fail, and has no effect outside its subshell or pipe.
    ['cd nowhere; cat ../../x', 'none'],
    ['(cd src/deep); cat ../../../x', 'none'],
    ['echo $(cd src/deep); cat ../../../x', 'none'],
    ['cd src/deep | cat ../../../x', 'none'],
    ['cd -P . && cat ../../x', 'none'],
    ['cd - && ls', 'none'],
    ['cd && ls', 'none'],
    [`${'cd a; '.repeat(20)}ls`, 'none'],
    // A program resolves links before `..`.
    ['cat out/../x', 'none'],
    [`cat ./${'a/'.repeat(2100)}b`, 'none'],
    ['git status', 'allow'],
    ['cd bare && git status', 'none'],
    ['cd src && cat deep/../../prod.env', 'secret'],
    ['npm test -f./prod.env', 'secret'],
  ];
  for (const [command, verdict] of COMMANDS) {
    it(`rules: the files of a command decide with it: ${command.slice(0, 60)}`, async () => {
      const prepared = await calls.prepare('run_in_terminal', { command, cwd: 'permitted' });
      const [tool] = tools;
      assert.ok(tool);
      const { effect } = judge(callSubjects(tool, prepared), { ...NO_RULES, allow: ['command:npm test'] });
      const { confirmation } = prepared;
      assert.equal(typeof confirmation === 'object' ? confirmation.kind : effect, verdict);
    });
  }

  const NAMING = [
    ...['cat private/pay.txt', 'cat ./src/../private/pay.txt', 'cd private && cat pay.txt', 'cat < private/pay.txt'],
    ...[
      'cat linked.txt',
      'cat private/*',
      'git show HEAD:private/pay.txt',
      'dd if=private/pay.txt',
      'cat a private/pay.txt',
    ],
    ...['grep -fprivate/pay.txt a', 'for f in private/pay.txt; do cat $f; done', 'cat -- private/pay.txt'],
  ];
  for (const command of NAMING) {
    it(`rules: a command may not read a file that tools may not read: ${command}`, async () => {
      const prepared = await calls.prepare('run_in_terminal', { command, cwd: 'permitted' });
      const [tool] = tools;
      assert.ok(tool);
      const rule = 'read:permitted/private/**';
      const allow = ['command:cat', 'command:git', 'command:dd', 'command:grep'];
      const subjects = callSubjects(tool, prepared);
      assert.deepEqual(judge(subjects, { ...NO_RULES, allow, deny: [rule] }), { effect: 'deny', rule });
      assert.equal(judge(subjects, { ...NO_RULES, allow, ask: [rule] }).effect, 'ask');
      assert.notEqual(judge(subjects, { ...NO_RULES, allow, deny: ['read:permitted/other/**'] }).effect, 'deny');
    });
  }

  it('rules: git_diff leaves out files that tools may not read', async () => {
    const git = (...args: string[]) => execFileSync('git', ['-C', workspaceFolder().fsPath, ...args]);
    git('init', '-q');
    try {
      git('add', 'permitted/a.txt', 'permitted/private');
      writeFileSync(join(root, 'private/new.txt'), 'new text\n');
      const tool = readingTools().find(({ name }) => name === 'git_diff');
      const { signal } = new AbortController();
      const mayRead = (path: string) => !path.startsWith('permitted/private/');
      const diff = async (given: Partial<ToolRun>) =>
        (await (await tool?.prepare({}))?.run({ signal, message: 'm', call: 'c', owner: {}, ...given }))?.output ?? '';
      const all = await diff({});
      for (const file of ['a.txt', 'private/pay.txt', 'private/new.txt'])
        assert.ok(all.includes(`b/permitted/${file}`));
      const readable = await diff({ mayRead });
      assert.match(readable, /b\/permitted\/a\.txt/);
      assert.doesNotMatch(readable, /private/);
    } finally {
      rmSync(join(workspaceFolder().fsPath, '.git'), { recursive: true, force: true });
    }
  });

  it('terminal: a command runs in its folder, and its exit code is known', async () => {
    const outcome = await calls.run('run_in_terminal', { command: 'pwd; exit 3', cwd: 'permitted' });
    assert.match(outcome.output, /\/permitted\n\[exit code 3\]$/);
    assert.equal(outcome.exitCode, 3);
  });

  it('terminal: a command in the background is read later, with its exit code', async () => {
    const command = 'echo started; while [ ! -f go ]; do sleep 0.1; done; echo ended; exit 5';
    const started = await calls.output('run_in_terminal', { command, cwd: 'permitted', background: true });
    assert.match(started, /^started\n\[still running\]\n\[Use terminal_output with id 1/);
    assert.match(await calls.output('terminal_output', { id: 1 }), /^started\n\[still running\]$/);
    writeFileSync(join(root, 'go'), '');
    const ended = await calls.run('terminal_output', { id: 1, wait: 20 });
    assert.deepEqual(ended, { output: 'started\nended\n[exit code 5]', exitCode: 5 });
    await assert.rejects(calls.output('terminal_output', { id: 7 }), /no command with id 7/);
    const other = new ToolCalls(() => tools);
    for (const stop of [true, false])
      await assert.rejects(other.output('terminal_output', { id: 1, stop }), /no command with id 1/);
  });

  it('terminal: a command in the background can be stopped', async () => {
    const started = await calls.output('run_in_terminal', { command: 'sleep 1000', background: true });
    const id = Number(/with id (\d+)/.exec(started)?.[1]);
    assert.match(await calls.output('terminal_output', { id, stop: true }), /\[ended by SIGTERM\]$/);
  });
});
