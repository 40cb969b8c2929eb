import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { applyTextEdits } from '../../src/chat/tools/text-edit.ts';
import { assertLinear } from '../linear-time.ts';

const replace = (text: string, oldText: string, newText: string, all = false) =>
  applyTextEdits('a.ts', text, [{ oldText, newText, all }]);

describe('text edits of a model', () => {
  const CASES: readonly [name: string, text: string, oldText: string, newText: string, result: string][] = [
    ['in one line', 'a old b\n', 'old', 'new', 'a new b\n'],
    ['with Windows line ends, written with \\n', 'a\r\nb\r\nc\r\n', 'a\nb', 'a\nx\ny', 'a\r\nx\r\ny\r\nc\r\n'],
    ['with Windows line ends in both', 'a\r\nb\r\n', 'a\r\nb\r\n', 'x\r\n', 'x\r\n'],
    ['written with Windows line ends, of a Unix file', 'a\nb\n', 'a\r\nb', 'x\r\ny', 'x\ny\n'],
    [
      'in a file of mixed line ends keeps those of other lines',
      'a\nb\r\nc\r\nd\r\n',
      'a\nb\nc',
      'a\nB\nc',
      'a\nB\r\nc\r\nd\r\n',
    ],
    ['at the end of a file without a line end', 'a\r\nb', 'b', 'b\nc', 'a\r\nb\r\nc'],
    ['that deletes lines', 'a\r\nb\r\nc\r\n', 'b\n', '', 'a\r\nc\r\n'],
  ];
  for (const [name, text, oldText, newText, result] of CASES) {
    it(`text edit: ${name}`, () => assert.equal(replace(text, oldText, newText), result));
  }

  it('text edit: equals the edit of the text with Unix line ends, for any text and place', () => {
    const line = fc.constantFrom('a', 'b', '', 'c d', '}');
    const lines = fc.array(line, { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(lines, lines, lines, lines, (lead, old, tail, fresh) => {
        const unix = [...lead, '<', ...old, '>', ...tail].join('\n');
        const [oldText, newText] = [['<', ...old, '>'].join('\n'), ['(', ...fresh, ')'].join('\n')];
        const edited = replace(unix.replaceAll('\n', '\r\n'), oldText, newText);
        assert.equal(edited, unix.replace(oldText, () => newText).replaceAll('\n', '\r\n'));
      }),
    );
  });

  it('text edit: several edits of one call follow each other', () => {
    const edits = [
      { oldText: 'one', newText: 'two' },
      { oldText: 'two', newText: 'three' },
    ];
    assert.equal(applyTextEdits('a', 'one\n', edits), 'three\n');
    assert.throws(
      () => applyTextEdits('a', 'one\n', [...edits, { oldText: 'one', newText: '' }]),
      /^Error: Edit 3 of 3/,
    );
  });

  it('text edit: all occurrences only on request, otherwise the lines are named', () => {
    assert.throws(() => replace('x\ny\nx\n', 'x', 'z'), /occurs 2 times in a\.ts, in lines 1, 3\. Add lines/);
    assert.equal(replace('x\ny\nx\n', 'x', 'z', true), 'z\ny\nz\n');
    assert.equal(replace('x\r\nx\r\n', 'x\n', 'z\ny\n', true), 'z\r\ny\r\nz\r\ny\r\n');
  });

  const MISSING: readonly [name: string, text: string, oldText: string, reason: RegExp][] = [
    [
      'white space differs in two places',
      'if (a) {\n\treturn;\n}\nif (a) {\n  return;\n}\n',
      'if (a) {\n    return;\n}',
      /similar text:\n1: if \(a\) \{\n2: \treturn;\n3: \}\n It differs only in white space\./,
    ],
    [
      'a line differs',
      'a\nconst one = 1;\nconst two = 2;\n',
      'const one = 1;\nconst two = 3;',
      /\n2: const one = 1;\n3: const two = 2;$/,
    ],
    [
      'a word differs',
      'function total(items, tax) {\n}\n',
      'function total(items, rate) {',
      /\n1: function total\(items, tax\) \{$/,
    ],
    ['nothing is similar', 'a\n', 'completely other words', /no text is similar\. Read the file again/],
    ['the text is equal', 'a\n', 'same', /old_text and new_text are equal/],
    ['the file has text', 'a\n', '', /already has text/],
  ];
  for (const [name, text, oldText, reason] of MISSING) {
    it(`text edit: says why it can’t be applied: ${name}`, () => {
      assert.throws(() => replace(text, oldText, oldText === 'same' ? 'same' : 'new'), reason);
    });
  }

  it('text edit: the search for a similar text takes linear time', async () => {
    const make = (size: number) => 'equal line\n'.repeat(size);
    await assertLinear(20_000, make, (text) =>
      assert.throws(() => replace(text, `${text.slice(0, text.length / 2)}x`, '')),
    );
  });
});
