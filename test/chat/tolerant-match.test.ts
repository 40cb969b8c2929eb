import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { applyTextEdits } from '../../src/chat/tools/text-edit.ts';
import { startUpstream } from '../upstream/upstream.ts';
import { scripted, sessionAt, toolNamed } from './test-session.ts';

const edit = (text: string, oldText: string, newText: string) => applyTextEdits('a.ts', text, [{ oldText, newText }]);

const FILE = `import { a } from './a.ts';
import { b } from './b.ts';
import { c } from './c.ts';

export class Cart {
    #items = [];

    total(rate) {
        let sum = 0;

        for (const item of this.#items) {
            sum += item.price;
        }
        return sum * rate;
    }

    empty() {
        this.#items = [];
        return this;
    }
}
`;

type Miss = readonly [name: string, text: string, oldText: string, newText: string, result: string];
const TOTAL = FILE.replace('sum * rate', 'round(sum * rate)');

const APPLIED: readonly Miss[] = [
  [
    'without indentation',
    FILE,
    'return sum * rate;\n}\n\nempty() {',
    'return round(sum * rate);\n}\n\nempty() {',
    TOTAL,
  ],
  [
    'with two blanks for four',
    FILE,
    '    }\n    return sum * rate;\n  }',
    '    }\n    return round(sum * rate);\n  }',
    TOTAL,
  ],
  ['with tabs', FILE, '\t\t}\n\t\treturn sum * rate;\n\t}', '\t\t}\n\t\treturn round(sum * rate);\n\t}', TOTAL],
  [
    'of a file with tabs',
    'f() {\n\tif (a) {\n\t\tgoOn();\n\t}\n}\n',
    '  if (a) {\n    goOn();\n  }',
    '  if (a) {\n    stop();\n    if (b) {\n      goOn();\n    }\n  }',
    'f() {\n\tif (a) {\n\t\tstop();\n\t\tif (b) {\n\t\t\tgoOn();\n\t\t}\n\t}\n}\n',
  ],
  [
    'too deep',
    FILE,
    '            return sum * rate;\n        }',
    '            return round(sum * rate);\n        }',
    TOTAL,
  ],
  [
    'blanks at the ends of lines',
    FILE,
    '        let sum = 0;  \n\n        for (const item of this.#items) {   ',
    '        let sum = 1;\n\n        for (const item of this.#items) {',
    FILE.replace('sum = 0', 'sum = 1'),
  ],
  [
    'blanks in the file',
    'const one = 1;   \nconst two = 2;\n',
    'const one = 1;\nconst two = 2;',
    'const one = 3;\nconst two = 2;',
    'const one = 3;\nconst two = 2;\n',
  ],
  [
    'a missing blank line',
    FILE,
    '        let sum = 0;\n        for (const item of this.#items) {',
    '        let sum = 1;\n        for (const item of this.#items) {',
    FILE.replace('let sum = 0;\n\n', 'let sum = 1;\n'),
  ],
  [
    'a further blank line',
    FILE,
    '        }\n\n        return sum * rate;',
    '        }\n        return round(sum * rate);',
    TOTAL,
  ],
  [
    'Windows line ends',
    FILE.replaceAll('\n', '\r\n'),
    '  return sum * rate;\n }',
    '  return round(sum * rate);\n }',
    TOTAL.replaceAll('\n', '\r\n'),
  ],
  [
    'typographic quotes',
    "const text = 'It is here';\nrun();\n",
    'const text = ‘It is here’;',
    "const text = 'It is there';",
    "const text = 'It is there';\nrun();\n",
  ],
  [
    'blanks that do not break',
    'const a = compute(b);\n',
    'const\u00a0a = compute(b);',
    'const a = compute(c);',
    'const a = compute(c);\n',
  ],
  [
    'moved lines',
    FILE,
    "import { b } from './b.ts';\nimport { a } from './a.ts';\nimport { c } from './c.ts';",
    "import { a } from './a.ts';\nimport { c } from './c.ts';",
    FILE.replace("import { b } from './b.ts';\n", ''),
  ],
  [
    'numbers of lines',
    FILE,
    '14:         return sum * rate;\n15:     }',
    '14:         return round(sum * rate);\n15:     }',
    TOTAL,
  ],
  ['a deletion', FILE, '\tlet sum = 0;\n', '', FILE.replace('        let sum = 0;\n', '')],
];

