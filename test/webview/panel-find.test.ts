import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import type { Part } from '../../src/chat/transcript.ts';
import type { ToPage } from '../../src/protocol/chat/page-messages.ts';
import { clickAndType, inPage } from '../host/person.ts';
import {
  COMPLETE,
  type OpenOptions,
  type Panel,
  type PanelHost,
  snapshot,
  startPanelHost,
  transcriptOf,
  VIEW,
} from './panel-page.ts';

const SET: ToPage = { type: 'model', model: VIEW };
const text = (value: string): Part => ({ type: 'text', text: value });
const talk = (question: string, answer: string) =>
  snapshot(transcriptOf({ parts: [text(question)] }, { parts: [text(answer)], ending: COMPLETE }));

describe('find in the conversation', () => {
  let host: PanelHost;
  let panel: Panel;
  const show = async (messages: readonly ToPage[], options: OpenOptions = {}) => {
    await panel?.close();
    panel = await host.open(options);
    await panel.tell(SET, ...messages);
    await panel.page.getByRole('textbox', { name: 'Message' }).click();
  };
  const bar = () => panel.page.getByRole('search');
  const status = () => bar().getByRole('status');
  /** Ctrl+F and the query, without a pause between the keys. */
  const find = async (query: string) => {
    const { keyboard } = panel.page;
    // Sent in this order. `press` would hold Ctrl while the first letters are typed.
    const keys = [keyboard.down('Control'), keyboard.down('f'), keyboard.up('f'), keyboard.up('Control')];
    await Promise.all([...keys, keyboard.type(query)]);
  };
  const shows = (count: string) => status().getByText(count, { exact: true }).waitFor();

  before(async () => {
    host = await startPanelHost();
  });
  after(async () => {
    await panel?.close();
    await host?.close();
  });

  it('find: Ctrl+F takes the next keys, counts the places and goes around them by Enter', async () => {
    await show([talk('Where is the basket?', 'The Basket is in `basket.ts`, beside the other BASKETS.')]);
    await find('basket');
    await shows('1 of 4');
    assert.deepEqual(await highlighted(panel.page), { all: ['basket', 'Basket', 'basket', 'BASKET'], shown: 'basket' });
    for (const count of ['2 of 4', '3 of 4', '4 of 4', '1 of 4']) {
      await panel.page.keyboard.press('Enter');
      await shows(count);
    }
    await panel.page.keyboard.press('Shift+Enter');
    await shows('4 of 4');
    assert.equal((await highlighted(panel.page)).shown, 'BASKET');
    await panel.page.keyboard.press('Shift+F3');
    await shows('3 of 4');
    await bar().getByRole('button', { name: 'Next match' }).click();
    await shows('4 of 4');
  });

  it('find: Escape closes it, and the next keys are those of the message, which is kept', async () => {
    const running = { role: 'assistant' as const, parts: [text('Answer')] };
    await show([snapshot(transcriptOf({ parts: [text('Question')] }, running))]);
    await panel.page.keyboard.type('My dr');
    await find('answer');
    await shows('1 of 1');
    await Promise.all([panel.page.keyboard.press('Escape'), panel.page.keyboard.type('aft')]);
    await bar().waitFor({ state: 'detached' });
    assert.equal(await panel.page.getByRole('textbox', { name: 'Message' }).inputValue(), 'My draft');
    assert.deepEqual(await highlighted(panel.page), { all: [] });
    // Nor does it stop the answer, which the next one does.
    assert.deepEqual(await panel.sentMessages('stop'), []);
    await find('answer');
    await panel.page.getByRole('textbox', { name: 'Message' }).click();
    await panel.page.keyboard.press('Escape');
    await bar().waitFor({ state: 'detached' });
    assert.deepEqual(await panel.sentMessages('stop'), []);
    await panel.page.keyboard.press('Escape');
    assert.equal((await panel.sentMessages('stop')).length, 1);
  });

  it('find: after a click into the conversation, Escape closes it, too', async () => {
    await show([talk('Question', 'Answer')]);
    await find('answer');
    await panel.page.getByText('Answer', { exact: true }).click();
    await panel.page.keyboard.press('Escape');
    await bar().waitFor({ state: 'detached' });
  });

  it('find: opened again, it has the last query selected, or the text that is selected in the conversation', async () => {
    await show([talk('Question', 'Answer with wonders')]);
    await find('answer');
    await panel.page.keyboard.press('Escape');
    await find('');
    await shows('1 of 1');
    await panel.page.keyboard.type('question');
    await shows('1 of 1');
    assert.equal(await bar().getByRole('textbox').inputValue(), 'question');
    await panel.page.getByText('wonders').dblclick({ position: { x: 5, y: 5 } });
    await find('');
    assert.equal(await bar().getByRole('textbox').inputValue(), 'Answer');
  });

  it('find: a match may go through bold text, code and line ends, but not through two paragraphs', async () => {
    await show([talk('Question', 'It **adds** the `price`\nof all items\n\nand rounds.')]);
    for (const [query, count] of [
      ['it adds the price of all', '1 of 1'],
      ['ADDS THE', '1 of 1'],
      ['items and', 'No results'],
      ['itemsand', 'No results'],
    ] as const) {
      await find(query);
      await shows(count);
    }
  });

  it('find: characters with special meanings, other scripts and letters that change their length are text', async () => {
    await show([talk('a.*b (x|y) [z] $1 \\d', 'İstanbul, STRASSE, Ωmega, 日本語, 👩‍💻 end, "quote"')]);
    for (const query of ['.*b (x|y)', '[z] $1 \\d', 'istanbul, str', 'ωMEGA', '本語', '👩‍💻 end', '"quote"']) {
      await find(query);
      const wanted = query === 'istanbul, str' ? 'No results' : '1 of 1';
      await shows(wanted);
    }
    await find('stanbul, strasse');
    await shows('1 of 1');
    assert.equal((await highlighted(panel.page)).shown, 'stanbul, STRASSE');
  });

  it('find: letters after a click on its buttons, or while one has the focus, belong to the query', async () => {
    await show([talk('Question', 'Answer of a quest')]);
    await find('quest');
    await shows('1 of 2');
    await clickAndType(panel.page, bar().getByRole('button', { name: 'Next match' }), 'x');
    await shows('No results');
    await panel.page.keyboard.press('Backspace');
    await shows('2 of 2');
    await panel.page.keyboard.press('Tab');
    await panel.page.keyboard.type('i');
    await shows('1 of 1');
    await panel.page.keyboard.press('Enter');
    assert.deepEqual(await panel.sentMessages('send'), []);
    assert.equal(await panel.page.getByRole('textbox', { name: 'Message' }).inputValue(), '');
  });

  it('find: searches the conversation, not the buttons and labels of the page', async () => {
    const code = Array.from({ length: 60 }, (_, line) => `x${line}`).join('\n');
    await show([talk('Question', `one<br>two\n\n\`\`\`python\n${code}\n\`\`\``)]);
    for (const [query, count] of [
      ['show all', 'No results'],
      ['python', 'No results'],
      ['onetwo', 'No results'],
      ['one two', '1 of 1'],
      ['x59', '1 of 1'],
    ] as const) {
      await find(query);
      await shows(count);
    }
    await seen(panel.page);
  });

  it('find: a place far down in the output of a tool is shown in it', async () => {
    const lines = Array.from({ length: 39 }, (_, line) => `output ${line}`).join('\n');
    const tool: Part = {
      ...{ type: 'tool', id: 'c1', name: 'list_files', origin: 'Svc', changes: false, text: '{"path":"."}' },
      state: { type: 'done', output: lines, ms: 10 },
    };
    await show([
      snapshot(transcriptOf({ parts: [text('Question')] }, { parts: [tool, text('Done.')], ending: COMPLETE })),
    ]);
    await panel.page.locator('.tool .head').click();
    await panel.page.getByText('output 0').waitFor();
    await find('output 38');
    await shows('1 of 1');
    await seen(panel.page);
  });

  it('find: in another conversation, it finds the same text from its first visible message on', async () => {
    await show([talk('apple', 'apple and apple')]);
    await find('apple');
    await panel.page.keyboard.press('Enter');
    await panel.page.keyboard.press('Enter');
    await shows('3 of 3');
    const other = transcriptOf(
      { id: 'n0', parts: [text('one apple')] },
      { id: 'n1', parts: [text('no apple')], ending: COMPLETE },
    );
    await panel.tell({ ...snapshot(other), session: 'other' } as ToPage);
    await shows('1 of 2');
  });

  it('find: what is folded or off the screen is shown when its turn comes', async () => {
    const lines = Array.from(
      { length: 120 },
      (_, line) => `const line${line} = ${line};${' '.repeat(line === 100 ? 200 : 0)}// end`,
    );
    const filler = Array.from({ length: 60 }, (_, line) => `Paragraph ${line}.`).join('\n\n');
    await show([talk('Question', `${filler}\n\n\`\`\`ts\n${lines.join('\n')}\n\`\`\`\n\n${filler}`)]);
    await find('line100');
    await shows('1 of 1');
    await seen(panel.page);
    // From where the search began, not from the match before.
    await find('paragraph 59');
    await shows('1 of 2');
    await seen(panel.page);
    await panel.page.keyboard.press('Enter');
    await shows('2 of 2');
    await seen(panel.page);
  });

  it('find: in a conversation of 400 messages, the first one is found and shown', async () => {
    const messages = Array.from({ length: 400 }, (_, index) => ({
      parts: [text(index % 2 ? `Answer **${index}** with [needle](https://example.com/needle)` : `Question ${index}`)],
      ...(index % 2 ? { ending: COMPLETE } : {}),
    }));
    await show([snapshot(transcriptOf(...messages))]);
    await find('question 0');
    await shows('1 of 1');
    await seen(panel.page);
    // A search for another text goes on from here.
    await panel.page.keyboard.press('Enter');
    await find('needle');
    await shows('1 of 200');
    await panel.page.keyboard.press('Shift+Enter');
    await shows('200 of 200');
    await seen(panel.page);
  });

  it('find: counts what arrives while it is open, and stays at its match', async () => {
    await show([snapshot(transcriptOf({ parts: [text('one apple')] }, { parts: [text('two ')] }))]);
    await find('apple');
    await shows('1 of 1');
    const append = (seq: number, value: string): ToPage => ({
      ...{ type: 'patches', session: 's', from: seq - 1, seq },
      patches: [{ type: 'append', message: 'm1', part: 0, kind: 'text', text: value }],
    });
    await panel.tell(append(1, 'apples and **an '), append(2, 'apple** more\n\n'));
    await shows('1 of 3');
    await panel.page.keyboard.press('Enter');
    await shows('2 of 3');
    await panel.tell(append(3, 'apple\n\napple'));
    await shows('2 of 5');
  });

  it('find: shows the bar in a narrow panel without scrolling sideways', async () => {
    await show([talk('Question', 'Answer')], { width: 240 });
    await find('something that is long and that is not there');
    await shows('No results');
    const fits = await inPage(
      panel.page,
      'layout and style are no text',
      () => document.body.scrollWidth <= innerWidth,
    );
    assert.equal(fits, true);
    await panel.page.keyboard.press('Tab');
    await panel.page.keyboard.press('Enter');
    await bar().waitFor({ state: 'detached' });
  });
});

