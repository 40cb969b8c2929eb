import assert from 'node:assert/strict';
import { showsStyles } from '../../src/cli/output/output.ts';
import { TerminalMarkdown } from '../../src/cli/output/terminal-markdown.ts';
import { assertLinear } from '../linear-time.ts';

const NAMES: Readonly<Record<string, string>> = {
  '1': 'b',
  '22': '/b',
  '3': 'i',
  '23': '/i',
  '9': 's',
  '29': '/s',
  '36': 'c',
  '39': '/c',
  '2': 'd',
  '1;35': 'h',
  '4': 'u',
  '24': '/u',
  '0': '/',
};

/** The output with readable names of the styles. */
function render(pieces: readonly string[]): string {
  const markdown = new TerminalMarkdown();
  const out = pieces.map((piece) => markdown.write(piece)).join('') + markdown.end();
  return out.replaceAll(/\u001b\[([\d;]+)m/g, (_whole, code: string) => `<${NAMES[code] ?? code}>`);
}

const CASES: readonly (readonly [title: string, markdown: string, expected: string])[] = [
  ['plain text', 'Hello there.\nBye.', 'Hello there.\nBye.'],
  ['emphasis', 'a **bold** and *italic* and ~~old~~ end', 'a <b>bold</b> and <i>italic</i> and <s>old</s> end'],
  ['bold within italic', '*a **b** c*', '<i>a <b>b</b><i> c</i>'],
  [
    'names and products are not emphasis',
    'snake_case_name and 2 * 3 * 4 and a*b',
    'snake_case_name and 2 * 3 * 4 and a*b',
  ],
  ['inline code', 'use `a **b**` and ``x`y``', 'use <c>a **b**</c> and <c>x`y</c>'],
  ['headings', '# One\ntext\n### Three', '<h>One</>\ntext\n<h>Three</>'],
  ['lists', '- one\n  * two\n1. three', '• one\n  • two\n1. three'],
  ['quotes', '> said **so**', '<d>│ </b>said <b>so</b>'],
  ['rules', 'a\n\n---\nb', `a\n\n<d>${'─'.repeat(40)}</b>\nb`],
  [
    'code blocks',
    '```ts\nconst a = **1**;\n\n  - b\n```\nend',
    '<d>─── ts</b>\n<c>const a = **1**;</c>\n\n<c>  - b</c>\n<d>───</b>\nend',
  ],
  ['links', 'see [the docs](https://x.example/a) or [1]', 'see <u>the docs</u> (https://x.example/a) or [1]'],
  ['escapes', 'a \\*star\\* and a\\b', 'a *star* and a\\b'],
  ['unclosed emphasis ends with the line', 'a **b\nc', 'a <b>b</>\nc'],
  ['sequences of a model', 'a \u001b]52;c;x\u0007 b', 'a ␛]52;c;x␇ b'],
];

describe('Markdown in a terminal', () => {
  for (const [title, markdown, expected] of CASES) {
    it(`terminal Markdown: ${title}, in one piece and character by character`, () => {
      assert.equal(render([markdown]), expected);
      assert.equal(render([...markdown]).replaceAll('</c><c>', ''), expected);
    });
  }

  it('terminal Markdown: text is written as it arrives, except for a possible marker', () => {
    const markdown = new TerminalMarkdown();
    assert.equal(markdown.write('Hello wor'), 'Hello wor');
    assert.equal(markdown.write('ld *'), 'ld ');
    assert.equal(markdown.write(' x'), '* x');
  });

  for (const piece of ['*', '_', '`', '[', '[a](', '> ', '- ', '#', '~', '\\', '  ', '*a ', '```\n']) {
    it(`terminal Markdown: takes linear time in the number of ${JSON.stringify(piece)}`, () =>
      assertLinear(
        25_000,
        (size) => piece.repeat(size),
        (text) => {
          const markdown = new TerminalMarkdown();
          markdown.write(text);
          markdown.end();
        },
      ));
  }

  it('terminal Markdown: styles need a terminal, and NO_COLOR turns them off', () => {
    const shows = (isTTY: boolean, env: Readonly<Record<string, string>>) => showsStyles({ isTTY }, env);
    assert.deepEqual(
      [shows(true, {}), shows(false, {}), shows(true, { NO_COLOR: '1' }), shows(true, { TERM: 'dumb' })],
      [true, false, false, false],
    );
  });
});
