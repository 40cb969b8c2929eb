import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { readEditAnswer, writeEditPrompt } from '../../../src/wire/edit/edit-dialect.ts';
import { EDIT_DIALECTS, type EditDialect, type EditRequest } from '../../../src/wire/edit/edit-request.ts';
import { parseInceptionEdit } from '../../../src/wire/edit/inception-edit.ts';
import { assertLinear } from '../../linear-time.ts';

const REGION =
  'export function total(items: Item[], rate: number) {\n  let sum = 0;\n  for (const item of items) sum += item.price;\n  return sum;\n}\n';
const REQUEST: EditRequest = {
  path: 'src/basket.ts',
  before: "import type { Item } from './item.ts';\n\n",
  region: REGION,
  after: '\nexport const EMPTY = 0;\n',
  cursor: REGION.indexOf('sum;\n}') + 3,
  startLine: 3,
  fromStart: true,
  original: REGION.replace(', rate: number', ''),
  edits: [
    {
      path: 'src/item.ts',
      diff: '@@ -1,2 +1,2 @@\n export interface Item {\n-  cost: number;\n+  price: number;\n',
      original: 'export interface Item {\n  cost: number;\n',
      updated: 'export interface Item {\n  price: number;\n',
      line: 1,
      predicted: true,
    },
    {
      path: 'src/basket.ts',
      diff: '@@ -3,1 +3,1 @@\n-export function total(items: Item[]) {\n+export function total(items: Item[], rate: number) {\n',
      original: 'export function total(items: Item[]) {\n',
      updated: 'export function total(items: Item[], rate: number) {\n',
      line: 3,
    },
  ],
  snippets: [{ path: 'src/receipt.ts', text: 'console.log(total(items));\n' }],
};
const NEXT = REGION.replace('return sum;', 'return sum * rate;');
const GOLDEN = join(import.meta.dirname, 'golden');

