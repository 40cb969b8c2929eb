import assert from 'node:assert/strict';
import { saveEffect, textChange } from '../../src/chat/tools/file-change.ts';
import type { Patch, ToolState } from '../../src/chat/transcript.ts';
import { inElement, inPage, resize, scrollUp, typeInto } from '../host/person.ts';
import { STATES } from './gallery-states.ts';
import { COMPLETE, type Panel, type PanelHost, snapshot, startPanelHost, transcriptOf, VIEW } from './panel-page.ts';

const SET = { type: 'model' as const, model: VIEW };
const user = { role: 'user' as const, parts: [{ type: 'text' as const, text: 'Question' }] };
const WAITING: ToolState = { type: 'waiting' };
const tool = (id: string, state: ToolState, more: object = {}) => ({
  ...{ type: 'tool' as const, id, name: 'run_in_terminal', origin: 'Svc', changes: true, text: '{}', state },
  ...more,
});
const command = (id: string, line: string, state: ToolState = WAITING) =>
  tool(id, state, { action: { type: 'command', command: line, cwd: '', explanation: '' } });
const patches = (from: number, ...list: readonly Patch[]) =>
  ({ type: 'patches', session: 's', from, seq: from + list.length, patches: list }) as const;
const state = (part: number, next: ToolState): Patch => ({ type: 'tool', message: 'm1', part, state: next });

