import assert from 'node:assert/strict';
import { fitAnswer as fitRest } from '../../src/completion/answer/fit-answer.ts';
import { scanBracketsTo } from '../../src/completion/document/brackets.ts';
import { findLanguage } from '../../src/completion/document/languages.ts';
import { lineAfter as lineInDocument } from './closed-pairs.ts';
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
    ['a space before a word stays', 'return ', 'x;', 'await ', undefined, 'return await x;'],
    ['a space before an operator stays', 'const ', '= 1;', 'a ', undefined, 'const a = 1;'],
    ['a space before a separator goes', 'foo(', ', b);', 'a ', undefined, 'foo(a, b);'],
    ['an empty rest gives no suggestion', 'a', '', '\n  ', undefined, undefined],
  ];
  for (const [name, head, tail, rest, below, expected] of cases) {
    it(`fitAnswer: ${name}`, () => {
      const language = findLanguage('typescript');
      const caret = scanBracketsTo(head, language, false);
      const fitted = fitRest(rest, { language, caret, head, tail, below });
      const result = fitted === undefined ? undefined : head + fitted.text + tail.slice(fitted.replaceAfter);
      assert.equal(result, expected);
    });
  }
});

/** The caret's line after an answer was accepted. `|` is the caret. */
function lineAfter(id: string, line: string, answer: string): string | undefined {
  const [head = '', tail = ''] = line.split('|');
  const language = findLanguage(id);
  const caret = scanBracketsTo(head, language, false);
  const fitted = fitRest(answer, { language, caret, head, tail, below: undefined });
  return fitted === undefined ? undefined : head + fitted.text + tail.slice(fitted.replaceAfter);
}

describe('an answer that ends in a line comment', () => {
  const cases: readonly (readonly [language: string, line: string, answer: string, expected: string | undefined])[] = [
    ['typescript', 'foo(|)', 'a // why', 'foo(a)'],
    ['typescript', 'foo(|)', 'a) // why', 'foo(a) // why'],
    ['typescript', 'foo(|)', 'a // why\n)', 'foo(a // why\n)'],
    ['typescript', 'foo(|)', '// why', undefined],
    ['typescript', 'foo(|);', 'a); // call', 'foo(a); // call'],
    ['typescript', 'foo(|);', 'a) // call', 'foo(a);'],
    ['typescript', 'foo(|);', '"http://a // b", c', 'foo("http://a // b", c);'],
    ['typescript', 'foo(|);', '"http://a // b" // c', 'foo("http://a // b");'],
    ['typescript', 'foo(|) // old', 'a // why', 'foo(a) // old'],
    ['typescript', '// foo(|)', 'a // why', '// foo(a // why)'],
    ['typescript', 'foo(`|`);', 'a // b', 'foo(`a // b`);'],
    ['typescript', 'function f(|) {}', 'a: string // x', 'function f(a: string) {}'],
    ['typescript', 'if (|) {', 'a) { // when', 'if (a) {'],
    ['typescript', 'x = { a: |, b }', '1, // one', 'x = { a: 1, b }'],
    ['typescript', 'const a = [|],', '1, 2], // two', 'const a = [1, 2], // two'],
    ['typescript', 'const x = |;', '1 // one', 'const x = 1;'],
    ['typescript', 'const x = |;', '1; // one', 'const x = 1; // one'],
    ['scss', 'a { b: url(|); }', 'http://x.y/z', 'a { b: url(http://x.y/z); }'],
    ['python', 'x = [|]', '1 # one', 'x = [1]'],
    ['python', 'x = "|"', 'a # b', 'x = "a # b"'],
    ['sql', 'SELECT f(|);', 'a -- x', 'SELECT f(a);'],
    ['lua', 'f(|)', 'a -- x', 'f(a)'],
    ['yaml', 'a: [|]', '1 # b', 'a: [1]'],
    ['shellscript', 'x=$(|)', 'ls # b', 'x=$(ls)'],
    ['shellscript', 'x=$(|)', 'echo $#', 'x=$(echo $#)'],
    ['shellscript', 'n=${|}', '#names[@]', 'n=${#names[@]}'],
    ['stylus', 'a { color: |; }', '#fff #000', 'a { color: #fff #000; }'],
  ];
  for (const [language, line, answer, expected] of cases) {
    it(`fitAnswer: line comment: ${language}: ${line} with ${JSON.stringify(answer)}`, () =>
      assert.equal(lineAfter(language, line, answer), expected));
  }

  it('fitAnswer: a line comment is not shown before a bracket while the answer arrives', async () => {
    const editor = new EditorHarness('foo(|);\n');
    editor.answers = () => ['a, // first\n', '  b // second\n', ');\n'];
    editor.pieceMs = 500;
    editor.requestSuggestion({ trigger: 'invoke' });
    await editor.clock.pass(500);
    assert.equal(editor.preview, 'foo(a,);\n');
    await editor.clock.pass(5_000);
    assert.equal(editor.preview, 'foo(a, // first\n  b // second\n);\n');
  });
});