describe('prompts of next edits', () => {
  for (const dialect of EDIT_DIALECTS) {
    it(`${dialect}: the prompt is the published format, byte for byte`, () => {
      const { text, system, prefill } = writeEditPrompt(dialect, REQUEST);
      const written = system === undefined ? text : `${system}\n=== user ===\n${text}`;
      assert.equal(written, readFileSync(join(GOLDEN, `${dialect}.txt`), 'utf8'));
      assert.ok(text.endsWith(prefill));
    });

    it(`${dialect}: at most four stop sequences`, () => {
      assert.ok(writeEditPrompt(dialect, REQUEST).stop.length <= 4);
    });

    it(`${dialect}: code with the marks of the format is refused`, () => {
      const mark = dialect.startsWith('sweep')
        ? '<|file_sep|>'
        : dialect === 'zeta-1'
          ? '<|editable_region_end|>'
          : dialect.startsWith('zeta')
            ? '>>>>>>> UPDATED'
            : '<|code_to_edit|>';
      assert.throws(
        () => writeEditPrompt(dialect, { ...REQUEST, after: `x ${mark}` }),
        /which the model’s format uses itself/,
      );
    });

    it(`${dialect}: an empty file has a prompt`, () => {
      const empty = {
        path: 'a.ts',
        before: '',
        region: '',
        after: '',
        cursor: 0,
        startLine: 1,
        edits: [],
        snippets: [],
      };
      assert.ok(writeEditPrompt(dialect, empty).text.length > 0);
    });
  }

  it('inception-edit: the prompt can be read again', () => {
    const { edits, ...rest } = parseInceptionEdit(writeEditPrompt('inception-edit', REQUEST).text);
    const { original: _, fromStart: __, edits: wanted, ...others } = REQUEST;
    assert.deepEqual(rest, others);
    assert.deepEqual(
      edits,
      wanted.map(({ predicted: ___, ...edit }) => edit),
    );
  });

  for (const [name, content] of [
    ['no file', 'Hello'],
    ['no region', '<|current_file_content|>\ncode\n<|/current_file_content|>'],
    ['no cursor', '<|current_file_content|>\n<|code_to_edit|>\nx\n<|/code_to_edit|>\n<|/current_file_content|>'],
  ] as const) {
    it(`inception-edit: a message with ${name} is refused with the missing tag`, () => {
      assert.throws(() => parseInceptionEdit(content), /The message has no `<\|/);
    });
  }
});

describe('answers of next edits', () => {
  const block = (code: string) => `\`\`\`ts\n${code}\`\`\``;
  const rows: readonly (readonly [EditDialect, string, string, string | undefined])[] = [
    ['inception-edit', 'plain', NEXT, NEXT],
    ['inception-edit', 'in a fence', `\`\`\`\n${NEXT}\`\`\``, NEXT],
    ['inception-edit', 'in its tags', `<|code_to_edit|>\n${NEXT}<|/code_to_edit|>`, NEXT],
    ['inception-edit', 'None', 'None', undefined],
    ['inception-edit', 'the same', REGION, undefined],
    ['inception-edit', 'without the last line break', NEXT.slice(0, -1), NEXT],
    ['inception-edit', 'line breaks of Windows', NEXT.replaceAll('\n', '\r\n'), NEXT],
    ['sweep-1', 'with a stop text', `${NEXT}<|file_sep|>other.ts\nx`, NEXT],
    ['sweep-1', 'empty', '', undefined],
    ['sweep-2', 'with the cursor', NEXT.replace('* rate', '* rate<|cursor|>'), NEXT],
    ['zeta-1', 'between the marks', `<|editable_region_start|>\n${NEXT}<|editable_region_end|>\n\`\`\``, NEXT],
    ['zeta-1', 'without marks', NEXT, undefined],
    ['zeta-2', 'until the mark', `${NEXT}>>>>>>> UPDATED\n`, NEXT],
    ['zeta-2', 'no edits', 'NO_EDITS\n>>>>>>> UPDATED\n', undefined],
    ['zeta-2.1', 'one block', `<|marker_1|>${NEXT}<|marker_2|><[end▁of▁sentence]>`, NEXT],
    ['zeta-2.1', 'the same mark twice', '<|marker_1|><|marker_1|>', undefined],
    ['zeta-2.1', 'a mark that does not exist', `<|marker_1|>${NEXT}<|marker_9|>`, undefined],
    ['zeta-2.1', 'marks in the wrong order', `<|marker_2|>${NEXT}<|marker_1|>`, undefined],
    ['chat-patch', 'one block', block(NEXT), NEXT],
    ['chat-patch', 'with its tags', block(`<|code_to_edit|>\n${NEXT}<|/code_to_edit|>\n`), NEXT],
    ['chat-patch', 'no edit', '<NO_EDIT>', undefined],
    ['chat-patch', 'prose', 'I would multiply by the rate.', undefined],
    ['chat-patch', 'the same', block(REGION), undefined],
  ];
  for (const [dialect, name, answer, expected] of rows) {
    it(`${dialect}: ${name}`, () => {
      assert.equal(readEditAnswer(dialect, REQUEST, answer), expected);
    });
  }

  it('zeta-2.1: the blocks between two marks are replaced, for any region and any two marks', () => {
    const line = fc.constantFrom('', 'code();', '  }', 'return;', 'if (x) {');
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 80 }), fc.nat(), fc.nat(), (lines, a, b) => {
        const region = `${lines.join('\n')}\n`;
        const { text } = writeEditPrompt('zeta-2.1', { ...REQUEST, region, cursor: 0 });
        const body = text.slice(text.indexOf('<|marker_1|>')).replace('<|user_cursor|>', '');
        const blocks = body
          .replace('<[fim-middle]>', '')
          .split(/<\|marker_\d+\|>/)
          .slice(1, -1);
        assert.equal(blocks.join(''), region);
        const [first, last] = [a % blocks.length, b % blocks.length].sort((x, y) => x - y) as [number, number];
        const answer = `<|marker_${first + 1}|>new();\n<|marker_${last + 2}|>`;
        const expected = [...blocks.slice(0, first), 'new();\n', ...blocks.slice(last + 1)].join('');
        assert.equal(readEditAnswer('zeta-2.1', { ...REQUEST, region }, answer) ?? region, expected);
      }),
    );
  });

  for (const dialect of EDIT_DIALECTS) {
    it(`${dialect}: a long hostile answer takes linear time`, async () => {
      for (const piece of ['<|marker_1|>', '```\n', '<|code_to_edit|>\n', '\n', '<|cursor|>', '>>>>>>> '])
        await assertLinear(
          50_000,
          (size) => piece.repeat(size),
          (answer) => readEditAnswer(dialect, REQUEST, answer),
        );
    });
  }
});
