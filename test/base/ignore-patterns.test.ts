import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import { IgnorePatterns } from '../../src/base/ignore-patterns.ts';
import { Exclusions } from '../../src/completion/prompt/exclusion.ts';
import { assertLinear } from '../linear-time.ts';

const NAMES = ['a', 'b', 'ab', 'dist', 'x.log', 'keep.log'];
const name = fc.constantFrom(...NAMES);
const piece = fc.constantFrom(...NAMES, '*', '**', '?', '[ab]', '[!a]', '*.log', 'a*', 'keep.*', '***', 'd[i-j]st');
const pattern = fc
  .tuple(
    fc.constantFrom('', '', '!', '!'),
    fc.constantFrom('', '', '/', '**/'),
    fc.array(piece, { minLength: 1, maxLength: 3 }),
    fc.constantFrom('', '', '/', '/**', '/*'),
    fc.constantFrom('', ' ', '\r'),
  )
  .map(([negation, root, pieces, end, blank]) => `${negation}${root}${pieces.join('/')}${end}${blank}`);
const lines = fc.array(pattern, { maxLength: 5 });
const file = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => `${names.join('/')}/f.log`);

describe('IgnorePatterns', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'svc-ignore-'));
    execFileSync('git', ['init', '-q', folder]);
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  function ignoredByGit(paths: readonly string[]): readonly string[] {
    const options = { cwd: folder, input: paths.join('\0'), encoding: 'utf8' as const };
    // The user's exclude file must not affect the result.
    const config = ['-c', 'core.excludesFile=', 'check-ignore', '--no-index', '-z', '--stdin'];
    return spawnSync('git', config, options).stdout.split('\0').filter(Boolean).sort();
  }

  it('IgnorePatterns: gives the results of git check-ignore for nested and negated patterns', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom('', 'a', 'a/b', 'dist', 'a/dist'), lines),
        fc.uniqueArray(file, { minLength: 1, maxLength: 12 }),
        (ignoreFiles, paths) => {
          const written = Object.entries(ignoreFiles).map(([directory, patterns]) => {
            const ignoreFile = join(folder, directory, '.gitignore');
            mkdirSync(dirname(ignoreFile), { recursive: true });
            writeFileSync(ignoreFile, patterns.join('\n'));
            return { ignoreFile, directory, content: patterns.join('\n') };
          });
          const uri = pathToFileURL(folder).href;
          const exclusions = new Exclusions([{ uri, ignoreFiles: written }], []);
          const ours = paths.filter((path) => exclusions.reason(`${uri}/${path}`) === 'gitignored').sort();
          const theirs = ignoredByGit(paths);
          for (const { ignoreFile } of written) rmSync(ignoreFile);
          assert.deepEqual(ours, theirs);
        },
      ),
      { numRuns: 300 },
    );
  });

  const cases: readonly (readonly [string, string, boolean])[] = [
    ['secret\\ ', 'secret ', true],
    ['\\#note', '#note', true],
    ['\\!note', '!note', true],
    ['a\\', 'a', false],
    ['[', '[', false],
    ['[]a]b', ']b', true],
    ['[[:digit:]]x', '7x', true],
    ['caf\u00e9.txt', 'cafe\u0301.txt', true],
    ['cafe\u0301/', 'caf\u00e9/x.ts', true],
  ];
  for (const [line, path, ignored] of cases) {
    it(`IgnorePatterns: ${JSON.stringify(line)} ${ignored ? 'matches' : 'does not match'} ${JSON.stringify(path)}`, () =>
      assert.equal(new IgnorePatterns(line).ignores(path), ignored));
  }

  it('IgnorePatterns: the time is linear in the length of the path for any wildcards', async () => {
    const patterns = new IgnorePatterns(`${'*a'.repeat(12)}b\n${'**/a/'.repeat(12)}b`);
    await assertLinear(
      100_000,
      (size) => 'a'.repeat(size),
      (text) => patterns.ignores(text),
    );
    assert.equal(patterns.ignores(`${'a/'.repeat(200)}c`), false);
  });
});
