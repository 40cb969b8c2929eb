import assert from 'node:assert/strict';
import { clear } from './completion-harness.ts';
import { type NextEditHarness, startNextEditHarness } from './next-edit-harness.ts';

const RENAME = 'let userName = 1\nprint(userName)\nprint(userName, userName + 2)\n';

describe('next edits', () => {
  let at: NextEditHarness;

  before(async () => {
    at = await startNextEditHarness();
  });
  after(() => at.close());
  afterEach(function () {
    return clear(at, this.currentTest);
  });

  it('next edits: rename the other places after a declared name was changed, in one undo step', async () => {
    await at.rename('rename.toy', RENAME, 'userId');
    await at.draws(
      'let userId = 1{+Tab: rename to userId (3 places)+}',
      'print([-userName-]{+userId+})',
      'print([-userName-]{+userId+}, [-userName-]{+userId+} + 2)',
    );
    await at.armed();
    await at.press('Tab');
    await at.plain();
    assert.equal(await at.saved('rename.toy'), RENAME.replaceAll('userName', 'userId'));
    await at.press('ControlOrMeta+Z');
    assert.equal(await at.saved('rename.toy'), RENAME.replace('userName', 'userId'));
  });

  it('next edits: make the preferred quick fix of an error that was just typed', async () => {
    const before = 'import a\n\nif (a) {\n  first();\n}\nlet x = brok';
    const fix = { title: 'Use b', range: [2, 0, 4, 1], text: 'if (b) {\n  first(b);\n  second();\n}' } as const;
    await at.breaks('fix.toy', before, fix);
    await at.draws(
      'import a',
      '',
      '[-if (a) {-]{+if (b) {+}',
      '  [-first();-]{+  first(b);+}',
      '}{+  second();+}',
      'let x = broken{+Tab: Use b+}',
    );
    await at.armed();
    await at.press('Tab');
    await at.plain();
    assert.equal(await at.saved('fix.toy'), 'import a\n\nif (b) {\n  first(b);\n  second();\n}\nlet x = broken');
  });
});