describe('an answer that contradicts the rest of the line', () => {
  const cases: readonly (readonly [language: string, line: string, answer: string, expected: string | undefined])[] = [
    ['typescript', 'foo(|, b);', 'a);', 'foo(a, b);'],
    ['typescript', 'foo(|, b);', ');', undefined],
    ['typescript', 'const a = [|, 2];', '1];', 'const a = [1, 2];'],
    ['typescript', 'const { |, b } = props;', 'a } = props;', 'const { a, b } = props;'],
    ['typescript', 'foo(bar(|, 1), 2);', 'x), y);', 'foo(bar(x, 1), 2);'],
    ['typescript', 'foo(bar(|, 1), 2);', 'baz(x), y[0]', 'foo(bar(baz(x), y[0], 1), 2);'],
    ['typescript', 'if (| && c) {', 'b) {', 'if (b && c) {'],
    ['typescript', 'if (f(|) === b)', 'a) === c)', 'if (f(a) === b)'],
    ['typescript', 'say("hello | world")', 'big")', 'say("hello big world")'],
    ['python', 'foo(|, b=2)', 'a)', 'foo(a, b=2)'],
    ['typescript', 'const a: Array<|> = [];', 'string> = ["x"];', 'const a: Array<string> = [];'],
    ['typescript', 'const a: Array<|> = [];', 'Array<string>', 'const a: Array<Array<string>> = [];'],
    ['typescript', 'const f: F<|> = g;', '() => void', 'const f: F<() => void> = g;'],
    ['typescript', 'const a: Array<string|> = [];', '> = ["x"];', undefined],
    ['typescript', 'const ok = a |> b;', '+ c > d && e', 'const ok = a + c > d && e> b;'],
    ['typescript', 'const s = useState<|>(null);', 'string>("");', 'const s = useState<string>(null);'],
    ['java', 'List<|> a = new ArrayList<>();', 'String> b = new ArrayList<>();', 'List<String> a = new ArrayList<>();'],
    ['cpp', 'std::vector<|> v = {};', 'int> v = {1};', 'std::vector<int> v = {};'],
    ['shellscript', 'run |> out.txt', '--all 2>&1', 'run --all 2>&1> out.txt'],
    ['html', '<a |>x</a>', 'href="b">y</a>', '<a href="b">x</a>'],
    ['typescriptreact', '<Foo a={|} b="c" />', '1} d={2} />', '<Foo a={1} b="c" />'],
    ['typescriptreact', '<Foo a={|} b="c" />', '1} d={2}', '<Foo a={1} d={2} b="c" />'],
    ['typescriptreact', '<Foo a="|" b="c" />', '1" d="2" />', '<Foo a="1" b="c" />'],
    ['typescriptreact', '<li key={|}>{x}</li>', 'i}>{y}</li>', '<li key={i}>{x}</li>'],
    ['typescriptreact', '<li key={|}>{x}</li>', 'i} id="a">{y}</li>', '<li key={i} id="a">{x}</li>'],
    ['typescriptreact', '<li key={|}>{x}</li>', 'i} id="a" />', '<li key={i} id="a">{x}</li>'],
    ['python', 'def f(|) -> int:', 'a) -> str:', 'def f(a) -> int:'],
    ['python', 'x = d[|] = 1', '"a"] = 2', 'x = d["a"] = 1'],
    ['python', 'x = d[|] = 1', '"a"]["b"]', 'x = d["a"]["b"] = 1'],
    ['typescript', 'const x = a ? f(|) : c;', 'b) : d', 'const x = a ? f(b) : c;'],
    ['typescript', 'function f(|) {', 'a) { return a; }', 'function f(a) {'],
    ['typescript', 'foo(|) + b;', 'a).c', 'foo(a).c + b;'],
    ['typescript', 'foo(|) + b;', 'a) * 2', 'foo(a) * 2 + b;'],
    ['typescript', 'const a = [|, 4];', '1, 2,', 'const a = [1, 2, 4];'],
  ];
  for (const [language, line, answer, expected] of cases) {
    it(`fitAnswer: contradiction: ${language}: ${line} with ${JSON.stringify(answer)}`, () =>
      assert.equal(lineAfter(language, line, answer), expected));
  }
});

