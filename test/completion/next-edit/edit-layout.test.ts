import assert from 'node:assert/strict';
import type { DocumentText, Position } from '../../../src/completion/document/document-text.ts';
import { editPosition, layOutEdit, textInsertedAt } from '../../../src/completion/next-edit/edit-layout.ts';
import type { NextEdit } from '../../../src/completion/next-edit/next-edit.ts';

function textDocument(text: string): DocumentText {
  const lines = text.split('\n');
  return {
    uri: 'file:///a.ts',
    languageId: 'typescript',
    version: 1,
    eol: '\n',
    lineCount: lines.length,
    lineAt: (line) => lines[line] ?? '',
  };
}

type Change = readonly [start: readonly [number, number], end: readonly [number, number], text: string];

function nextEdit(document: DocumentText, ...changes: readonly Change[]): NextEdit {
  const replacements = changes.map(([from, to, text]) => {
    const start = { line: from[0], character: from[1] };
    const end = { line: to[0], character: to[1] };
    const lines: string[] = [];
    for (let line = start.line; line <= end.line; line += 1) {
      const whole = document.lineAt(line);
      lines.push(whole.slice(line === start.line ? start.character : 0, line === end.line ? end.character : undefined));
    }
    return { start, end, expected: lines.join('\n'), text };
  });
  const title = { kind: 'change', line: '' } as const;
  return { id: 1, origin: 'model', uri: document.uri, replacements, title, following: 0 };
}

/** The document as it is drawn: `[-removed-]`, `{+new+}` in place, and ` | new` beside a line. */
function drawn(document: DocumentText, edit: NextEdit, caret?: Position): string {
  const { struck, inline, beside, unseen } = layOutEdit(edit, document, caret);
  const rows = Array.from({ length: document.lineCount }, (_, line) => {
    const marks = [
      ...struck
        .filter(({ start }) => start.line === line)
        .flatMap(({ start, end }) => [
          { at: start.character, order: 2, text: '[-' },
          { at: end.character, order: 0, text: '-]' },
        ]),
      ...inline
        .filter(({ at }) => at.line === line)
        .map(({ at, text }) => ({ at: at.character, order: 1, text: `{+${text}+}` })),
    ].sort((a, b) => b.at - a.at || b.order - a.order);
    let text = document.lineAt(line);
    for (const mark of marks) text = text.slice(0, mark.at) + mark.text + text.slice(mark.at);
    const row = beside.find((each) => each.line === line);
    return row ? `${text}${' '.repeat(row.gap)}${row.added ? '+' : '|'}${row.text}` : text;
  });
  return [...rows, ...(unseen ? [`${unseen.before} -> ${unseen.after}`] : [])].join('\n');
}

interface LayoutCase {
  readonly name: string;
  readonly text: string;
  readonly changes: readonly Change[];
  readonly caret?: Position;
  readonly drawn: string;
}

