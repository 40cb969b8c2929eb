import assert from 'node:assert/strict';
import { join } from 'node:path';
import { came, OPENS_WITHIN_MS, runCommand } from '../host/workbench.ts';
import { type CompletionHarness, clear, startCompletionHarness } from './completion-harness.ts';

const CLOSING_TAGS = {
  publisher: 'test',
  name: 'closing-tags',
  displayName: 'Closing tags',
  main: join(import.meta.dirname, 'closing-tags.cjs'),
  contributes: { languages: ['vue', 'svelte'].map((id) => ({ id, extensions: [`.${id}`] })) },
};

/**
 * A tag that is typed, how the editor closes it, the answer of the model, the end of the ghost text, whether it is dismissed and
 * requested again, and the lines then.
 */
const ELEMENTS = [
  {
    typed: '<nav>',
    closed: ['</nav>'],
    answer: '\n  <a>one</a>\n  <a>two</a>\n</nav>',
    // What is after the caret is drawn after the last line.
    shown: '</nav>',
    manual: true,
    lines: '<nav>\n  <a>one</a>\n  <a>two</a>\n</nav>',
  },
  {
    typed: '<div><b>',
    // The outer tag is closed if the language server answers before the next key.
    closed: ['</b>', '</b></div>'],
    answer: 'bold</b></div>',
    shown: '',
    manual: false,
    lines: '<div><b>bold</b></div>',
  },
  { typed: '<p>', closed: ['</p>'], answer: 'Hello</p>', shown: 'Hello', manual: true, lines: '<p>Hello</p>' },
] as const;

const FILES = ['tags.html', 'tags.tsx', 'tags.vue', 'tags.svelte'];

describe('ghost text in an element that the editor closed', () => {
  let at: CompletionHarness;

  before(async () => {
    at = await startCompletionHarness({ otherExtensions: [CLOSING_TAGS] });
  });
  after(() => at?.close());
  afterEach(() => clear(at));

  for (const file of FILES) {
    it(`ghost text: fits between tags, automatically and by the command: ${file}`, async () => {
      await at.edit(file, '');
      await tagsAreClosed();
      const expected: string[] = [];
      for (const element of ELEMENTS) {
        await typeElement(element);
        await at.page.keyboard.press('ControlOrMeta+End');
        await at.page.keyboard.press('Enter');
        expected.push(element.lines);
      }
      assert.equal(await at.saved(file), `${expected.join('\n')}\n`);
    });
  }

  async function typeElement({ typed, closed, answer, shown, manual }: (typeof ELEMENTS)[number]): Promise<void> {
    const { keyboard } = at.page;
    // Not what is requested in advance for the text after it.
    at.answer = (prompt) => (prompt.endsWith(typed) ? [answer] : ['']);
    await at.type(typed.slice(0, -1));
    await keyboard.type('>');
    await isInFile(closed.map((end) => typed + end));
    await at.appears(shown);
    if (manual) {
      await keyboard.press('Escape');
      await at.gone();
      await runCommand(at.page, 'Svc: Trigger Completion');
      await at.appears(shown);
    }
    await at.accept();
    await at.gone();
  }

  /** Waits until the language server of the file closes tags: it is started when the file opens. */
  async function tagsAreClosed(): Promise<void> {
    const { keyboard } = at.page;
    for (let closed = false; !closed; ) {
      await keyboard.press('ControlOrMeta+A');
      await keyboard.press('Delete');
      await at.type('<i');
      await keyboard.type('>');
      closed = await came(isInFile(['<i></i>'], OPENS_WITHIN_MS));
    }
    await keyboard.press('ControlOrMeta+A');
    await keyboard.press('Delete');
  }

  /** Waits until a line is one of these, without the ghost text in it. */
  async function isInFile(texts: readonly string[], timeout?: number): Promise<void> {
    const limit = timeout === undefined ? {} : { timeout };
    await at.page.waitForFunction(
      (wanted) => {
        const lines = [...document.querySelectorAll('.view-lines > .view-line')];
        const parts = (line: Element) => [...line.querySelectorAll(':scope > span > span')];
        const isReal = (part: Element) => !/(?:^| )ghost-text(?!-hidden)/.test(part.className);
        const read = (line: Element) =>
          parts(line)
            .filter(isReal)
            .map((part) => part.textContent ?? '');
        return lines.some((line) => wanted.includes(read(line).join('').replaceAll('\u00a0', ' ')));
      },
      texts,
      limit,
    );
  }
});