describe('an answer that closes what is open at the caret and opens it again', () => {
  const cases: readonly (readonly [language: string, line: string, answer: string, expected: string])[] = [
    ['typescript', 'const s = "|";', 'Hello " + name + "!', 'const s = "Hello " + name + "!";'],
    ['typescript', "const s = '|';", "a' + b + 'c", "const s = 'a' + b + 'c';"],
    ['typescript', 'const s = `|`;', 'a` + b + `c', 'const s = `a` + b + `c`;'],
    ['java', 'String s = "|";', 'Hello " + name + "!', 'String s = "Hello " + name + "!";'],
    ['python', 'os.path.join("|")', 'a", "b', 'os.path.join("a", "b")'],
    ['go', 'fmt.Println("|")', 'a", "b', 'fmt.Println("a", "b")'],
    ['rust', 'println!("|");', '{}: {}", a, "b', 'println!("{}: {}", a, "b");'],
    ['python', "data['|']", "a']['b", "data['a']['b']"],
    ['typescript', 'rows[|];', '0][1', 'rows[0][1];'],
    ['json', '"|"', 'name": "shop', '"name": "shop"'],
    ['typescript', 'fetch(|);', 'url).then((r) => r.json()', 'fetch(url).then((r) => r.json());'],
    ['typescript', 'fetch(|);', 'url)\n  .then((r) => r.json()', 'fetch(url)\n  .then((r) => r.json());'],
    ['typescript', 'if (|) {', 'a) && (b', 'if (a) && (b) {'],
    ['typescript', 'list.map((|))', '{ a, b }) => join(a, b', 'list.map(({ a, b }) => join(a, b))'],
    ['typescript', 'foo("| more", c);', 'a", "b', 'foo("a", "b more", c);'],
    ['typescriptreact', '<div className="|" />', 'box" id="main', '<div className="box" id="main" />'],
    ['typescriptreact', "<div title='|' />", "box' id='main", "<div title='box' id='main' />"],
    ['typescriptreact', '<A b={|} />', 'x} c={y', '<A b={x} c={y} />'],
    ['html', '<div class="|">', 'box" id="main', '<div class="box" id="main">'],
    ['html', '<div class="|">', 'box" id="main">', '<div class="box" id="main">'],
    ['html', '<div class="|">', 'box" id="main" hidden>', '<div class="box" id="main" hidden>'],
    ['html', '<div class="|" hidden>', 'box" id="main"', '<div class="box" id="main" hidden>'],
    ['html', '<div class="a| c" hidden>', 'b" id="main', '<div class="ab" id="main c" hidden>'],
    ['vue', 'const s = "|";', 'a" + b + "c', 'const s = "a" + b + "c";'],
    ['markdown', 'He said "|"', 'yes" and "no', 'He said "yes" and "no"'],
    ['shellscript', 'echo "|"', 'a" "b', 'echo "a" "b"'],
  ];
  for (const [language, line, answer, expected] of cases) {
    it(`fitAnswer: reopens: ${language}: ${line} with ${JSON.stringify(answer)}`, () =>
      assert.equal(lineAfter(language, line, answer), expected));
  }
});

