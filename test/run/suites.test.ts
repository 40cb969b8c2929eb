import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { suiteStep } from './steps.ts';
import { FAST_SUITE, filesOf, groups, ROOT, SUITES, select } from './suites.ts';

describe('npm test', () => {
  it('npm test: each test file is in exactly one suite', () => {
    const all = globSync('test/**/*.{test,spec,suite}.ts', { cwd: ROOT }).map((file) => file.replaceAll('\\', '/'));
    assert.ok(all.length > 200);
    assert.deepEqual(SUITES.flatMap(filesOf).sort(), all.sort());
  });

  it('npm test: the fast suites are a part of the suites without servers', () => {
    const plain = new Set(filesOf(SUITES[0] ?? assert.fail()));
    const fast = filesOf(FAST_SUITE);
    assert.ok(fast.length > 50);
    assert.deepEqual(
      fast.filter((file) => !plain.has(file)),
      [],
    );
  });

  const found = (patterns: readonly string[], grep?: string) =>
    select(patterns, grep).map(({ suite, files, grep: title }) => [suite.name, files, title]);

  it('npm test -- PATTERN: a part of a path or a glob selects files of any suite', () => {
    assert.deepEqual(found(['test/wire/errors']), [
      ['suites without servers', ['test/wire/errors.test.ts'], undefined],
    ]);
    assert.deepEqual(found(['./test/e2e/smoke.spec.ts', 'test/host/**/chat.suite.ts']).sort(), [
      ['end to end', ['test/e2e/smoke.spec.ts'], undefined],
      ['suites in VS Code', ['test/host/suites/chat.suite.ts'], undefined],
    ]);
    assert.deepEqual(found(['test/wire/errors'], 'keep their type')[0]?.[2], 'keep their type');
  });

  it('npm test -- PATTERN: a part of a title selects the files with it, and their tests', () => {
    const title = 'npm test: each test file is in';
    assert.deepEqual(found([title]), [['suites without servers', ['test/run/suites.test.ts'], title]]);
    assert.deepEqual(found([], title), [['suites without servers', ['test/run/suites.test.ts'], title]]);
    const step = 'provider dialog: a stored key is not';
    assert.deepEqual(found([step]), [['end to end', ['test/e2e/provider-dialog.spec.ts'], step]]);
    assert.deepEqual(found(['no file and no title has this text'.toUpperCase()]), []);
  });

  it('npm test -- PATTERN: a suite in VS Code is selected by the titles of its groups', () => {
    const [selection] = select(['test/host/suites/chat.suite.ts']);
    const { env } = suiteStep(selection?.suite ?? assert.fail(), selection);
    const pattern = new RegExp(env?.SVC_SUITES ?? assert.fail());
    assert.match('models and commands in VS Code lists its models', pattern);
    assert.doesNotMatch('chat tools in VS Code reads a file', pattern);
    assert.deepEqual(groups('test/host/suites/next-edit.suite.ts'), [
      'accepted next edits',
      'quick fixes as next edits',
    ]);
  });
});
