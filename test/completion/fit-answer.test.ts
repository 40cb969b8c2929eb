import assert from 'node:assert/strict';
import { fitAnswer as fitRest } from '../../src/completion/answer/fit-answer.ts';
import { scanBracketsTo } from '../../src/completion/document/brackets.ts';
import { findLanguage } from '../../src/completion/document/languages.ts';
import { EditorHarness } from './editor-harness.ts';

describe('fitAnswer', () => {
  const cases: readonly (readonly [string, string, string, string, string | undefined, string | undefined])[] = [
    // name, head, tail, rest, below, the resulting line(s)
    ['a closer is written over', 'foo(', ')', 'a, b);', undefined, 'foo(a, b);'],
    ['a closer that the rest needs stays', 'foo(', ')', 'bar(1)', undefined, 'foo(bar(1))'],
    ['a repeated tail is written over', 'foo(', ');', 'a);', undefined, 'foo(a);'],
    ['two closers are written over', 'foo(bar(', '))', 'a));', undefined, 'foo(bar(a));'],
    ['the first of two closers is written over', 'foo(bar(', '))', 'a)', undefined, 'foo(bar(a))'],
    ['a quote is written over', 'say("', '"', 'hello");', undefined, 'say("hello");'],
    ['a backtick and the text after it are written over', 'say(`', '`)', 'a b`);', undefined, 'say(`a b`);'],
    ['a brace before a block is written over', 'f() {', '}', '\n  a();\n}', undefined, 'f() {\n  a();\n}'],
    ['a closer below is not repeated', '  ', '', 'a();\n}\nb();', '}', '  a();'],
    ['a deeper closer than the one below stays', '  ', '', 'if (a) {\n    b();\n  }', '}', '  if (a) {\n    b();\n  }'],
    ['code after the caret is not moved to another line', 'a ', ' + b;', 'x\n+ y', undefined, undefined],
    ['an empty rest gives no suggestion', 'a', '', '\n  ', undefined, undefined],
  ];
  for (const [name, head, tail, rest, below, expected] of cases) {
    it(`fitAnswer: ${name}`, () => {
      const language = findLanguage('typescript');
      const caret = scanBracketsTo(head, language, false);
      const fitted = fitRest(rest, { language, caret, tail, below });
      const result = fitted === undefined ? undefined : head + fitted.text + tail.slice(fitted.replaceAfter);
      assert.equal(result, expected);
    });
  }
});

describe('a long block that is cut', () => {
  const BODY = ['{', '  const a = 1;', '  return {', ...[...'bcdefghijklm'].map((name) => `    ${name}: a,`)];

  it('fitAnswer: stays when the editor adds the closing bracket, although it leaves a bracket open', async () => {
    const editor = new EditorHarness('function f() |\n');
    editor.answers = () => [[...BODY, '  };', '}'].join('\n')];
    editor.requestSuggestion();
    await editor.clock.pass(1000);
    const shown = editor.ghost ?? '';
    assert.equal(shown, BODY.slice(0, editor.settings.maxLines).join('\n'));
    editor.edit('{', { behind: '}' });
    await editor.clock.pass(1000);
    assert.equal(editor.ghost, shown.slice(1));
    assert.equal(editor.requests.length, 1);
  });

  it('fitAnswer: an answer that ends by itself and leaves a bracket open is not shown before a bracket', async () => {
    const editor = new EditorHarness('function f() {|}\n');
    editor.answers = () => [BODY.slice(1, 5).join('\n')];
    editor.requestSuggestion();
    await editor.clock.pass(1000);
    assert.equal(editor.ghost, undefined);
  });
});

describe('long lines', () => {
  for (const [name, line] of [
    ['that ends in code after a string', `const wide = "${'x y '.repeat(25_000)}" + `],
    ['of code', `f(${'1, '.repeat(33_000)}`],
  ] as const) {
    it(`fitAnswer: completes a line of 100,000 characters ${name}`, async () => {
      const editor = new EditorHarness(`${line}|\n`);
      editor.answers = () => ['answer();'];
      editor.requestSuggestion();
      await editor.clock.pass(1000);
      assert.equal(editor.ghost, 'answer();');
      assert.ok((editor.requests[0]?.fimRequest.prefix.length ?? 0) < 14_000);
    });
  }
});
