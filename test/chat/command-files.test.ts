import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { judge, NO_RULES, type RuleTexts } from '../../src/chat/permissions/permission-rules.ts';
import { commandFiles } from '../../src/chat/tools/command-files.ts';
import { findInWorkspace } from '../../src/chat/tools/workspace-files.ts';

describe('files of a command', () => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'svc-command-files-')));
  const root = join(base, 'project');
  for (const folder of ['sub/deep', 'private', '.vscode', '.husky', 'plain'])
    mkdirSync(join(root, folder), { recursive: true });
  const files = [
    '.env',
    'sub/id_rsa',
    'sub/deep/prod.env',
    'private/a.ts',
    'package.json',
    'a.ts',
    'plain/a.txt',
    'plain/[x].txt',
  ];
  for (const file of files) writeFileSync(join(root, file), 'text\n');
  writeFileSync(join(base, 'outside.txt'), 'text\n');
  symlinkSync('.env', join(root, 'notes'));
  symlinkSync('../private', join(root, 'plain/linked'));
  after(() => rmSync(base, { recursive: true, force: true }));

  /** `caution`: asked each time, with the kind. */
  async function effect(command: string, rules: Partial<RuleTexts>): Promise<string> {
    const find = async (real: string) => findInWorkspace([{ name: 'project', path: root }], real);
    const { caution, ...found } = await commandFiles({ command, posix: true }, root, find);
    const verdict = judge([{ kind: 'command', command, posix: true, ...found }], { ...NO_RULES, ...rules }).effect;
    return verdict === 'deny' || caution === undefined ? verdict : `caution ${caution.kind}`;
  }

  const cat = { allow: ['command:cat', 'command:cd', 'command:echo'] };
  const SECRET = [
    ...['cat .en*', 'cat .en?', 'cat .e[n]v', 'cat .en{v,}', 'cat .[e]*', 'cat "$PWD"/.??v', 'cat not*', 'cat *'],
    ...['cd sub && cat id*', 'cat sub/**', 'cat s*/d*/*', 'cat ./.en*', 'cat .E*', 'cat sub/../.en*', 'cat {a,.env}'],
    ...[
      'cat "$PWD/".e*',
      'cat .{x,en{u,v}}',
      'cat ~/.ssh/id*',
      "cat '.'e*",
      'cat .[!x]nv',
      'cat ${PWD}/not?s',
      'cat < .env',
    ],
  ];
  for (const command of SECRET) {
    it(`command: a word that the shell changes to a secret file is asked: ${command}`, async () =>
      assert.equal(await effect(command, cat), 'caution secret'));
  }

  for (const command of [
    'cat $(echo .en)v',
    'cat .{e..f}nv',
    'cat ~other/x',
    'cat ${X}',
    'pushd sub; cat id*',
    `cat ${'{a,b}'.repeat(9)}`,
  ]) {
    it(`command: a word with an unknown value is asked also under a rule: ${command}`, async () =>
      assert.equal(await effect(command, { allow: [...cat.allow, 'command:pushd'] }), 'none'));
  }

  const DENIED = [
    ...['cat priv*/a.ts', 'cat p{rivate,}/a.ts', 'cat "$PWD/private/a.ts"', 'cat plain/l*/a.ts', 'cat PRIVAT[E]/a.ts'],
    ...[
      'cat */a.ts',
      'cat ??????e/*',
      'cd private && cat a*',
      'cat private//?.ts',
      'cat < private/a.ts',
      'cat --x=private/a.ts',
    ],
  ];
  for (const command of DENIED) {
    it(`command: a word that the shell changes to a denied file is denied: ${command}`, async () =>
      assert.equal(await effect(command, { ...cat, deny: ['read:private/**'] }), 'deny'));
  }

  for (const command of [
    'cat a*',
    'cat plain/*.txt',
    'cat {a,b}.ts',
    'cat "$PWD"/a.ts',
    "cat '*'",
    'cat plain/\\[x].txt',
    'cat no*thing',
  ]) {
    it(`command: a word that the shell changes to other files runs under a rule: ${command}`, async () =>
      assert.equal(await effect(command, { ...cat, deny: ['read:private/**'] }), 'allow'));
  }

  for (const command of [
    'cat < ../outside.txt',
    'cat < /etc/hostname',
    'cat < /dev/tcp/127.0.0.1/9',
    'cat < /proc/self/environ',
    'cd sub; cat < ../../outside.txt',
  ]) {
    it(`command: input from elsewhere is asked also under a rule: ${command}`, async () =>
      assert.equal(await effect(command, cat), 'none'));
  }

  const WRITES: readonly [command: string, kind: string][] = [
    ['git log -1 --format=x --output=.vscode/tasks.json', 'editor'],
    ['git log --output=.vscode/tasks.json', 'editor'],
    ['git show -s --format=x --output=.husky/pre-commit', 'git'],
    ['git log --output=package.json', 'package'],
    ['sort a.ts -o .husky/post-merge', 'git'],
    ['touch .vscode/settings.json', 'editor'],
    ['tool a.ts .vscode/ta*', 'editor'],
    ['tool --x=.git/hooks/pre-commit', 'secret'],
    ['tool -f.husky/x', 'git'],
    ['cd .vscode && tool ./tasks.json', 'editor'],
    ['tool {a,package}.json', 'package'],
    ['for f in package.json; do tool $f; done', 'package'],
  ];
  for (const [command, kind] of WRITES) {
    it(`command: a word with a protected file is asked under every rule: ${command}`, async () => {
      const allow = ['git log', 'git show', 'git', 'sort', 'touch', 'tool', 'cd', command].map(
        (rule) => `command:${rule}`,
      );
      assert.equal(await effect(command, { allow }), `caution ${kind}`);
    });
  }

  it('command: a program that only reads is not asked for a protected file', async () => {
    for (const command of ['cat package.json', 'ls .vscode', 'head -5 package.json'])
      assert.equal(await effect(command, {}), 'allow');
  });
});