const REFUSED: readonly (readonly [name: string, text: string, oldText: string])[] = [
  ['two places', 'a: {\n  value: 10,\n}\nb: {\n    value: 10,\n}\n', '\tvalue: 10,'],
  ['only brackets', 'f() {\n    }\n}\n', '  }\n }'],
  ['another word', FILE, '  return sum * tax;\n }'],
  ['a line in between', FILE, 'let sum = 0;\nsum += item.price;'],
  ['a part of a line with other indentation', 'const value = 12;\n', '\tvalue = 12;'],
  ['white space inside a line', "const text = 'two  blanks';\n", "const text = 'two blanks';"],
  ['moved lines in two places', 'one();\ntwo();\nthree();\n//\none();\ntwo();\nthree();\n', 'three();\ntwo();\none();'],
];

describe('edits of small models', () => {
  for (const [name, text, oldText, newText, result] of APPLIED) {
    it(`tolerant edit: ${name}`, () => assert.equal(edit(text, oldText, newText), result));
  }

  for (const [name, text, oldText] of REFUSED) {
    it(`tolerant edit: refused with the real lines: ${name}`, () => {
      assert.throws(() => edit(text, oldText, 'replaced'), /old_text (?:was not found in|occurs)/);
    });
  }

  it('tolerant edit: a block that is indented otherwise is replaced where it is, and nothing else changes', () => {
    const word = fc.stringMatching(/^[a-z]{6,9}$/);
    // A line without indentation that is the end of another one is in two places.
    const isOnce = (each: string, _: number, words: readonly string[]) =>
      words.filter((other) => other.endsWith(each)).length === 1;
    fc.assert(
      fc.property(
        fc.uniqueArray(word, { minLength: 6, maxLength: 12 }).filter((words) => words.every(isOnce)),
        fc.nat({ max: 3 }),
        fc.integer({ min: 1, max: 3 }),
        fc.constantFrom('', '  ', '    ', '\t'),
        (words, from, count, indent) => {
          const lines = words.map((each) => `    ${each}();`);
          const wanted = words.slice(from, from + count).map((each) => `${indent}${each}();`);
          if (indent === '    ') return;
          const result = edit(lines.join('\n'), wanted.join('\n'), `${indent}replaced();`);
          const expected = [...lines.slice(0, from), '    replaced();', ...lines.slice(from + count)].join('\n');
          assert.equal(result.replaceAll(/^\s+/gm, '    '), expected);
        },
      ),
    );
  });

  it('tolerant edit: after two misses of one file the model is told to do it otherwise, until an edit succeeds', async () => {
    const upstream = await startUpstream();
    try {
      let fails = true;
      const tool = toolNamed('edit_file', {
        changes: true,
        requiredConfirmation: () => {
          if (fails) throw new Error('old_text was not found.');
          return false;
        },
      });
      const { session } = sessionAt(upstream, {}, { tools: () => [tool] });
      const call = (n: number) => ({
        tools: [{ id: `c${n}`, name: 'edit_file', arguments: [`{"path":"a.ts","n":${n}}`] }],
        finish: 'tool' as const,
      });
      const outputs = () =>
        session.messages.flatMap(({ parts }) =>
          parts.flatMap((part) => (part.type === 'tool' && part.state.type === 'done' ? [part.state.output] : [])),
        );
      upstream.respond(scripted(call(1), call(2), { text: ['Done.'] }));
      await session.send({ text: 'Edit.' });
      assert.doesNotMatch(outputs()[0] ?? '', /in a row/);
      assert.match(outputs()[1] ?? '', /failure 2 in a row for a\.ts/);
      fails = false;
      upstream.respond(scripted(call(3), { text: ['Done.'] }));
      await session.send({ text: 'Edit.' });
      fails = true;
      upstream.respond(scripted(call(4), { text: ['Done.'] }));
      await session.send({ text: 'Edit.' });
      assert.doesNotMatch(outputs()[3] ?? 'in a row', /in a row/);
    } finally {
      await upstream.close();
    }
  });
});
