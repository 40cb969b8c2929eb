// biome-ignore-all lint/suspicious/noTemplateCurlyInString: interpolations of other languages are what is tested.
/**
 * Situations of typing: a file with a caret, the text that belongs there, and the text to the right of it. Each is
 * answered in several ways (answered-situations.ts): exactly, with the text to the right again, with the lines
 * below again, in a Markdown fence, and so on. Whatever the answer, the file after acceptance must be the same.
 */
export interface Situation {
  readonly language: string;
  readonly name: string;
  /** `‸` marks the caret. What is after it is in the document already. */
  readonly file: string;
  /** The text that belongs at the caret. */
  readonly missing: string;
  /** Closers that the editor inserted after the caret; `missing` contains them. */
  readonly autoClosed?: string;
}

const situation = (language: string, name: string, file: string, missing: string, autoClosed?: string): Situation => ({
  language,
  name,
  file,
  missing,
  ...(autoClosed === undefined ? {} : { autoClosed }),
});

const ts = (name: string, file: string, missing: string, autoClosed?: string) =>
  situation('typescript', name, file, missing, autoClosed);
const tsx = (name: string, file: string, missing: string, autoClosed?: string) =>
  situation('typescriptreact', name, file, missing, autoClosed);
const python = (name: string, file: string, missing: string, autoClosed?: string) =>
  situation('python', name, file, missing, autoClosed);
const go = (name: string, file: string, missing: string, autoClosed?: string) =>
  situation('go', name, file, missing, autoClosed);

