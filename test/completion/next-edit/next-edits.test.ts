import assert from 'node:assert/strict';
import type { NextEditSource } from '../../../src/completion/next-edit/next-edit.ts';
import { NextEditHarness } from './next-edit-harness.ts';

const LOGS = 'log.info(a);\nlog.info(b);\nlog.info(c);\nlog.info(d);';

/** Renames something two lines below. */
const RENAME: NextEditSource = {
  origin: 'rename',
  find: ({ document, line }) =>
    Promise.resolve([
      {
        origin: 'rename',
        uri: document.uri,
        replacements: [
          {
            start: { line: line + 2, character: 0 },
            end: { line: line + 2, character: 3 },
            expected: 'log',
            text: 'out',
          },
        ],
        title: { kind: 'rename', name: 'out' },
      },
    ]),
};

/** An editor where `log.info` was replaced at two places and an edit of the third place is shown. */
async function offered(text = LOGS): Promise<NextEditHarness> {
  const editor = new NextEditHarness(text);
  await editor.replace('info', 'debug');
  await editor.replace('info', 'debug');
  assert.ok(editor.current);
  return editor;
}

describe('next edits', () => {
  it('a shown edit keeps its id and moves with a line that is inserted above it', async () => {
    const editor = await offered();
    const id = editor.current?.id;
    editor.moveTo({ line: 0, character: 0 });
    editor.change([{ start: { line: 0, character: 0 }, end: { line: 0, character: 0 }, text: '// x\n\n' }]);
    await editor.settle();
    assert.equal(editor.current?.id, id);
    assert.equal(editor.shown, '5: log.debug(c);');
  });

  it('a shown edit is shortened when the user types it, and the next one follows when it is complete', async () => {
    const editor = await offered();
    const id = editor.current?.id;
    const start = editor.active.find('info');
    editor.moveTo(start);
    editor.change([{ start, end: { ...start, character: start.character + 4 }, text: 'd' }]);
    editor.moveTo({ ...start, character: start.character + 1 });
    assert.equal(editor.current?.id, id);
    assert.equal(editor.shown, '3: log.debug(c);');
    await editor.type('ebug');
    assert.notEqual(editor.current?.id, id);
    assert.equal(editor.shown, '4: log.debug(d);');
  });

  it('a shown edit goes when the user changes its text otherwise', async () => {
    const editor = await offered();
    const id = editor.current?.id;
    const start = editor.active.find('info');
    editor.moveTo(start);
    editor.change([{ start, end: start, text: 'x' }]);
    assert.notEqual(editor.current?.id, id);
  });

  it('a shown edit stays when an item of a list replaces a word by the same word', async () => {
    const editor = await offered();
    const { current } = editor;
    const start = editor.active.find('debug', 1);
    const end = { ...start, character: start.character + 5 };
    editor.change([{ start, end, text: 'debug' }]);
    await editor.settle();
    assert.equal(editor.current?.id, current?.id);
    assert.equal(editor.shown, '3: log.debug(c);');
  });

  it('an edit of another document, which is not on screen, does not prevent an edit in this one', async () => {
    const editor = new NextEditHarness(LOGS, { sources: [RENAME] });
    await editor.replace('info', 'debug');
    assert.ok(editor.current);
    editor.show(editor.open('file:///work/b.ts', LOGS));
    editor.moveTo({ line: 1, character: 0 });
    assert.equal(editor.current, undefined);
    await editor.replace('info', 'debug', 1);
    assert.equal(editor.shown, '4: out.info(d);');
  });

  it('a shown edit is never replaced by another one without a moment of none', async () => {
    const editor = await offered();
    await editor.accept();
    await editor.accept();
    for (const [index, drawn] of editor.drawn.entries()) {
      const before = editor.drawn[index - 1];
      if (drawn === undefined || before === undefined || drawn.id === before.id) continue;
      assert.notDeepEqual(drawn.replacements, before.replacements);
    }
    assert.equal(editor.text, LOGS.replaceAll('info', 'debug'));
  });

  it('no model is asked if the user turns completions off while other sources work', async () => {
    for (const enabled of [true, false]) {
      let asked = 0;
      const slow: NextEditSource = { origin: 'rename', find: () => editor.clock.sleep(350).then(() => []) };
      const editor: NextEditHarness = new NextEditHarness('const a = 1;\nfoo(a);\n', {
        sources: [slow],
        model: () => ({ ref: 'p/zeta2', contextTokens: 0, dialect: 'zeta-2' }),
        predict: () =>
          async function* () {
            asked += 1;
            yield { type: 'finish', reason: 'stop' };
          },
      });
      editor.moveTo({ line: 0, character: 11 });
      editor.change([{ start: editor.position, end: editor.position, text: '2' }]);
      editor.moveTo({ line: 0, character: 12 });
      await editor.clock.pass(450);
      editor.settings = { ...editor.settings, enabled };
      editor.engine.reconsider();
      await editor.clock.pass(3000);
      assert.equal(asked > 0, enabled);
    }
  });

  it('the next edit of the chain follows at once after an acceptance', async () => {
    const editor = await offered();
    assert.equal(editor.current?.following, 1);
    await editor.accept();
    assert.equal(editor.shown, '4: log.debug(d);');
    assert.equal(editor.current?.following, 0);
  });

  it('a rejected edit and the rest of its chain are not offered again', async () => {
    const editor = await offered();
    assert.ok(editor.current);
    editor.engine.rejected(editor.current);
    assert.equal(editor.current, undefined);
    editor.moveTo({ line: 3, character: 0 });
    await editor.settle();
    await editor.replace('(b)', '(e)');
    assert.equal(editor.current, undefined);
  });

  it('nothing is offered after undo until the next change', async () => {
    const editor = await offered();
    const start = editor.active.find('debug', 1);
    editor.change([{ start, end: { ...start, character: start.character + 5 }, text: 'info' }], 'undo');
    assert.equal(editor.current, undefined);
    editor.moveTo({ line: 3, character: 0 });
    await editor.settle();
    assert.equal(editor.current, undefined);
  });

  it('after an Escape for an edit that went meanwhile, none is offered until the next change or a request', async () => {
    for (const escaped of [false, true]) {
      const editor = new NextEditHarness(LOGS, { sources: [RENAME] });
      await editor.replace('info', 'debug');
      assert.equal(editor.shown, '3: out.info(c);');
      const end = editor.position;
      editor.change([{ start: end, end, text: 's' }]);
      assert.equal(editor.current, undefined);
      if (escaped) editor.engine.rejected(editor.current);
      await editor.settle();
      editor.moveTo({ line: 1, character: 0 });
      await editor.settle();
      assert.equal(editor.current === undefined, escaped);
      await editor.engine.request(editor.active.document, editor.position);
      assert.notEqual(editor.current, undefined);
      editor.engine.dispose();
    }
    const editor = new NextEditHarness(LOGS, { sources: [RENAME] });
    editor.engine.rejected(undefined);
    await editor.replace('info', 'debug');
    assert.equal(editor.shown, '3: out.info(c);');
  });

  it('nothing is shown beside ghost text', async () => {
    const editor = await offered();
    editor.engine.ghostTextShown(true);
    assert.equal(editor.current, undefined);
    editor.engine.ghostTextShown(false);
    assert.equal(editor.shown, '3: log.debug(c);');
  });

  for (const quiet of ['several carets, a selection or a snippet'])
    it(`nothing is shown with ${quiet}`, async () => {
      const editor = await offered();
      editor.moveTo(editor.position, true);
      assert.equal(editor.current, undefined);
      editor.moveTo(editor.position, false);
      assert.equal(editor.shown, '3: log.debug(c);');
    });

  it('an excluded file has no next edits', async () => {
    const editor = new NextEditHarness(LOGS, { excluded: () => 'secret-kind' });
    await editor.replace('info', 'debug');
    await editor.replace('info', 'debug');
    assert.equal(editor.current, undefined);
  });

  it('a language that is switched off has no next edits', async () => {
    const editor = new NextEditHarness(LOGS);
    editor.settings = { ...editor.settings, languages: { '*': true, typescript: false } };
    await editor.replace('info', 'debug');
    await editor.replace('info', 'debug');
    assert.equal(editor.current, undefined);
  });

  it('next edits wait for a completion that is on its way', async () => {
    let pending = true;
    const editor = new NextEditHarness(LOGS, { completionPending: () => pending });
    await editor.replace('info', 'debug');
    const start = editor.active.find('info');
    editor.moveTo(start);
    editor.change([{ start, end: { ...start, character: start.character + 4 }, text: 'debug' }]);
    await editor.clock.pass(600);
    assert.equal(editor.current, undefined);
    pending = false;
    await editor.clock.pass(150);
    assert.ok(editor.current);
  });

  it('a rename comes before the same edit, and a source that fails is left out', async () => {
    const fails: NextEditSource = { origin: 'quick-fix', find: () => Promise.reject(new Error('no language server')) };
    const editor = new NextEditHarness(LOGS, { sources: [fails, RENAME] });
    await editor.replace('info', 'debug');
    assert.equal(editor.current?.origin, 'rename');
    assert.equal(editor.shown, '3: out.info(c);');
  });

  it('a source that is slow is offered when it answers, unless the text has changed or an edit was rejected', async () => {
    const answers: (() => void)[] = [];
    const slow: NextEditSource = {
      origin: 'quick-fix',
      find: async (edit, signal) => {
        await new Promise<void>((resolve) => {
          answers.push(resolve);
        });
        return RENAME.find(edit, signal);
      },
    };
    const editor = new NextEditHarness(LOGS, { sources: [slow] });
    await editor.replace('info', 'debug');
    await editor.clock.pass(5_000);
    assert.equal(editor.current, undefined);
    answers.at(-1)?.();
    await editor.clock.pass(0);
    assert.equal(editor.shown, '3: out.info(c);');

    const elsewhere: NextEditSource = {
      origin: 'rename',
      find: async (edit, signal) => {
        const [found] = await slow.find(edit, signal);
        const place = {
          start: { line: 0, character: 0 },
          end: { line: 0, character: 3 },
          expected: 'log',
          text: 'out',
        };
        return found === undefined ? [] : [{ ...found, replacements: [place] }];
      },
    };
    const rejecting = new NextEditHarness(LOGS, { sources: [elsewhere] });
    await rejecting.replace('info', 'debug');
    await rejecting.replace('info', 'debug');
    await rejecting.clock.pass(5_000);
    const rejected = rejecting.current;
    assert.equal(rejected?.origin, 'same-edit');
    rejecting.engine.rejected(rejected);
    answers.at(-1)?.();
    await rejecting.clock.pass(0);
    assert.equal(rejecting.current, undefined);

    const typing = new NextEditHarness(LOGS, { sources: [slow] });
    await typing.replace('info', 'debug');
    const late = answers.at(-1);
    await typing.type('x');
    late?.();
    await typing.clock.pass(0);
    assert.equal(typing.current, undefined);
  });

  it('an edit whose text is not in the document is not offered', async () => {
    const wrong: NextEditSource = {
      origin: 'quick-fix',
      find: ({ document }) =>
        Promise.resolve([
          {
            origin: 'quick-fix',
            uri: document.uri,
            replacements: [
              { start: { line: 3, character: 0 }, end: { line: 3, character: 3 }, expected: 'gol', text: 'out' },
            ],
            title: { kind: 'quick-fix', title: 'Fix' },
          },
        ]),
    };
    const editor = new NextEditHarness(LOGS, { sources: [wrong] });
    await editor.replace('info', 'debug');
    assert.equal(editor.current, undefined);
  });

  it('completions get the edits of the last minutes as diffs, and the text around one whose earlier text is not known', async () => {
    const editor = new NextEditHarness(LOGS);
    await editor.replace('info', 'debug');
    const hidden = editor.open('file:///work/hidden.ts', 'const one = 1;\nconst two = 2;');
    editor.change(
      [{ start: { line: 1, character: 0 }, end: { line: 1, character: 0 }, text: 'export ' }],
      undefined,
      hidden,
    );
    assert.deepEqual(
      editor.engine.recentEdits('file:///work/c.ts', 0).map(({ path, note, text }) => [path, note, text]),
      [
        [
          'a.ts',
          'Changed',
          '@@ -1,4 +1,4 @@\n-log.info(a);\n+log.debug(a);\n log.info(b);\n log.info(c);\n log.info(d);\n',
        ],
        ['hidden.ts', undefined, 'const one = 1;\nexport const two = 2;'],
      ],
    );
    // The text before the cursor has it.
    assert.deepEqual(
      editor.engine.recentEdits('file:///work/a.ts', 3).map(({ path }) => path),
      ['hidden.ts'],
    );
    assert.equal(editor.engine.recentEdits('file:///work/a.ts', 60).length, 2);
    await editor.clock.pass(11 * 60_000);
    assert.deepEqual(
      editor.engine.recentEdits('file:///work/c.ts', 0).map(({ note }) => note),
      [undefined, undefined],
    );
  });

  it('an edit whose earlier text is not known is as recent as others', async () => {
    const edited: string[] = [];
    const editor = new NextEditHarness(LOGS);
    for (const name of ['b', 'c', 'd', 'e', 'f']) {
      editor.show(editor.open(`file:///work/${name}.ts`, LOGS));
      await editor.replace('info', 'debug');
    }
    for (const name of ['hidden', 'later']) {
      const change = { start: { line: 0, character: 0 }, end: { line: 0, character: 0 }, text: 'x' };
      editor.change([change], undefined, editor.open(`file:///work/${name}.ts`, 'const one = 1;'));
      await editor.settle();
    }
    for (const { path, note } of editor.engine.recentEdits('file:///work/a.ts', 0)) {
      if (note === undefined) edited.push(path);
    }
    assert.deepEqual(edited, ['later.ts', 'hidden.ts']);
    await editor.clock.pass(11 * 60_000);
    const old = editor.engine.recentEdits('file:///work/a.ts', 0).map(({ path }) => path);
    assert.deepEqual(old, ['later.ts', 'hidden.ts', 'f.ts', 'e.ts']);
  });

  describe('text that the user has just deleted', () => {
    const CODE = 'send(order.id);\nsend(other.id);\nreturn total;';
    const at = (editor: NextEditHarness, text: string) =>
      editor.engine.restores(editor.active.document, editor.position, text);
    const backspace = async (editor: NextEditHarness, place: string, count: number) => {
      const { line, character } = editor.active.find(place);
      editor.moveTo({ line, character: character + place.length });
      await editor.backspace(count);
    };

    it('is known at the cursor, as a whole and in part, until the next change', async () => {
      const editor = new NextEditHarness(CODE);
      await backspace(editor, 'order.id', 3);
      for (const text of ['.id', '.i', ' .id\n']) assert.equal(at(editor, text), true, text);
      for (const text of ['.ids', '.name', '.id, 1']) assert.equal(at(editor, text), false, text);
      await editor.type('x');
      assert.equal(at(editor, '.id'), false);
    });

    it('is known on each line, however fast they follow, and beside another change of the line', async () => {
      const editor = new NextEditHarness(CODE);
      await backspace(editor, 'order.id', 3);
      await backspace(editor, 'other.id', 3);
      assert.equal(at(editor, '.id'), true);
      await editor.replace('total', 'sum');
      await backspace(editor, 'sum;', 1);
      assert.equal(at(editor, ';'), true);
      editor.moveTo({ line: 0, character: 3 });
      assert.equal(at(editor, ';'), false);
    });

    it('may be several lines', () => {
      const editor = new NextEditHarness(CODE);
      editor.change([{ start: { line: 0, character: 4 }, end: { line: 2, character: 13 }, text: '' }]);
      editor.moveTo({ line: 0, character: 4 });
      assert.equal(at(editor, '(order.id);\nsend(other.id);'), true);
    });

    it('is not looked for in lines that are too long to be compared at each key', () => {
      const editor = new NextEditHarness(`${'x'.repeat(30_000)}order.id`);
      editor.change([{ start: { line: 0, character: 30_005 }, end: { line: 0, character: 30_008 }, text: '' }]);
      editor.moveTo({ line: 0, character: 30_005 });
      assert.equal(at(editor, '.id'), false);
    });

    it('is not what was typed a moment before, nor what an undo removed', async () => {
      const editor = new NextEditHarness('send(order);');
      editor.moveTo({ line: 0, character: 10 });
      await editor.type('.id');
      await editor.backspace(3);
      assert.equal(at(editor, '.id'), false);
      editor.change([{ start: { line: 0, character: 4 }, end: { line: 0, character: 12 }, text: '' }], 'undo');
      assert.equal(at(editor, '(order)'), false);
    });
  });
});