describe('an answer that closes what the document closes', () => {
  /** The caret is `|`. Lines of the answer and of the result are joined. */
  const cases: readonly (readonly [language: string, text: string, answer: string, expected: string])[] = [
    // Names of elements have no case in HTML.
    ['html', '<NAV>|</NAV>', '\n  <a>one</a>\n</nav>', '<NAV>\n  <a>one</a>\n</NAV>'],
    ['html', '<nav>|</nav>', '\n  <A>one</A>\n</NAV>', '<nav>\n  <A>one</A>\n</nav>'],
    ['html', '<B>|</B>', 'bold</b>', '<B>bold</B>'],
    ['html', '<Div><b>|</b></Div>', 'bold</B></div>', '<Div><b>bold</b></Div>'],
    ['html', '<UL>\n|\n</UL>', '  <li>a</li>\n</ul>', '  <li>a</li>'],
    ['vue', '<Nav>|</Nav>', '\n  <nav>a</nav>\n</Nav>', '<Nav>\n  <nav>a</nav>\n</Nav>'],
    // A fence that the answer opens is closed by the answer.
    ['markdown', '|\n\n```\nmore\n```', '```js\nx();\n```', '```js\nx();\n```'],
    ['markdown', '```markdown\n|\n```', '# A\n\n```js\nx();\n```\n```', '# A\n\n```js\nx();\n```'],
    ['markdown', '~~~\n|\n~~~', 'x\n~~~', 'x'],
    ['markdown', '|\n~~~\nmore\n~~~', '~~~js\nx();\n~~~', '~~~js\nx();\n~~~'],
    ['python', "P = '''\n|\n```\n'''", '```json\n{}\n```', '```json\n{}\n```'],
    ['typescript', '/**\n * ```ts\n * |\n * ```\n */', 'a();\n * ```\n */\nfunction b() {}', ' * a();'],
    ['rust', '/*!\n# ```\n# |\n# ```\n*/', 'a();\n# ```\n*/', '# a();'],
    // Comments of other languages.
    ['powershell', '<# | #>', 'Adds. #>\nfunction Add {}', '<# Adds. #>\nfunction Add {}'],
    ['powershell', '<#\n|\n#>', 'Adds.\n#>', 'Adds.'],
    ['haskell', '{- | -}', 'Adds. -}\nadd a = a', '{- Adds. -}\nadd a = a'],
    // Marks of prose.
    ['markdown', '**|**', 'bold** text', '**bold**'],
    ['markdown', '[|]()', 'docs](https://a.b)', '[docs]()'],
    ['markdown', 'a ~~|~~', 'b~~ c', 'a ~~b~~'],
    ['markdown', '**|**', 'bold', '**bold**'],
  ];
  for (const [language, text, answer, expected] of cases) {
    it(`fitAnswer: closes: ${language}: ${JSON.stringify(text)} with ${JSON.stringify(answer)}`, () => {
      const lines = text.split('\n');
      const row = lines.findIndex((line) => line.includes('|'));
      const [head = '', tail = ''] = lines[row]?.split('|') ?? [];
      const around = { above: lines.slice(0, row), below: lines.slice(row + 1), languageId: language };
      for (const length of [answer.length, 2]) {
        assert.equal(lineInDocument(around, { head, tail, answer }, length), expected);
      }
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