export const SITUATIONS: readonly Situation[] = [
  ts('statement before a semicolon', 'const x = ‸;\nuse(x);\n', 'alpha + beta'),
  ts('nested calls before a semicolon', 'const x = ‸;\nuse(x);\n', 'outer(inner(1), [2, 3])'),
  ts('function as an argument', 'list.forEach(‸);\ndone();\n', '(item) => {\n  send(item);\n}'),
  ts('object over several lines', 'const options = ‸;\nuse(options);\n', '{\n  name: "a",\n  size: 3,\n}'),
  ts('string with an escaped quote', 'const text = ‸;\nuse(text);\n', '"say \\"hi\\" twice"'),
  ts('end of a call', 'send(‸);\nnext();\n', 'message, { retry: true }'),
  ts('end of two calls', 'send(wrap(‸));\nnext();\n', 'message'),
  ts('condition before a block', 'if (‸) {\n  run();\n}\n', 'count > limit'),
  ts('condition with a call before a block', 'while (‸) {\n  step();\n}\n', '!queue.isEmpty()'),
  ts('return value', 'function f() {\n  return ‸;\n}\n', 'items.map((item) => item.id)'),
  ts('string content', 'log("Hello ‸");\nnext();\n', 'wide world'),
  ts('template literal', 'log(`Hello ‸`);\nnext();\n', 'wide world'),
  ts('interpolation', 'const s = `Hello ${‸}`;\nconst t = 1;\n', 'person.name'),
  ts('half of a name in an interpolation', 'const s = `Hello ${n‸}`;\nconst t = 1;\n', 'ame'),
  ts('call in an interpolation', 'log(`Sum ${‸} of all`);\nconst t = 1;\n', 'sum([1, 2], { x: 3 })'),
  ts('template in an interpolation', 'const s = `a ${‸} b`;\nbar();\n', 'list.map((x) => `<${x}>`).join("")'),
  ts('array element', 'const all = [1, ‸, 4];\nuse(all);\n', '2, 3'),
  ts('property value before a comma', 'const o = {\n  first: ‸,\n  second: 2,\n};\n', 'compute(1)'),
  ts('type parameter', 'const map = new Map<‸>();\nuse(map);\n', 'string, number'),
  ts('regular expression in a call', 'const m = text.match(‸);\nuse(m);\n', '/\\(([^)]*)\\)/g'),
  ts('regular expression with quotes', 'const m = text.split(‸);\nuse(m);\n', `/["'\`]/`),
  ts('line comment with brackets', 'const a = 1; // see ‸\nuse(a);\n', 'the notes (2) :) and [1]'),
  ts('block comment', '/* Computes ‸ */\nfunction f() {}\n', 'the sum'),
  ts('documentation line', '/**\n * ‸\n */\nfunction sum(a: number) {}\n', 'Returns the sum of all.'),
  ts(
    'documentation with a tag',
    '/**\n * Adds.\n * @param ‸\n */\nfunction sum(a: number) {}\n',
    'a the first summand',
  ),
  ts('body of a function', 'function add(a: number, b: number) {\n  ‸\n}\nnext();\n', 'return a + b;'),
  ts('two statements in a body', 'function f() {\n  ‸\n}\nnext();\n', 'const one = first();\n  return one;'),
  ts('editor closed the bracket', 'foo(‸\nnext();\n', 'alpha, beta);', ')'),
  ts('editor closed two brackets', 'foo(bar(‸\nnext();\n', 'alpha));', '))'),
  ts('editor closed the quote', 'say("‸\nnext();\n', 'hello");', '")'),
  ts('editor closed the brace', 'const o = {‸\nnext();\n', ' one: 1 };', '}'),
  ts('arrow chain after an auto-closed bracket', 'list.filter(‸\nnext();\n', '(x) => x > 1).map((x) => x * 2);', ')'),
  situation('javascript', 'promise chain', 'fetch(url)‸;\nnext();\n', '.then((r) => r.json())\n  .then(show)'),
  situation('javascript', 'default parameter', 'function f(a, b = ‸) {\n  return a;\n}\n', 'make(1)'),
  tsx('element in parentheses', 'return (\n  ‸\n);\n', '<p>{name}</p>'),
  tsx('expression in an element', 'const a = <p>{‸}</p>;\nuse(a);\n', 'names.join(", ")'),
  tsx('text of an element', 'const a = <li>‸</li>;\nuse(a);\n', 'It is one'),
  tsx('element in an element', 'const a = <ul>‸</ul>;\nuse(a);\n', '<li>one</li>'),
  tsx('attribute with an expression', 'const a = <p id={‸}>x</p>;\nuse(a);\n', 'make({ a: 1 }).id'),
  tsx('attribute with text', 'const a = <p id="‸" class="c">x</p>;\nuse(a);\n', 'main'),
  python('return value', 'def f(items):\n    return ‸\n\nprint(f([]))\n', '[item.id for item in items]'),
  python('call', 'print(‸)\nnext_step()\n', 'total, sep=", "'),
  python('string content', 'print("Hello ‸")\nnext_step()\n', 'world'),
  python('interpolation', 'print(f"Hello {‸}!")\nnext_step()\n', 'person["name"]'),
  python('interpolation with a format', "label = f'{‸:>10} of all'\nnext_step()\n", 'values[0]'),
  python('docstring on one line', 'def f():\n    """Returns ‸"""\n    return 1\n', 'the first one.'),
  python('condition', 'if ‸:\n    run()\nnext_step()\n', 'count > len(items)'),
  python('dictionary value', 'data = {"a": ‸, "b": 2}\nuse(data)\n', 'make(1, [2])'),
  python('editor closed the bracket', 'print(‸\nnext_step()\n', 'alpha, beta)', ')'),
  python('comment', 'x = 1  # ‸\nuse(x)\n', 'see (a) and [b'),
  python('block', 'def f(a):\n    if a:\n        ‸\n    return 2\n', 'return a + 1'),
  go('error check', 'if err != nil {\n\t‸\n}\nnext()\n', 'return nil, err'),
  go('call', 'fmt.Println(‸)\nnext()\n', 'a, b[0]'),
  go('raw string', 'q := `‸`\nrun(q)\n', 'select *\n    from t\n  where a = 1'),
  go('composite literal', 'p := Point{‸}\nuse(p)\n', 'X: 1, Y: 2'),
  go('condition', 'for i := 0; ‸; i++ {\n\tstep(i)\n}\n', 'i < len(items)'),
  go('function literal', 'run(func() {\n\t‸\n})\nnext()\n', 'defer wait()'),
  situation('java', 'statement', 'int x = ‸;\nuse(x);\n', 'list.get(0).size()'),
  situation('java', 'string', 'log.info("Hello ‸");\nnext();\n', 'world'),
  situation('java', 'generic type', 'Map<‸> map = make();\nuse(map);\n', 'String, List<Integer>'),
  situation('kotlin', 'interpolation', 'println("Hello ${‸}!")\nnext()\n', 'person.name.take(2)'),
  situation('kotlin', 'lambda', 'list.map { ‸ }\nnext()\n', 'it.name'),
  situation('csharp', 'interpolation', 'Log($"Hello {‸}!");\nNext();\n', 'person.Name'),
  situation('csharp', 'statement', 'var x = ‸;\nUse(x);\n', 'list.Where(a => a.B).ToList()'),
  situation('rust', 'macro', 'println!("{}", ‸);\nnext();\n', 'items.len()'),
  situation('rust', 'name in a format string', 'println!("{‸}");\nnext();\n', 'name'),
  situation('rust', 'lifetime', "fn f<'a>(‸) -> &'a str {\n    x\n}\n", "x: &'a str"),
  situation('rust', 'match arm', 'match x {\n    Some(v) => ‸,\n    None => 0,\n}\n', 'v.max(1)'),
  situation('cpp', 'statement', 'auto x = ‸;\nuse(x);\n', 'std::max({1, 2})'),
  situation('c', 'condition', 'if (‸) {\n  run();\n}\n', 'p != NULL && p->n > 0'),
  situation('php', 'string with a variable', 'echo "Hello ‸";\nnext();\n', '$name!'),
  situation('php', 'string with an interpolation', 'echo "Hello {$‸}";\nnext();\n', "user['name']"),
  situation('php', 'call', '$x = foo(‸);\nnext();\n', '$a, [1, 2]'),
  situation('ruby', 'interpolation', 'puts "Hello #{‸}"\nstep\n', 'person.name'),
  situation('ruby', 'body of a method', 'def f\n  ‸\nend\nstep\n', 'items.map(&:id)'),
  situation('ruby', 'block', 'items.each do |i|\n  ‸\nend\nstep\n', 'puts i'),
  situation('swift', 'interpolation', 'print("Hello \\(‸)")\nnext()\n', 'person.name'),
  situation('swift', 'call', 'send(‸)\nnext()\n', 'message, to: [1]'),
  situation('sql', 'expression', 'select ‸;\nselect 2;\n', 'count(*) from t'),
  situation('sql', 'list', 'select a from t where b in (‸);\nselect 2;\n', '1, 2, 3'),
  situation('html', 'text', '<ul>\n  <li>‸</li>\n</ul>\n', 'one <b>bold</b>'),
  situation('html', 'attribute', '<p id="‸" class="c">x</p>\n<p>y</p>\n', 'main'),
  situation('html', 'comment', '<!-- ‸ -->\n<p>y</p>\n', 'The header'),
  situation('vue', 'binding in an attribute', '<p :class="{ a: ‸ }" id="x">y</p>\n<p>z</p>\n', 'isOn'),
  situation('css', 'value', 'a {\n  color: ‸;\n  margin: 0;\n}\n', 'var(--main)'),
  situation('css', 'comment', '/* ‸ */\na {}\n', 'Links'),
  situation('scss', 'nested rule', 'a {\n  &:hover {\n    ‸\n  }\n}\n', 'color: red;'),
  situation('json', 'value', '{\n  "a": ‸,\n  "b": 2\n}\n', '[1, { "c": 3 }]'),
  situation('json', 'string', '{\n  "a": "‸",\n  "b": 2\n}\n', 'one two'),
  situation('yaml', 'value', 'a: ‸\nb: 2\n', 'one two'),
  situation('shellscript', 'call', 'echo "‸"\nls\n', 'one two'),
  situation('shellscript', 'condition body', 'if true; then\n  ‸\nfi\nls\n', 'echo yes'),
  situation('lua', 'body', 'function f()\n  ‸\nend\nstep()\n', 'return 1 + 2'),
  situation('dart', 'interpolation', "print('Hello ${‸}!');\nnext();\n", 'person.name'),
  situation('elixir', 'interpolation', 'IO.puts("Hello #{‸}")\nstep()\n', 'person.name'),
];

