import assert from 'node:assert/strict';
import fc from 'fast-check';
import { CompletionTrimmer, type InsertionContext } from '../../src/completion/answer/completion-trimmer.ts';
import { scanBracketsTo } from '../../src/completion/document/brackets.ts';
import { findLanguage } from '../../src/completion/document/languages.ts';

const SITE: InsertionContext = {
  language: findLanguage('typescript'),
  head: '  ',
  tail: '',
  above: ['function f() {'],
  below: [],
  caret: scanBracketsTo('function f() {\n  ', findLanguage('typescript'), false),
  has: () => false,
  unclosed: 1,
  singleLine: false,
  maxLines: 12,
  indentation: { insertSpaces: true, tabSize: 2 },
};

function settled(answer: string, site: Partial<InsertionContext> = {}, whole = true): string {
  const settling = new CompletionTrimmer({ ...SITE, ...site });
  settling.push(answer);
  settling.end(whole);
  return settling.text;
}

describe('CompletionTrimmer', () => {
  const cases: readonly (readonly [string, string, Partial<InsertionContext>, string, boolean?])[] = [
    ['a whole answer', 'return 1;', {}, 'return 1;'],
    ['CRLF and lone CR as LF', 'a();\r\n  b();\r  c();', {}, 'a();\n  b();\n  c();'],
    ['no more closers than the document needs', 'return 1;\n}\n}', {}, 'return 1;\n}'],
    ['no closer that is closed below', 'return 1;\n}', { unclosed: 0 }, 'return 1;'],
    ['no indentation that is there already', '  return 1;', { above: ['  a();'] }, 'return 1;'],
    ['deeper indentation after an opener', '  return 1;', { above: ['  if (a) {'] }, '  return 1;'],
    ['no start of the line again', 'const a = 1;', { head: '  const a', unclosed: 0 }, ' = 1;'],
    ['no echo of the line above', 'total += price;', { above: ['  total += price;'] }, ''],
    [
      'nothing from the line below on',
      'a();\nconst total = prices.sum();\nb();',
      { below: ['  const total = prices.sum();'] },
      'a();',
    ],
    [
      'a short line like the one below, if others follow',
      'a();\nnext();\nb();',
      { below: ['  next();', '  c();'] },
      'a();\n  next();\n  b();',
    ],
    ['nothing from two short lines below on', 'a();\nnext();\nc();', { below: ['  next();', '  c();'] }, 'a();'],
    ['no loop', 'run(one);\nrun(one);\nrun(one);\nrun(one);', {}, 'run(one);'],
    ['two lines alike', 'push(0);\n  push(0);\n  done();', {}, 'push(0);\n  push(0);\n  done();'],
    ['no half line of an answer cut off', 'a();\nconst long = some', {}, 'a();', false],
    ['no half word of an answer cut off', 'const long = so', {}, 'const long =', false],
    ['no line left open inside brackets', 'a();\nfoo(1,', {}, 'a();'],
    ['a call over several lines, indented to its place', 'foo(\n  1,\n);', {}, 'foo(\n    1,\n  );'],
    ['a block whose body is still to come', 'if (a) {', {}, 'if (a) {'],
    [
      'brackets in strings, comments and expressions as text',
      "x = ')' + /[)]/; // )\ny();",
      {},
      "x = ')' + /[)]/; // )\ny();",
    ],
    [
      'tabs where the document has tabs',
      'if (a) {\n    b();\n}',
      { head: '\t', indentation: { insertSpaces: false, tabSize: 4 } },
      'if (a) {\n\t\tb();\n\t}',
    ],
    ['spaces where the document has spaces', 'if (a) {\n\tb();\n}', {}, 'if (a) {\n    b();\n  }'],
    ['nothing from a character on that turns the direction', 'a(); \u202e evil', {}, 'a();'],
    ['right-to-left text, combining marks and emoji', "say('שלום é 👩‍👩‍👧');", {}, "say('שלום é 👩‍👩‍👧');"],
    ['at most the requested number of lines', 'a1();\nb2();\nc3();', { maxLines: 2 }, 'a1();\n  b2();'],
    ['one line for a single-line request', 'a();\nb();', { singleLine: true }, 'a();'],
  ];
  for (const [name, answer, site, expected, whole] of cases) {
    it(`CompletionTrimmer: keeps ${name}`, () => assert.equal(settled(answer, site, whole), expected));
  }

  it('CompletionTrimmer: its text only grows, and is the same for any split of the answer', () => {
    const line = fc.constantFrom(
      'a();',
      'if (b) {',
      '}',
      '',
      '  c(1,',
      ');',
      "'x",
      'run(one);',
      '\tdeep();',
      '👍 // é',
      'foo({',
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 12 }), fc.array(fc.nat(8), { minLength: 1 }), (lines, sizes) => {
        const answer = lines.join('\r\n');
        const site = { below: ['c(1,', 'zzz();'] };
        const settling = new CompletionTrimmer({ ...SITE, ...site });
        let before = '';
        for (let at = 0, i = 0; at < answer.length; i++) {
          const size = 1 + (sizes[i % sizes.length] ?? 0);
          settling.push(answer.slice(at, at + size));
          at += size;
          assert.ok(settling.text.startsWith(before));
          before = settling.text;
        }
        settling.end(true);
        assert.ok(settling.text.startsWith(before));
        assert.equal(settling.text, settled(answer, site));
      }),
    );
  });
});
