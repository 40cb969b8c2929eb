import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Page } from 'playwright-core';
import { observePage } from '../host/failure-report.ts';
import { inPage } from '../host/person.ts';
import { CORPUS } from './markdown-corpus.ts';
import { type PanelHost, startPanelHost } from './panel-page.ts';

/** The result for pieces of `size` characters and for the whole text. They are equal except for the split of code. */
interface Comparison {
  readonly size: number;
  readonly pieces: string;
  readonly whole: string;
}

describe('Markdown that arrives in pieces', () => {
  let host: PanelHost;
  let page: Page;
  before(async () => {
    host = await startPanelHost();
    page = await (await host.browser.newContext()).newPage();
    observePage(page);
    await page.goto(`${host.url}/panel.html?open`);
    await page.addScriptTag({ url: '/writer.js', type: 'module' });
    await page.waitForFunction(() => 'MarkdownWriter' in window);
  });
  after(() => host.close());

  /** The first size that gives another result than the whole text. */
  function firstDifference(text: string, sizes: readonly number[]): Promise<Comparison | undefined> {
    return inPage(
      page,
      'the document is inspected',
      ({ text, sizes }) => {
        interface Writer {
          append(text: string): void;
          end(): void;
        }
        const { MarkdownWriter, writeWhole } = window as unknown as {
          MarkdownWriter: new (root: HTMLElement) => Writer;
          writeWhole: (root: HTMLElement, text: string) => void;
        };
        const plain = (root: HTMLElement) => {
          for (const code of root.querySelectorAll('pre code')) code.replaceChildren(code.textContent ?? '');
          root.normalize();
          // Spaces between blocks are invisible.
          return root.innerHTML
            .replace(/>\n+/g, '>')
            .replace(/\n+</g, '<')
            .replace(/<!---->/g, '');
        };
        const reference = document.createElement('div');
        writeWhole(reference, text);
        const whole = plain(reference);
        for (const size of sizes) {
          const root = document.createElement('div');
          const writer = new MarkdownWriter(root);
          for (let at = 0; at < text.length; at += size) writer.append(text.slice(at, at + size));
          writer.end();
          const pieces = plain(root);
          if (pieces !== whole) return { size, pieces, whole };
        }
        return undefined;
      },
      { text, sizes: [...sizes] },
    );
  }

  const SIZES = Array.from({ length: 64 }, (_, index) => index + 1);
  for (const [name, text] of Object.entries(CORPUS)) {
    it(`Markdown: pieces of 1 to 64 characters give the same result as the whole text: ${name}`, async () => {
      const difference = await firstDifference(text, SIZES);
      assert.equal(difference?.pieces, difference?.whole, `pieces of ${difference?.size}`);
    });
  }

  it('Markdown: pieces give the same result as the whole text for any mixture of lines', async () => {
    const lines = [...new Set(Object.values(CORPUS).flatMap((text) => text.split(/\r?\n/)))];
    const text = fc.array(fc.constantFrom(...lines), { maxLength: 12 }).map((chosen) => chosen.join('\n'));
    await fc.assert(
      fc.asyncProperty(text, fc.integer({ min: 1, max: 40 }), async (mixture, size) => {
        const difference = await firstDifference(mixture, [1, size]);
        assert.equal(difference?.pieces, difference?.whole, JSON.stringify(mixture));
      }),
      { numRuns: 150 },
    );
  });

  it('Markdown: complete blocks keep their elements in the page', async () => {
    const kept = await inPage(page, 'the document is inspected', () => {
      const { MarkdownWriter } = window as unknown as {
        MarkdownWriter: new (root: HTMLElement) => { append(text: string): void };
      };
      const root = document.createElement('div');
      const writer = new MarkdownWriter(root);
      writer.append('# Title\n\nFirst paragraph.\n\nSecond\n');
      const [heading, paragraph] = root.children;
      for (const word of ' goes on\n\n```js\nlet a;\nlet b;\n'.split('')) writer.append(word);
      return heading === root.children[0] && paragraph === root.children[1];
    });
    assert.equal(kept, true);
  });

  it('Markdown: a long fence grows in blocks of 8 lines whose text is the source', async () => {
    const { blocks, equal } = await inPage(page, 'the document is inspected', () => {
      const { MarkdownWriter } = window as unknown as {
        MarkdownWriter: new (root: HTMLElement) => { append(text: string): void };
      };
      const root = document.createElement('div');
      const writer = new MarkdownWriter(root);
      const source = Array.from({ length: 200 }, (_, line) => `line ${line}`).join('\n');
      writer.append(`\`\`\`\n${source}`);
      return {
        blocks: root.querySelectorAll('.lines').length,
        equal: root.querySelector('code')?.textContent === source,
      };
    });
    assert.deepEqual({ blocks, equal }, { blocks: 25, equal: true });
  });

  /** The texts of the elements that a selector finds in a text. */
  function found(text: string, selector: string): Promise<readonly string[]> {
    return inPage(
      page,
      'the document is inspected',
      ({ text, selector }) => {
        const { writeWhole } = window as unknown as { writeWhole: (root: HTMLElement, text: string) => void };
        const root = document.createElement('div');
        writeWhole(root, text);
        return [...root.querySelectorAll(selector)].map((each) => each.textContent ?? '');
      },
      { text, selector },
    );
  }

  it('Markdown: a block that contains a Markdown file is one block with the whole file', async () => {
    const file = '# Title\n\n```bash\nnpm install\n```\n\n## Use\n\n```js\nrun();\n```\n\nThe end.';
    const text = `Save this:\n\n\`\`\`markdown\n${file}\n\`\`\`\n\nThat was all.`;
    assert.deepEqual(await found(text, 'pre code'), [file]);
    assert.deepEqual(await found(text, 'h2'), []);
  });

  const TREE = '# T\n\n## Files\n\n```\nsrc/\n  a.ts\n```\n\nRun:\n```\nnpm start\n```\n\n```js\nx();\n```\n\nEnd.';
  /** Answers, and the texts of their blocks. */
  const BARE: Readonly<Record<string, readonly [answer: string, ...blocks: readonly string[]]>> = {
    'a tree, a command and a block with a language': [`Save:\n\n\`\`\`markdown\n${TREE}\n\`\`\`\n\nDone.`, TREE],
    'a file at the end of the answer': [`\`\`\`md\n${TREE}\n\`\`\``, TREE],
    'a file, then a block of the answer': ['```md\n# T\n```\n\nRun:\n\n```\nls\n```\n\nEnd.', '# T', 'ls'],
    'a file that ends after a blank line, then a block': ['```md\n# T\n\n```\n\nRun:\n\n```\nls\n```', '# T\n', 'ls'],
    'no text after the fence': ['```md\n# T\n\n```\n```\nEnd.\n', '# T\n', 'End.'],
    'code that is no Markdown': ['```sh\necho:\n\n```\nls\n```\n', 'echo:\n', ''],
    'a longer fence outside': ['````md\nRun:\n\n```\nls\n```\n````\nEnd.', 'Run:\n\n```\nls\n```'],
  };
  for (const [name, [answer, ...blocks]] of Object.entries(BARE)) {
    it(`Markdown: fences without a language in a file: ${name}`, async () => {
      assert.deepEqual(await found(answer, 'pre code'), blocks);
    });
  }

  const NO_FORMULAS = [
    'It costs $5 and $10.',
    'Between $5, or 10$ a month.',
    'From $100 (was 120$) on.',
    'Pay $5k or $10k.',
    'Set $HOME and $PATH.',
    'Set $HOME/bin:$PATH.',
    'Set $HOME, $PATH, and $',
    'Join ${a}/${b} and $(a)/$(b).',
    'Read `$a` and `$b`, or $a and `$b$`.',
    'The process $$ and $$.',
    'Escaped \\[link\\](x) and \\(see below\\).',
  ];
  for (const text of NO_FORMULAS) {
    it(`Markdown: no formula: ${text}`, async () => assert.deepEqual(await found(text, '.math'), []));
  }

  it('Markdown: formulas', async () => {
    const text = 'With $x$, $2 + 2 = 4$, $ABC$, $\\alpha_1$, \\(y\\), $$\\int f$$ and $10$.';
    assert.equal((await found(text, '.math')).length, 7);
  });
});