/** Texts that are highlighted. */
function highlighted(page: Page): Promise<{ all: readonly string[]; shown?: string }> {
  return inPage(page, 'highlights are no elements', () => {
    const texts = (name: string) =>
      [...(CSS.highlights.get(name) ?? [])].map(({ startContainer, startOffset, endContainer, endOffset }) => {
        const range = document.createRange();
        range.setStart(startContainer, startOffset);
        range.setEnd(endContainer, endOffset);
        return range.toString();
      });
    const [shown] = texts('found-shown');
    return { all: texts('found'), ...(shown === undefined ? {} : { shown }) };
  });
}

/** Waits until the shown match is in sight: in the conversation and in what scrolls in it, not behind the bar of its code. */
async function seen(page: Page): Promise<void> {
  await page.waitForFunction(() => {
    const [range] = CSS.highlights.get('found-shown') ?? [];
    if (!(range instanceof Range)) return false;
    const box = range.getBoundingClientRect();
    if (box.height === 0) return false;
    const bar = range.startContainer.parentElement?.closest('.code')?.querySelector('.code-bar');
    for (let at = range.startContainer.parentElement; at; at = at.parentElement) {
      const frame = at.getBoundingClientRect();
      if (getComputedStyle(at).overflow === 'visible') continue;
      if (box.top < frame.top || box.bottom > frame.bottom || box.left < frame.left || box.right > frame.right)
        return false;
    }
    return !bar || box.top >= bar.getBoundingClientRect().bottom;
  });
}