const LAYOUTS: readonly LayoutCase[] = [
  {
    name: 'shows changed words in their place, also twice in a line',
    text: 'const userId = 1;\nprint(userName, userName);',
    changes: [
      [[1, 6], [1, 14], 'userId'],
      [[1, 16], [1, 24], 'userId'],
    ],
    drawn: 'const userId = 1;\nprint([-userName-]{+userId+}, [-userName-]{+userId+});',
  },
  {
    name: 'shows the new line beside the old one if new words would move the caret',
    text: 'const userId = 1;\nprint(userName, userName);',
    changes: [
      [[1, 6], [1, 14], 'userId'],
      [[1, 16], [1, 24], 'userId'],
    ],
    caret: { line: 1, character: 15 },
    drawn: 'const userId = 1;\n[-print(userName, userName);-]    |print(userId, userId);',
  },
  {
    name: 'finds the changed words of a replaced line',
    text: 'a\n  return left + right;\nb',
    changes: [[[1, 0], [1, 22], '  return left - right;']],
    drawn: 'a\n  return left [-+-]{+-+} right;\nb',
  },
  {
    name: 'shows a line with more than three changes beside it',
    text: 'f(a, b, c, d);',
    changes: [[[0, 0], [0, 14], 'f(e, g, h, i);']],
    drawn: '[-f(a, b, c, d);-]    |f(e, g, h, i);',
  },
  {
    name: 'shows more lines than before beside the lines that follow',
    text: 'x\n  one();\nlonger line below\ny',
    changes: [[[1, 0], [1, 8], '  two();\n  three();']],
    drawn: 'x\n  [-one();-]             |two();\nlonger line below    +three();\ny',
  },
  {
    name: 'shows an inserted line where it will be',
    text: 'const a = 1;\nend',
    changes: [[[0, 0], [0, 0], "import b from 'b';\n"]],
    drawn: "const a = 1;    +import b from 'b';\nend",
  },
  {
    name: 'strikes removed lines through',
    text: 'a\n  b\n\nc',
    changes: [[[1, 0], [3, 0], '']],
    drawn: 'a\n  [-b-]\n\nc',
  },
  {
    name: 'counts lines without space beside the code',
    text: `a\n${'x'.repeat(110)}\nb`,
    changes: [[[1, 0], [1, 110], 'one two three\nfour']],
    drawn: `a\n[-${'x'.repeat(110)}-]\nb\n1 -> 2`,
  },
  {
    name: 'counts lines that would be below the end of the document',
    text: 'a\nb',
    changes: [[[1, 0], [1, 1], 'c d e\nf']],
    drawn: 'a\n[-b-]\n1 -> 2',
  },
  {
    name: 'aligns lines after tabs and wide characters',
    text: '\tif (x) {\n日本\n}',
    changes: [[[0, 0], [1, 2], '\tfor (;;) {\n\t\tgo();\n\t\tstop();']],
    drawn: '\t[-if (x) {-]    |for (;;) {\n[-日本-]            |    go();\n}               +    stop();',
  },
];

describe('layOutEdit', () => {
  for (const { name, text, changes, caret, drawn: wanted } of LAYOUTS) {
    it(`layOutEdit: ${name}`, () => {
      const document = textDocument(text);
      assert.equal(drawn(document, nextEdit(document, ...changes), caret), wanted);
    });
  }
});

describe('textInsertedAt', () => {
  const cases: readonly (readonly [name: string, text: string, change: Change, caret: Position, wanted?: string])[] = [
    ['an insertion at the caret', 'ab', [[0, 1], [0, 1], 'x'], { line: 0, character: 1 }, 'x'],
    ['an insertion in a rewritten line', 'f(a)', [[0, 0], [0, 4], 'f(a, b)'], { line: 0, character: 3 }, ', b'],
    ['lines after the caret', 'a\nb', [[0, 0], [1, 1], 'a\nc\nb'], { line: 0, character: 1 }, '\nc'],
    ['nothing for an insertion elsewhere', 'f(a)', [[0, 0], [0, 4], 'f(a, b)'], { line: 0, character: 1 }],
    ['nothing for a replacement', 'f(a)', [[0, 2], [0, 3], 'bcd'], { line: 0, character: 2 }],
  ];
  for (const [name, text, change, caret, wanted] of cases) {
    it(`textInsertedAt: finds ${name}`, () => {
      const document = textDocument(text);
      assert.equal(textInsertedAt(nextEdit(document, change), caret), wanted);
    });
  }
});

describe('editPosition', () => {
  const cases: readonly (readonly [name: string, text: string, change: Change, wanted: Position])[] = [
    ['at an insertion', 'f(a)', [[0, 0], [0, 4], 'f(a, b)'], { line: 0, character: 3 }],
    ['at a changed word', 'let a = b;', [[0, 8], [0, 9], 'c'], { line: 0, character: 8 }],
    ['after a word that follows white space', '  a.b', [[0, 2], [0, 3], 'c'], { line: 0, character: 3 }],
    ['at the end of the first changed line', '  a\n  b', [[0, 0], [1, 3], '  c\n  d\n  e'], { line: 0, character: 3 }],
  ];
  for (const [name, text, change, wanted] of cases) {
    it(`editPosition: is ${name}`, () => {
      const document = textDocument(text);
      assert.deepEqual(editPosition(nextEdit(document, change), document), wanted);
    });
  }
});
