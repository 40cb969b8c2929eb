import assert from 'node:assert/strict';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { FolderWalk } from '../../../src/chat/tools/search/folder-walk.ts';
import { Ripgrep } from '../../../src/chat/tools/search/ripgrep.ts';
import type { FolderSearch, SearchScope } from '../../../src/chat/tools/search/search-scope.ts';
import { existingPaths } from '../../../src/extension/chat/links.ts';
import { harmlessTools } from '../../../src/extension/chat/tools/own-tools.ts';
import { findRipgrep, folderSource } from '../../../src/extension/chat/tools/workspace-search.ts';
import { ToolCalls } from './tool-calls.ts';
import { workspaceFolder } from './until.ts';

const FILES: Readonly<Record<string, string>> = {
  '.gitignore': 'dist\n*.log\n!keep.log\n',
  'src/a.ts': 'before\nneedle one\nafter\n',
  'src/deep/.gitignore': 'local.ts\n',
  'src/deep/local.ts': 'needle ignored in a folder\n',
  'src/deep/b.js': 'first\r\nneedle two\r\nlast\r\n',
  'src/bundle.min.js': 'needle excluded by a setting\n',
  'dist/a.js': 'needle built\n',
  'node_modules/pack/index.js': 'needle of a package\n',
  'debug.log': 'needle ignored\n',
  'keep.log': 'needle kept\n',
  'prod.env': 'TOKEN=needle\n',
  'binary.bin': 'needle\0\n',
  '.github/flow.yml': 'needle hidden folder\n',
};