describe('tool cards of the chat page', () => {
  let host: PanelHost;
  let panel: Panel;
  before(async () => {
    host = await startPanelHost();
  });
  after(() => host.close());
  beforeEach(async () => {
    panel = await host.open();
  });
  afterEach(() => panel.close());

  const show = (...parts: readonly object[]) =>
    panel.tell(SET, snapshot(transcriptOf(user, { role: 'assistant', parts: parts as never })));
  const decisions = async () =>
    (await panel.sentMessages('decide')).map(({ call, decision }) => ({ call, ...(decision as object) }));
  const cards = () => panel.page.locator('.tool.asking');

  it('tool card: shows a change as lines with signs and numbers, not as arguments', async () => {
    await panel.tell(...(STATES.tools ?? []));
    const rows = await cards()
      .locator('.diff .row')
      .evaluateAll((all) => all.slice(2, 6).map((row) => [...row.children].map((each) => each.textContent).join('|')));
    assert.deepEqual(rows, [
      '3|-|export function basketTotal(items: readonly Item[]): number {',
      '4|-|  let sum = 0;',
      '3|+|export function basketTotal(items: readonly Item[]): bigint {',
      '4|+|  let sum = 0n;',
    ]);
    assert.match(await cards().locator('.head').innerText(), /Edit\s*basket\.ts\s*\+4\s*−4\s*Needs approval/);
    assert.doesNotMatch(await cards().innerText(), /old_text/);
    await cards().getByRole('button', { name: 'View diff' }).click();
    assert.deepEqual(await panel.sentMessages('preview'), [{ type: 'preview', call: 'call_1' }]);
  });

  it('tool card: its state is at the right end, also below the title', async () => {
    const { change } = textChange('src/a-file-name.ts', 'a\n', 'b\n');
    await show(tool('c1', WAITING, { name: 'edit_file', action: { type: 'changes', changes: [change] } }));
    const box = async (selector: string) => (await cards().locator(selector).boundingBox()) ?? assert.fail(selector);
    const below = new Set<boolean>();
    for (const width of [420, 285, 240]) {
      await resize(panel.page, width, 600);
      const [head, state, verb] = [await box('.head'), await box('.head > .figures'), await box('.verb')];
      const rest = head.x + head.width - state.x - state.width;
      assert.ok(rest >= 0 && rest < 12, `${rest} pixels at the right, in a panel of ${width}`);
      below.add(state.y > verb.y + verb.height / 2);
    }
    assert.equal(below.size, 2, 'one of the panels is so narrow that the state is below');
  });

  it('tool card: cuts the name of the file in a narrow panel, and nothing covers it', async () => {
    const narrow = await host.open({ width: 200 });
    const change = textChange('src/a-long-name-of-a-file.ts', 'a\n', 'b\n').change;
    const of = (id: string, state: ToolState) =>
      tool(id, state, { name: 'edit_file', action: { type: 'changes', changes: [change] } });
    const parts = [of('c1', { type: 'done', output: 'no', failed: true }), of('c2', WAITING)];
    await narrow.tell(SET, snapshot(transcriptOf(user, { role: 'assistant', parts })));
    const boxOf = (selector: string) => narrow.page.locator(selector).boundingBox();
    const heads = ['.toggle .verb', 'button.file', '.counts', '.figures'];
    const boxes = await Promise.all(heads.map((part) => boxOf(`.tool:not(.asking) .head ${part}`)));
    for (const [at, box] of boxes.entries()) {
      const before = boxes[at - 1];
      assert.ok(box && (!before || box.x >= before.x + before.width - 1), JSON.stringify(boxes));
    }
    const last = boxes.at(-1);
    assert.ok(last && last.x + last.width <= 200, JSON.stringify(boxes));
    const [card, needs] = [await boxOf('.tool.asking'), await boxOf('.tool.asking .head .figures')];
    assert.ok(card && needs && needs.x + needs.width <= card.x + card.width, JSON.stringify([card, needs]));
    await narrow.close();
  });

  it('tool card: the name of the file is more than the time in a narrow panel', async () => {
    const { change } = textChange('README.md', 'a\n', 'b\n');
    const done: ToolState = { type: 'done', output: 'ok', ms: 3700 };
    await show(tool('c1', done, { name: 'edit_file', action: { type: 'changes', changes: [change] } }));
    const time = panel.page.getByText('3.7 s');
    assert.ok(await time.isVisible());
    await panel.page.setViewportSize({ width: 240, height: 600 });
    await time.waitFor({ state: 'hidden' });
    const name = panel.page.locator('button.file');
    const cut = await inElement(name, 'layout and style are no text', (each) => each.scrollWidth > each.clientWidth);
    assert.equal(cut, false);
  });

  it('tool card: shows what the editor changed when it saved the file', async () => {
    const { made } = saveEffect(textChange('a.txt', 'a \nb\n', 'a \nB\n'), 'a\nB\n', true) ?? {};
    await show(tool('c1', { type: 'done', output: 'ok' }, { action: { type: 'changes', changes: [made?.change] } }));
    await panel.page.locator('.tool .head').click();
    const card = panel.page.locator('.tool');
    await card.getByText('Lines that the editor changed when it saved the file: 1').waitFor();
    assert.match(await card.locator('.head').innerText(), /\+2\s*−2/);
  });

  it('tool card: a title has only the beginning of a long text', async () => {
    const long = 'x'.repeat(10_000);
    await show(
      tool('c1', WAITING, { name: 'find', origin: 'Server', text: JSON.stringify({ query: long }) }),
      command('c2', long),
      tool(
        'c3',
        { type: 'done', output: 'ok' },
        { action: { type: 'fetch', url: `https://a.example/${long}`, origin: '' } },
      ),
    );
    const titles = await panel.page
      .locator('.tool .head')
      .evaluateAll((all) => all.map((each) => each.outerHTML.length));
    assert.equal(titles.length, 3);
    for (const length of titles) assert.ok(length < 2000, titles.join());
  });

  it('answer: names the attachments that the model did not get', async () => {
    const parts = [{ type: 'text', text: 'Done.' }] as const;
    const omitted = ['shop.png', 'plan\u202E.pdf'];
    await panel.tell(SET, snapshot(transcriptOf(user, { role: 'assistant', parts, omitted, ending: COMPLETE })));
    await panel.page
      .locator('.message.assistant .note')
      .getByText('Left out, because the model does not accept it: shop.png, plan⟨U+202E⟩.pdf')
      .waitFor();
  });

  it('tool card: folds a long diff and states the number of hidden lines', async () => {
    const text = Array.from({ length: 100 }, (_, index) => `line ${index}\n`).join('');
    const action = { type: 'changes', changes: [textChange('a.txt', undefined, text).change] };
    await show(tool('c1', WAITING, { action }));
    assert.equal(await cards().locator('.row').count(), 30);
    await cards().getByRole('button', { name: 'Show 70 more lines' }).click();
    assert.equal(await cards().locator('.row').count(), 100);
  });

  it('tool card: opens the file in its title at the first change', async () => {
    await panel.tell(...(STATES.tools ?? []));
    await cards().getByRole('button', { name: 'Open src/basket.ts' }).click();
    assert.deepEqual(await panel.sentMessages('open-path'), [{ type: 'open-path', path: 'src/basket.ts:1' }]);
  });

  it('tool card: sends a command as the user edited it', async () => {
    await show(command('c1', 'npm test'));
    await typeInto(cards().getByRole('textbox', { name: 'Command' }), 'npm test -- --bail');
    await cards().getByRole('button', { name: 'Allow once' }).click();
    assert.deepEqual(await decisions(), [{ call: 'c1', type: 'once', command: 'npm test -- --bail' }]);
  });

  it('tool card: a command with invisible characters is shown with them and can’t be edited', async () => {
    await show(command('c1', 'echo a\u202e'));
    assert.equal(await cards().getByText('echo a⟨U+202E⟩', { exact: true }).count(), 1);
    assert.equal(await cards().getByRole('textbox', { name: 'Command' }).count(), 0);
  });

  const results: readonly [name: string, state: ToolState, shown: RegExp, failed: boolean][] = [
    ['a failed command', { type: 'done', output: 'x', exitCode: 2, ms: 3200 }, /exit code 2 · 3\.2 s/, true],
    ['a command', { type: 'done', output: 'x', exitCode: 0, ms: 12_000 }, /npm test\s*12 s/, false],
    ['a failed call', { type: 'done', output: 'x', failed: true, ms: 5 }, /Failed$/, true],
    ['a denied call', { type: 'denied', reason: '' }, /Denied$/, false],
    ['a stopped call', { type: 'stopped', unstarted: true }, /Not started$/, false],
  ];
  for (const [name, result, shown, failed] of results) {
    it(`tool card: shows the result of ${name} in one line`, async () => {
      await show(command('c1', 'npm test', result));
      assert.match((await panel.page.locator('.tool').innerText()).trim(), shown);
      assert.equal(await panel.page.locator('.tool .state.failed').count(), failed ? 1 : 0);
      const box = await panel.page.locator('.tool').boundingBox();
      assert.ok(box && box.height < 32, `${box?.height} pixels`);
    });
  }

  it('tool cards: several calls that only read are one line, which unfolds', async () => {
    await panel.tell(...(STATES.tools ?? []));
    const group = panel.page.getByRole('button', { name: 'Read 2 files, 1 search' });
    assert.equal(await panel.page.getByRole('button', { name: 'Read src/item.ts' }).count(), 0);
    await group.click();
    await panel.page.getByRole('button', { name: 'Read src/item.ts' }).click();
    await panel.page.getByText('export interface Item {}').waitFor();
  });

  it('tool cards: several waiting calls are allowed together, except for those with a caution', async () => {
    const cautioned = tool('c3', { type: 'waiting', caution: { kind: 'editor', path: '.vscode/tasks.json' } });
    await show(command('c1', 'a'), command('c2', 'b'), cautioned);
    await panel.page.getByText('3 calls need approval, 1 of them one at a time', { exact: true }).waitFor();
    assert.equal(await panel.page.getByRole('button', { name: 'Allow all' }).count(), 0);
    await panel.page.getByRole('button', { name: 'Allow 2' }).click();
    assert.deepEqual(await decisions(), [
      { call: 'c1', type: 'once' },
      { call: 'c2', type: 'once' },
    ]);
  });

  it('tool cards: are allowed and denied together as the user edited them', async () => {
    await show(command('c1', 'rm -r build'), command('c2', 'b'));
    await typeInto(cards().first().getByRole('textbox', { name: 'Command' }), 'rm -r build/tmp');
    await typeInto(cards().last().getByRole('textbox', { name: 'Reason for denying' }), 'Not now.');
    await panel.page.getByRole('button', { name: 'Allow all' }).click();
    await panel.page.getByRole('button', { name: 'Deny all' }).click();
    assert.deepEqual(await decisions(), [
      { call: 'c1', type: 'once', command: 'rm -r build/tmp' },
      { call: 'c2', type: 'once' },
      { call: 'c1', type: 'deny', reason: '' },
      { call: 'c2', type: 'deny', reason: 'Not now.' },
    ]);
  });

  it('tool cards: what the user typed remains while the page is hidden, until the call is decided', async () => {
    const question = tool('c3', WAITING, { action: { type: 'question', question: 'Which?', choices: [] } });
    const begin = () => show(command('c1', 'rm -r build'), command('c2', 'b'), question);
    const box = (name: string) => panel.page.getByRole('textbox', { name });
    await begin();
    await typeInto(box('Command').first(), 'rm -r build/tmp');
    await typeInto(box('Reason for denying').last(), 'Not now.');
    await typeInto(box('Your answer'), 'vitest');
    await panel.reload();
    await begin();
    assert.equal(await box('Command').first().inputValue(), 'rm -r build/tmp');
    assert.equal(await box('Reason for denying').last().inputValue(), 'Not now.');
    assert.equal(await box('Your answer').inputValue(), 'vitest');
    await cards().first().getByRole('button', { name: 'Allow once' }).click();
    assert.deepEqual(await decisions(), [{ call: 'c1', type: 'once', command: 'rm -r build/tmp' }]);
    await panel.tell(patches(0, state(0, { type: 'allowed' })));
    await panel.tell(patches(1, state(0, WAITING)));
    assert.equal(await box('Command').first().inputValue(), 'rm -r build');
  });

  it('tool cards: the second click of a double click allows nothing', async () => {
    await show(command('c1', 'a'));
    await cards().getByRole('button', { name: 'Allow once' }).dblclick();
    assert.deepEqual(await decisions(), [{ call: 'c1', type: 'once' }]);
  });

  describe('with the keyboard', () => {
    const press = (key: string) => panel.page.keyboard.press(key);
    const focused = () =>
      inPage(panel.page, 'the focus is no text', () => {
        const active = document.activeElement;
        return active?.closest('.tool')?.getAttribute('aria-label') ?? active?.getAttribute('aria-label');
      });

    it('tool cards: a call that begins to wait gets the focus, and Ctrl+Enter allows it', async () => {
      await show(tool('c1', { type: 'running' }), tool('c2', { type: 'receiving' }));
      await panel.page.locator('.composer textarea').focus();
      await panel.tell(
        patches(
          0,
          {
            type: 'action',
            message: 'm1',
            part: 1,
            action: { type: 'command', command: 'ls', cwd: '', explanation: '' },
          },
          state(1, WAITING),
        ),
      );
      assert.equal(await focused(), 'Tool run_in_terminal, ls');
      await press('Enter');
      await press('Space');
      assert.deepEqual(await decisions(), []);
      await press('Control+Enter');
      assert.deepEqual(await decisions(), [{ call: 'c2', type: 'once' }]);
    });

    it('tool cards: after a decision the focus moves to the next waiting call, then to the input', async () => {
      await show(command('c1', 'one'), command('c2', 'two'));
      await cards().first().getByRole('button', { name: 'Allow once' }).focus();
      await press('Enter');
      await panel.tell(patches(0, state(0, { type: 'running' })));
      assert.equal(await focused(), 'Tool run_in_terminal, two');
      await press('Control+Enter');
      await panel.tell(patches(1, state(1, { type: 'running' })));
      assert.equal(await focused(), 'Message');
    });

    it('tool cards: take no focus and no key from a message that is being written', async () => {
      await show(tool('c1', { type: 'receiving' }));
      await typeInto(panel.page.locator('.composer textarea'), 'And then');
      await panel.tell(patches(0, state(0, WAITING)));
      assert.equal(await focused(), 'Message');
      await press('Control+Enter');
      assert.deepEqual(await decisions(), []);
    });

    it('tool cards: Ctrl+Enter does not allow a call while a reason for denying it is written', async () => {
      await show(command('c1', 'ls'));
      await typeInto(cards().getByRole('textbox', { name: 'Reason for denying' }), 'No');
      await press('Control+Enter');
      assert.deepEqual(await decisions(), []);
    });

    it('tool cards: Ctrl+Shift+Enter allows all calls that wait', async () => {
      await show(command('c1', 'one'), command('c2', 'two'));
      await panel.page.locator('.composer textarea').focus();
      await press('Control+Shift+Enter');
      assert.deepEqual(
        (await decisions()).map(({ call }) => call),
        ['c1', 'c2'],
      );
    });

    it('tool cards: ten calls are decided with ten keys, and the one that is decided next is visible', async () => {
      const ids = Array.from({ length: 10 }, (_, index) => `c${index + 1}`);
      await show(...ids.map((id) => command(id, `run ${id}`)));
      await panel.page.locator('.composer textarea').focus();
      await press('Control+Enter');
      // The first press shows the first one if it is above the visible part.
      if ((await decisions()).length === 0) await press('Control+Enter');
      for (const [at, id] of ids.entries()) {
        assert.deepEqual((await decisions()).at(-1), { call: id, type: 'once' });
        await panel.tell(patches(at, state(at, { type: 'running' })));
        if (at === ids.length - 1) break;
        assert.equal(await focused(), `Tool run_in_terminal, run ${ids[at + 1]}`);
        const card = panel.page.locator('.tool.asking').first();
        const box = await card.locator('.approval').boundingBox();
        const list = await panel.page.locator('.transcript').boundingBox();
        assert.ok(box && list && box.y >= list.y && box.y + box.height <= list.y + list.height + 1, id);
        await press('Control+Enter');
      }
      assert.equal(await focused(), 'Message');
      assert.equal((await decisions()).length, 10);
    });

    it('tool cards: the button that leads to the end covers no part of the card, and is absent at the last one', async () => {
      const text = Array.from({ length: 90 }, (_, index) => `Paragraph ${index}.`).join('\n\n');
      const latest = panel.page.getByRole('button', { name: 'Latest' });
      for (const [shown, parts] of [
        ['absent', [{ type: 'text', text }, command('c1', 'ls')]],
        ['below', [{ type: 'text', text }, command('c1', 'ls'), { type: 'text', text }]],
      ] as const) {
        await show(...parts);
        await panel.page.locator('.composer textarea').focus();
        await scrollUp(panel.page, panel.page.locator('.transcript'), 100_000);
        await latest.waitFor();
        await press('Control+Enter');
        await panel.page.locator('.tool.asking:focus').waitFor();
        if (shown === 'absent') await latest.waitFor({ state: 'detached' });
        else {
          const card = await cards().getByRole('button', { name: 'Deny', exact: true }).boundingBox();
          const jump = await latest.boundingBox();
          assert.ok(card && jump && card.y + card.height <= jump.y, JSON.stringify([card, jump]));
        }
      }
    });

    it('tool cards: text typed while a card has the focus goes to the message', async () => {
      await show(tool('c1', { type: 'receiving' }));
      await panel.page.locator('.composer textarea').focus();
      await panel.tell(patches(0, state(0, WAITING)));
      await panel.page.keyboard.type('wait');
      assert.equal(await panel.page.locator('.composer textarea').inputValue(), 'wait');
    });

    it('tool cards: Ctrl+Enter first shows a call that is not visible', async () => {
      const text = Array.from({ length: 90 }, (_, index) => `Paragraph ${index}.`).join('\n\n');
      await show(command('c1', 'ls'), { type: 'text', text });
      await panel.page.locator('.composer textarea').focus();
      await press('Control+Enter');
      assert.deepEqual(await decisions(), []);
      await press('Control+Enter');
      assert.deepEqual(await decisions(), [{ call: 'c1', type: 'once' }]);
    });
  });

  describe('changed files of an answer', () => {
    const files = [
      { path: 'src/shop/cart.ts', added: 7, removed: 1 },
      { path: 'a.txt', added: 3, removed: 0 },
      { path: 'docs/old.md', added: 0, removed: 2 },
    ];
    const turn = { message: 'm1', files, calls: ['c1'], undone: [] };
    const bar = () => panel.page.locator('.turn-bar');
    const change = () => {
      const action = { type: 'changes', changes: [textChange('a.txt', 'a\n', 'b\n').change] };
      return tool('c1', { type: 'done', output: 'Changed.', ms: 4 }, { action });
    };
    const showTurn = async (state: 'pending' | 'kept' | 'undone') => {
      const answer = { role: 'assistant' as const, parts: [change()] as never, ending: COMPLETE };
      await panel.tell(SET, snapshot(transcriptOf(user, answer)));
      await panel.tell({ type: 'turns', turns: [{ ...turn, state, undone: state === 'undone' ? ['c1'] : [] }] });
    };
    const actions = async () => (await panel.sentMessages('turn')).map(({ action, call }) => [action, call].join(' '));

    it('changed files: are counted below the answer, with Review, Undo all and Keep', async () => {
      await showTurn('pending');
      assert.match(await bar().innerText(), /^3 files changed\s*\+10\s*−3/);
      for (const name of ['Review', 'Undo all', 'Keep']) await bar().getByRole('button', { name }).click();
      assert.deepEqual(await actions(), ['review ', 'undo ', 'keep ']);
    });

    it('changed files: stand by name with their counts, and each opens its own diff', async () => {
      await showTurn('pending');
      const rows = bar().getByRole('listitem');
      assert.deepEqual(
        (await rows.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' ').trim()),
        ['cart.ts src/shop +7 −1', 'a.txt +3', 'old.md docs −2'],
      );
      await bar().getByRole('button', { name: 'cart.ts' }).click();
      assert.deepEqual(
        (await panel.sentMessages('turn')).map(({ action, path }) => [action, path]),
        [['review', 'src/shop/cart.ts']],
      );
    });

    it('changed files: Keep is not offered twice, and undone changes can be made again', async () => {
      await showTurn('kept');
      assert.equal(await bar().getByRole('button', { name: 'Keep' }).count(), 0);
      await bar().getByRole('button', { name: 'Undo all' }).focus();
      await showTurn('undone');
      assert.match(await bar().innerText(), /3 files: changes undone/);
      assert.equal(await inPage(panel.page, 'the focus is no text', () => document.activeElement?.textContent), 'Redo');
      await panel.page.keyboard.press('Enter');
      assert.deepEqual(await actions(), ['redo ']);
    });

    it('changed files: one call can be undone alone, and files restored to before a message', async () => {
      await showTurn('pending');
      await panel.page.getByRole('button', { name: 'Edit a.txt' }).click();
      await panel.page.getByRole('button', { name: 'Undo this change' }).click();
      await panel.page.locator('.message.user').hover();
      await panel.page.getByRole('button', { name: 'Restore files to before this message' }).click();
      assert.deepEqual(await actions(), ['undo c1']);
      assert.deepEqual(await panel.sentMessages('restore'), [{ type: 'restore', message: 'm0' }]);
    });
  });

  it('tool card: a question offers its choices and takes another answer', async () => {
    await panel.tell(...(STATES['tool-question'] ?? []));
    await cards().getByRole('button', { name: 'node:test' }).click();
    await typeInto(cards().getByRole('textbox', { name: 'Your answer' }), 'vitest');
    await cards().getByRole('textbox', { name: 'Your answer' }).press('Enter');
    assert.deepEqual(
      (await decisions()).map(({ call: _, ...decision }) => decision),
      [
        { type: 'answer', text: 'node:test' },
        { type: 'answer', text: 'vitest' },
      ],
    );
  });
});