/** An answer that needs more than the text that belongs at the caret: the file after acceptance is given. */
export interface OddAnswer {
  readonly language: string;
  readonly name: string;
  readonly file: string;
  readonly answer: string;
  /** The file after acceptance; the file itself if nothing may be suggested. */
  readonly result: string;
}

const odd = (language: string, name: string, file: string, answer: string, result: string): OddAnswer => ({
  language,
  name,
  file,
  answer,
  result,
});

export const ODD_ANSWERS: readonly OddAnswer[] = [
  odd(
    'typescript',
    'whole function in a fence',
    'function add(a: number, b: number) {\n  ‸\n}\n',
    'Here is the completed function:\n\n```typescript\nfunction add(a: number, b: number) {\n  return a + b;\n}\n```\n\nIt adds two numbers.',
    'function add(a: number, b: number) {\n  return a + b;\n}\n',
  ),
  odd('typescript', 'fence on every line', 'const x = ‸\n', '```ts\n1 + 2;\n```', 'const x = 1 + 2;\n'),
  odd(
    'python',
    'sentence before code',
    'def f():\n    ‸\n',
    'Sure! Here is the code:\nreturn 1',
    'def f():\n    return 1\n',
  ),
  odd('typescript', 'explanation after code', 'const x = ‸\n', '1;\n\nThis sets x to one.', 'const x = 1;\n'),
  odd(
    'typescript',
    'earlier lines',
    'const a = 1;\nconst b = 2;\nconst c = ‸\n',
    'const a = 1;\nconst b = 2;\nconst c = 3;',
    'const a = 1;\nconst b = 2;\nconst c = 3;\n',
  ),
  odd(
    'python',
    'line after the docstring',
    'def f():\n    """Returns one.‸"""\n    return 1\n',
    '"""\n    return 1',
    'def f():\n    """Returns one."""\n    return 1\n',
  ),
  odd('typescript', 'body at column 0', 'if (x) {‸\n', '\nreturn 1;\n}', 'if (x) {\n  return 1;\n}\n'),
  odd(
    'typescript',
    'body at column 0 in a method',
    'class A {\n  f() {\n    if (x) {‸\n  }\n}\n',
    '\nreturn 1;\n}',
    'class A {\n  f() {\n    if (x) {\n      return 1;\n    }\n  }\n}\n',
  ),
  odd(
    'typescript',
    'statements at column 0',
    'function f() {\n  ‸\n}\n',
    'one();\ntwo();',
    'function f() {\n  one();\n  two();\n}\n',
  ),
  odd(
    'python',
    'body indented by two',
    'class A:\n    def f(self):\n        if True:‸\n',
    '\n  return 1',
    'class A:\n    def f(self):\n        if True:\n            return 1\n',
  ),
  odd(
    'python',
    'block at column 0',
    'def f(a):\n    if a:‸\n    return 2\n',
    '\nb = 1\nprint(b)',
    'def f(a):\n    if a:\n        b = 1\n        print(b)\n    return 2\n',
  ),
  odd('typescript', 'end of text token', 'const x = ‸\n', '1;<|endoftext|>const y = 2;', 'const x = 1;\n'),
  odd('typescript', 'FIM token', 'const x = ‸\n', '1;<fim_suffix>const y', 'const x = 1;\n'),
  odd('typescript', 'token of a chat template', 'const x = ‸\n', '1;\n<|im_end|>\nconst y', 'const x = 1;\n'),
  odd('typescript', 'DeepSeek token', 'const x = ‸\n', '1;<｜fim▁end｜>more', 'const x = 1;\n'),
  odd('typescript', 'Codestral token', 'const x = ‸\n', '1;[SUFFIX]more', 'const x = 1;\n'),
  odd('typescript', 'token first', 'const x = ‸\n', '<|fim_middle|>1;', 'const x = 1;\n'),
  odd('typescript', 'reasoning', 'const x = ‸\n', '<think>\nThe user wants one.\n</think>\n1;', 'const x = 1;\n'),
  odd('typescript', 'reasoning on one line', 'const x = ‸\n', '<think>one</think>1;', 'const x = 1;\n'),
  odd('typescript', 'reasoning that does not end', 'const x = ‸\n', '<think>\nThe user wants', 'const x = \n'),
  odd('typescript', 'NUL', 'const x = ‸\n', '1;\u0000 evil', 'const x = 1;\n'),
  odd('typescript', 'escape sequence', 'const x = ‸\n', '1;\u001b[31m evil', 'const x = 1;\n'),
  odd('typescript', 'zero-width space', 'const x = ‸\n', 'al\u200bpha;', 'const x = alpha;\n'),
  odd('typescript', 'byte order mark', 'const x = ‸\n', '\ufeffalpha;', 'const x = alpha;\n'),
  odd('typescript', 'direction override', 'const x = ‸\n', 'alpha; \u202e evil', 'const x = alpha;\n'),
  odd(
    'typescript',
    'emoji with joiners',
    'const x = ‸\n',
    "'👩\u200d👩\u200d👧';",
    "const x = '👩\u200d👩\u200d👧';\n",
  ),
  odd(
    'typescript',
    'statements after a semicolon',
    'const x = ‸;\nuse(x);\n',
    'a + b;\nconst y = 2;',
    'const x = a + b;\nconst y = 2;\nuse(x);\n',
  ),
  odd(
    'typescript',
    'statements after a template',
    'const s = `Hello ${n‸}`;\nuse(s);\n',
    'ame}`;\nconst t = 1;',
    'const s = `Hello ${name}`;\nconst t = 1;\nuse(s);\n',
  ),
  odd(
    'typescript',
    'other end of a template',
    'const s = `a ${x‸} b`;\nuse(s);\n',
    '} c`;\nbar();',
    'const s = `a ${x} b`;\nuse(s);\n',
  ),
  odd(
    'typescript',
    'block of a condition again',
    'if (‸) {\n  run();\n}\n',
    'a > 1) {\n  run();\n}',
    'if (a > 1) {\n  run();\n}\n',
  ),
  odd(
    'typescript',
    'statement instead of a block',
    'if (‸) {\n  run();\n}\n',
    'a > 1);\nfoo();',
    'if (a > 1) {\n  run();\n}\n',
  ),
  odd(
    'typescript',
    'second star',
    '/**\n * ‸\n */\nfunction f() {}\n',
    '* Returns one.',
    '/**\n * Returns one.\n */\nfunction f() {}\n',
  ),
  odd(
    'typescript',
    'comment end and function again',
    '/**\n * ‸\n */\nfunction f() {}\n',
    'Returns one.\n */\nfunction f() {}',
    '/**\n * Returns one.\n */\nfunction f() {}\n',
  ),
  odd('typescript', 'comment end again', '/* ‸ */\nf();\n', 'Runs. */', '/* Runs. */\nf();\n'),
  odd('html', 'comment end again', '<!-- ‸ -->\n<p></p>\n', 'Head -->', '<!-- Head -->\n<p></p>\n'),
  odd('html', 'closing tags again', '<ul>\n  <li>‸</li>\n</ul>\n', 'one</li>\n</ul>', '<ul>\n  <li>one</li>\n</ul>\n'),
  odd('html', 'attribute end only', '<p id="‸" class="c">x</p>\n', 'main"', '<p id="main" class="c">x</p>\n'),
  odd(
    'html',
    'element end after an attribute',
    '<p id="‸" class="c">x</p>\n',
    'main">',
    '<p id="main" class="c">x</p>\n',
  ),
  odd(
    'markdown',
    'fence below again',
    '# A\n\n```ts\nconst a = ‸\n```\n',
    '1;\n```\n',
    '# A\n\n```ts\nconst a = 1;\n```\n',
  ),
  odd(
    'go',
    'block below again',
    'func f() error {\n\tif err != nil {\n\t\t‸\n\t}\n\treturn nil\n}\n',
    'return err\n\t}\n\treturn nil\n}',
    'func f() error {\n\tif err != nil {\n\t\treturn err\n\t}\n\treturn nil\n}\n',
  ),
  odd('ruby', 'end below again', 'def f\n  ‸\nend\n', 'run(1)\nend', 'def f\n  run(1)\nend\n'),
  odd('ruby', 'own end stays', 'def f\n  ‸\nend\n', 'if a\n    b\n  end\nend', 'def f\n  if a\n    b\n  end\nend\n'),
];