describe('search of the chat tools in an ordinary repository', () => {
  let root: string;
  const calls = new ToolCalls(harmlessTools);
  const scope = (pattern?: string): SearchScope => ({
    ...{ excludes: ['**/node_modules', '**/*.min.js'], useIgnoreFiles: true },
    ...(pattern === undefined ? {} : { pattern }),
  });
  const signal = new AbortController().signal;

  before(() => {
    root = join(workspaceFolder().fsPath, 'ordinary');
    for (const [path, text] of Object.entries(FILES)) {
      mkdirSync(join(root, path, '..'), { recursive: true });
      writeFileSync(join(root, path), text);
    }
  });
  after(() => rmSync(root, { recursive: true, force: true }));

  it('search: finds the ripgrep of this VS Code', () => {
    const found = findRipgrep();
    assert.ok(found !== undefined && existsSync(found), String(found));
  });

  const searches: readonly [string, () => FolderSearch][] = [
    ['ripgrep', () => new Ripgrep(findRipgrep() ?? '', root)],
    ['the own walk', () => new FolderWalk(folderSource(vscode.Uri.file(root)))],
  ];
  for (const [name, create] of searches) {
    it(`search: ${name} finds the code, not packages, builds, ignored or secret files`, async () => {
      const { files, matches, fileCount } = await create().text(
        scope(),
        { text: 'NEEDLE', regex: false, context: 1 },
        signal,
      );
      assert.deepEqual(
        files.map(({ path, lines }) => [path, lines.map(({ number, text }) => `${number} ${text}`)]),
        [
          ['.github/flow.yml', ['1 needle hidden folder']],
          ['keep.log', ['1 needle kept']],
          ['src/a.ts', ['1 before', '2 needle one', '3 after']],
          ['src/deep/b.js', ['1 first', '2 needle two', '3 last']],
        ].map(([path, lines]) => [path, lines]),
      );
      assert.deepEqual([matches, fileCount], [4, 4]);
    });

    it(`search: ${name} lists files by pattern, ignored ones never`, async () => {
      const patterns: readonly [pattern: string | undefined, paths: string][] = [
        ['*.js', 'src/deep/b.js'],
        ['**/*.{js,ts}', 'src/a.ts src/deep/b.js'],
        ['src', 'src/a.ts src/deep/.gitignore src/deep/b.js'],
        ['./src/*.ts', 'src/a.ts'],
        ['dist/**', ''],
        ['*.log', 'keep.log'],
      ];
      for (const [pattern, paths] of patterns) {
        assert.equal((await create().files(scope(pattern), signal)).join(' '), paths, String(pattern));
      }
    });

    it(`search: ${name} finds regular expressions, several lines and special characters`, async () => {
      writeFileSync(join(root, 'src/special.ts'), 'a.b(c) [x]\r\nnext $1\r\n');
      const found = async (text: string, regex: boolean) =>
        (await create().text(scope('src/special.ts'), { text, regex, context: 0 }, signal)).files
          .flatMap(({ lines }) => lines.map(({ number }) => number))
          .join();
      assert.equal(await found('a.b(c) [', false), '1');
      assert.equal(await found('n.xt \\$\\d', true), '2');
      assert.match(await found('[x]\nnext $1', false), /^1/);
      await assert.rejects(found('(', true));
      rmSync(join(root, 'src/special.ts'));
    });
  }

  const NAMES = [
    'app/[id]/page.tsx',
    'app/i/page.tsx',
    'app/[...slug]/route.ts',
    'app/(shop)/cart/page.tsx',
    'app/{a,b}.ts',
    'app/a.ts',
    '!top/x.ts',
    '#1/x.ts',
    'a b/c d.ts',
    "it's/R&D/100%.ts",
    'c#/x.ts',
  ];
  const LITERAL: readonly [pattern: string, paths: readonly string[]][] = [
    ['app/[id]/page.tsx', ['app/[id]/page.tsx']],
    ['./app/[id]/**', ['app/[id]/page.tsx']],
    ['app/[id]', ['app/[id]/page.tsx']],
    ['app/[id]/', ['app/[id]/page.tsx']],
    ['app\\[id]\\page.tsx', ['app/[id]/page.tsx']],
    ['app/\\[id\\]/**', ['app/[id]/page.tsx']],
    ['**/\\[id\\]/*.tsx', ['app/[id]/page.tsx']],
    ['app/[hij]/page.tsx', ['app/i/page.tsx']],
    ['app/[...slug]/*.ts', ['app/[...slug]/route.ts']],
    ['app/(shop)/**/page.tsx', ['app/(shop)/cart/page.tsx']],
    ['app/{a,b}.ts', ['app/{a,b}.ts']],
    ['app/{a,c}.ts', ['app/a.ts']],
    ['!top/**', ['!top/x.ts']],
    ['#1/*.ts', ['#1/x.ts']],
    ['a b/*.ts', ['a b/c d.ts']],
    ['a\\ b/**', ['a b/c d.ts']],
    ["it's/R&D/*%.ts", ["it's/R&D/100%.ts"]],
    ['c#', ['c#/x.ts']],
  ];
  it('search_text and list_files: a pattern that is a path means it, and escapes work', async () => {
    for (const path of NAMES) {
      mkdirSync(join(root, 'names', path, '..'), { recursive: true });
      writeFileSync(join(root, 'names', path), 'needleX\n');
    }
    for (const [pattern, paths] of LITERAL) {
      const scoped = `ordinary/names/${pattern.replace(/^\.\//, '')}`;
      const wanted = paths.map((path) => `ordinary/names/${path}`);
      const listed = await calls.output('list_files', { pattern: scoped });
      assert.deepEqual(listed.split('\n'), wanted, pattern);
      const found = await calls.output('search_text', { query: 'needleX', pattern: `./${scoped}`, context: 0 });
      assert.deepEqual(
        found.split('\n').slice(1),
        wanted.map((path) => `${path}:1: needleX`),
        pattern,
      );
    }
    assert.match(await calls.output('list_files', { path: 'ordinary/names/app/[id]' }), /page\.tsx/);
    const inFolder = await calls.output('list_files', { path: 'ordinary/names/app/[id]', pattern: '*.tsx' });
    assert.equal(inFolder, 'ordinary/names/app/[id]/page.tsx');
    const texts = [
      'names/app/[id]/page.tsx:1',
      "it's/R&D/100%.ts",
      'a b/c d.ts',
      '{a,b}.ts',
      'app/(shop)/cart/page.tsx',
    ];
    assert.deepEqual(await existingPaths(texts.map((text) => text.replace(/^a b/, 'ordinary/names/a b'))), [
      ...texts.slice(0, 2),
      'ordinary/names/a b/c d.ts',
      ...texts.slice(3),
    ]);
    rmSync(join(root, 'names'), { recursive: true });
  });

  for (const [name, create] of searches) {
    it(`search: ${name} knows where the match is in a long line`, async () => {
      writeFileSync(join(root, 'src/long.ts'), `${'ü'.repeat(1500)}Needle of a long line${'y'.repeat(5000)}\n`);
      for (const [text, regex] of [
        ['needle of', false],
        ['n.{4}e of', true],
      ] as const) {
        const { files } = await create().text(scope('src/long.ts'), { text, regex, context: 0 }, signal);
        assert.deepEqual(
          files[0]?.lines.map(({ at }) => at),
          [1500],
        );
      }
      rmSync(join(root, 'src/long.ts'));
    });
  }

  const RANGES: readonly [range: object, reason: RegExp | string][] = [
    [{ from: 2, to: 2 }, 'needle one\n\n[lines 2-2 of 4]'],
    [{ from: 3, to: 900 }, 'after\n\n[lines 3-4 of 4]'],
    [{ from: 3, to: 2 }, /from \(3\) is after to \(2\)/],
    [{ from: 5 }, /ordinary\/src\/a\.ts has 4 lines, so there is no line 5/],
    [{ from: -1 }, /Lines are counted from 1/],
    [{ to: -1 }, /Lines are counted from 1/],
    [{ from: 1, to: 0 }, /Lines are counted from 1/],
  ];
  for (const [range, expected] of RANGES) {
    it(`read_file: lines ${JSON.stringify(range)}`, async () => {
      const reading = calls.output('read_file', { path: 'ordinary/src/a.ts', ...range });
      if (typeof expected === 'string') assert.equal(await reading, expected);
      else await assert.rejects(reading, expected);
    });
  }

  it('search: names the number of all matches when it cuts them', async () => {
    mkdirSync(join(root, 'many'));
    for (let file = 0; file < 31; file++) writeFileSync(join(root, `many/${file}.txt`), 'straw\n'.repeat(40));
    const output = await calls.output('search_text', { query: 'straw', pattern: 'ordinary/many/**' });
    assert.match(output, /^100 of 1,240 matches in 31 files\. Narrow the search/);
    assert.equal(output.split('\n').filter((row) => /^ordinary\/many\/\d+\.txt:\d+: straw$/.test(row)).length, 100);
    rmSync(join(root, 'many'), { recursive: true });
  });

  it('search: the tool shows lines around a match', async () => {
    const output = await calls.output('search_text', { query: 'needle one', context: 1 });
    assert.equal(output, '1 match in 1 file.\n  1- before\nordinary/src/a.ts:2: needle one\n  3- after');
  });

  it('list_files: lists a folder with its folders', async () => {
    const output = await calls.output('list_files', { path: 'ordinary' });
    const rows = output.split('\n');
    assert.ok(rows.includes('ordinary/src/deep/') && rows.includes('ordinary/src/deep/b.js'), output);
    assert.doesNotMatch(output, /node_modules|dist|debug\.log/);
    await assert.rejects(calls.output('list_files', { path: 'ordinary/none' }), /does not exist/);
    await assert.rejects(calls.output('list_files', { path: '..' }), /not inside the workspace/);
  });

  it('list_files: a large folder is shown by its folders and their numbers of files', async () => {
    for (let folder = 0; folder < 20; folder++) {
      mkdirSync(join(root, `big/${folder}`), { recursive: true });
      for (let file = 0; file < 100; file++) writeFileSync(join(root, `big/${folder}/${file}.ts`), '');
    }
    const output = await calls.output('list_files', { path: 'ordinary/big' });
    assert.match(output, /^2,000 files, not all of them shown/);
    assert.match(output, /\nordinary\/big\/19\/ \(100 files\)/);
    assert.ok(output.split('\n').length <= 401);
    rmSync(join(root, 'big'), { recursive: true });
  });
});
