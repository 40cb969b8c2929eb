import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitUntil } from '../host/wait-until.ts';
import { came, LOOK_AGAIN, OPENS_WITHIN_MS, runCommand } from '../host/workbench.ts';
import { type CompletionHarness, clear, startCompletionHarness } from './completion-harness.ts';

const HANGING = {
  publisher: 'test',
  name: 'hanging-language',
  displayName: 'Hanging language',
  main: join(import.meta.dirname, 'hanging-language.cjs'),
  contributes: { languages: [{ id: 'toy', extensions: ['.toy'] }] },
};

const SHAPES = `export class Shape {
  private hidden = 1;
  area(scale: number): number {
    return scale * secretOfTheBody;
  }
}
`;
const FACTORY = `import { Shape } from './shapes';
export const create = () => new Shape();
`;
const USER = `import { create } from './factory';
export function sum(): number {
  const shape = create();
  `;

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

describe('completions beside language servers', () => {
  let at: CompletionHarness;

  before(async () => {
    at = await startCompletionHarness({ otherExtensions: [HANGING, CLOSING_TAGS] });
    mkdirSync(join(at.vscode.workspace, 'shapes'));
    writeFileSync(join(at.vscode.workspace, 'shapes', 'shapes.ts'), SHAPES);
    writeFileSync(join(at.vscode.workspace, 'shapes', 'factory.ts'), FACTORY);
    writeFileSync(join(at.vscode.workspace, 'tsconfig.json'), '{ "include": ["shapes"] }');
  });
  after(() => at?.close());
  afterEach(() => clear(at));

  describe('context of completions in a real editor', () => {
    const prompts = () => at.completionRequests().map(({ body }) => `${body.prompt}`);

    /**
     * Types until a request has what is expected: a language server may still be loading. Pauses like a person does: on a
     * busy machine, what each key causes piles up without an end.
     */
    async function typeUntil(expected: string): Promise<string> {
      const isSent = () => prompts().find((prompt) => prompt.includes(expected));
      await waitUntil(
        `a request with ${expected}`,
        async () => {
          await at.type('x + ');
          return isSent() ?? prompts();
        },
        () => isSent() !== undefined,
        1_000,
      );
      return isSent() ?? '';
    }

    it('context: has the members of a type that is not imported, without bodies, from TypeScript', async () => {
      at.answer = ['¤'];
      await at.edit('shapes/user.ts', USER);
      const prompt = await typeUntil('area(scale: number): number');
      for (const absent of ['secretOfTheBody', 'hidden']) {
        if (prompt.includes(absent)) throw new Error(`The prompt has ${absent}:\n${prompt}`);
      }
    });

    it('context: has the signature of the call at the cursor, from TypeScript', async () => {
      at.answer = ['¤'];
      await at.edit('shapes/call.ts', 'const one = 1;\nconst copy = structuredClone(one, ');
      await typeUntil('+++++ Expected: shapes/call.ts\nstructuredClone(value');
    });

    it('context: a language server that hangs or is wrong delays nothing, and visited files count', async () => {
      at.answer = ['helper();'];
      await at.edit('helper.toy', 'let helper = 1\n');
      await at.edit('user.toy', 'let user = helper\nlet other = ');
      await at.type('1 + ');
      await at.shows('helper();');
      await typeUntil('+++++ helper.toy\nlet helper = 1');
    });
  });

  describe('ghost text in an element that the editor closed', () => {
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
      const limit = timeout === undefined ? LOOK_AGAIN : { ...LOOK_AGAIN, timeout };
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
});
