import assert from 'node:assert/strict';
import { NextEditHarness } from './next-edit-harness.ts';

/** [title, document, edits as [old, new, nth], what is offered then, in the order in which it is accepted] */
const OFFERED: readonly [string, string, readonly (readonly [string, string, number?])[], readonly string[]][] = [
  [
    'a method that was replaced at two places',
    'log.info(a);\nlog.info(b);\nlog.info(c);\nlog.info(d);',
    [
      ['info', 'debug'],
      ['info', 'debug'],
    ],
    ['3: log.debug(c);', '4: log.debug(d);'],
  ],
  [
    'an argument that was added at two places',
    'fetchUser(one);\nfetchUser(two);\nother(one);\nfetchUser(three);',
    [
      ['one', 'one, signal'],
      ['two', 'two, signal'],
    ],
    ['4: fetchUser(three, signal);'],
  ],
  [
    'a keyword that was added before two calls',
    'const a = loadItem(1);\nconst b = loadItem(2);\nconst c = loadItem(3);',
    [
      ['loadItem(1)', 'await loadItem(1)'],
      ['loadItem(2)', 'await loadItem(2)'],
    ],
    ['3: const c = await loadItem(3);'],
  ],
  [
    'a type that was replaced at two places',
    'let a: Array<User>;\nlet b: Array<User>;\nfunction f(users: Array<User>) {}',
    [
      ['Array<User>', 'readonly User[]'],
      ['Array<User>', 'readonly User[]'],
    ],
    ['3: function f(users: readonly User[]) {}'],
  ],
  [
    'a path that was replaced at two places',
    "import { a } from './util';\nimport { b } from './util';\nimport { c } from './util';\n",
    [
      ['./util', './helpers'],
      ['./util', './helpers'],
    ],
    ["3: import { c } from './helpers';"],
  ],
  [
    'one of several identical lines',
    '  const total = items.length + offset;\n}\nx\n  const total = items.length + offset;\n',
    [['items.length', 'items.size']],
    ['4: const total = items.size + offset;'],
  ],
  [
    'one of several identical calls',
    'const a = format(user.name);\nif (x) print(format(user.name));\n',
    [['user.name', 'user.label']],
    ['2: if (x) print(format(user.label));'],
  ],
  [
    'a word that was replaced in two identical comments',
    '/**\n * @api private\n */\na();\n/**\n * @api private\n */\nb();\n/**\n * @api private\n */\n',
    [
      ['private', 'public'],
      ['private', 'public'],
    ],
    ['10: * @api public'],
  ],
  [
    'one of several copies of two lines',
    'if (a) {\n  // what if\n  send(first, second, third);\n}\nif (b) {\n  // what if\n  send(first, second, third);\n}\n',
    [['// what if\n  send(first', 'sendAll(first']],
    ['5: sendAll(first, second, third);'],
  ],
  [
    'a name that was replaced everywhere in several lines',
    'let total = 1;\ntotal = next(total);\n\nreturn total + totalOf(total);\n',
    [['total = 1;\ntotal = next(total)', 'sum = 1;\nsum = next(sum)']],
    ['4: return sum + totalOf(total);', '4: return sum + totalOf(sum);'],
  ],
  [
    'a parameter that was replaced in the first lines of its function',
    'function first(total, step) {\n  const next = total + step;\n  if (total > next) show(next, total);\n}\n',
    [['total, step) {\n  const next = total', 'sum, step) {\n  const next = sum']],
    ['3: if (sum > next) show(next, total);', '3: if (sum > next) show(next, sum);'],
  ],
];

/** Lines that can only use the variable `total`. */
const USES: readonly (readonly [file: string, line: string])[] = [
  ['a.js', 'return total;'],
  ['a.js', '  total += 1;'],
  ['a.js', 'total.call(a);'],
  ['a.js', 'total(a);'],
  ['a.js', 'const a = call(b, [1, total]);'],
  ['a.js', 'const a = b && !total ? b : 1;'],
  ['a.js', 'const a = b * total;'],
  ['a.js', 'if (a > total) {'],
  ['a.js', 'for (let a = 0; a < total; a++) {'],
  ['a.js', 'for (const a of total) {'],
  ['a.js', 'call({ a: total });'],
  ['a.py', 'if a > total:'],
  ['a.py', 'a = call(b=total)'],
  ['a.py', 'a = [b for b in total]'],
  ['a.py', 'for a in range(total):'],
];

/** Lines of JavaScript that may have another variable or a key of the name `total`. */
const OTHER_NAMES = [
  'function second(total) {\n  return a * 2;\n}',
  'function second(\n  total,\n) {}',
  'const second = (a, total) => a;',
  'const second = total => a;',
  'call(async ({ a: total }) => a);',
  'const { total } = call();',
  'const { a: total } = call();',
  'const {\n  a: total,\n} = call();',
  '[a, total] = call();',
  'let a, total;',
  'try {\n} catch (total) {}',
  'for (const [a, total] of call()) {}',
  'for (total of call()) {}',
  'for (let a = 0, total = 1; a < 2; a++) {}',
  'call({ total });',
  'call({ a, total });',
  'call({\n  total,\n});',
  'call({ total: 1 });',
  'call(...total);',
  'export { total };',
  "import total from './other';",
  'class Second {\n  total = 1;\n}',
  'class Second {\n  total() {\n  }\n}',
  'class Second {\n  #total;\n}',
  'class Second {\n  set(total) {\n  }\n}',
  'List<String> total;',
  'int *total;',
  'items.each { |total| call(a) };',
];

/** The same of Python. */
const OTHER_NAMES_PYTHON = [
  'def second(total):\n    return a',
  'call(total=1)',
  'call(total=total)',
  'call(\n    total=1,\n)',
  'call(lambda total: a)',
  'a, total = call()',
  '(a, total) = call()',
  'for a, total in call():\n    pass',
  'for (a, total) in call():\n    pass',
  'a = [a for total in call()]',
  'with call() as total:\n    pass',
  'from other import total',
  'a = { total: 1 }',
];

/** An edit of `total` in a function: other places are of another variable. */
const OTHER_SCOPES: readonly (readonly [string, string, string, string])[] = [
  [
    'a.js',
    'function first(total) { return total + total }\nfunction second(total) { return total * 2 }\n',
    'total) { return total + total',
    'sum) { return sum + sum',
  ],
  [
    'a.js',
    'function first(total) {\n  return total + 1;\n}\ncall(total);\n',
    'total) {\n  return total',
    'sum) {\n  return sum',
  ],
  [
    'a.js',
    'call(total);\nfunction first() {\n  const total = 1;\n  return total + 1;\n}\n',
    'total = 1;\n  return total',
    'sum = 1;\n  return sum',
  ],
  [
    'a.js',
    'for (let total = 0; total < 2; total++) call();\ncall(total);\n',
    'total = 0; total < 2; total',
    'sum = 0; sum < 2; sum',
  ],
  [
    'a.py',
    'def first(total):\n    return total + 1\n\ndef second(a):\n    return a + total\n',
    'total):\n    return total',
    'sum):\n    return sum',
  ],
];

/** As above, without an offer. */
const SILENT: readonly [string, string, readonly (readonly [string, string, number?])[]][] = [
  ['one replaced name', 'log.info(a);\nlog.info(b);', [['info', 'debug']]],
  [
    'two different replacements',
    'log.info(a);\nlog.info(b);\nlog.info(c);',
    [
      ['info', 'debug'],
      ['info', 'warn'],
    ],
  ],
  ['another value in one of several lines', 'const retries = 3;\nx\nconst retries = 3;', [['3', '4']]],
  [
    'a word that was replaced in two comments of which no other one is a copy',
    '/**\n * @api private\n */\na();\n/**\n * @api private\n */\nb();\n  /**\n   * @api private\n   */\n',
    [
      ['private', 'public'],
      ['private', 'public'],
    ],
  ],
  [
    'a block that differs from its neighbour in a name',
    '  // what if\n  send(first, second, third);\n}\n  // what if\n  send(first, second, fourth);\n',
    [['// what if\n  send(first', 'sendAll(first']],
  ],
  [
    'another value in one of several blocks',
    '  send(first, second);\n  wait(third, 1);\n}\n  send(first, second);\n  wait(third, 1);\n',
    [['second);\n  wait(third, 1', 'second);\n\n  wait(third, 2']],
  ],
  [
    'a name that was replaced at two places, and is declared again',
    'let total = 1;\ntotal = next(total);\nother();\nlet total = 2;\nuse(total);\n',
    [['total = 1;\ntotal = next(total)', 'sum = 1;\nsum = next(sum)']],
  ],
  [
    'a name that was replaced by one that is there',
    'let total = 1;\ntotal = next(total);\nother(sum);\nuse(total);\n',
    [['total = 1;\ntotal = next(total)', 'sum = 1;\nsum = next(sum)']],
  ],
  [
    'members and keys with the name that was replaced',
    'let total = 1;\ntotal = next(total);\nother(a.total, b.total);\n',
    [['total = 1;\ntotal = next(total)', 'sum = 1;\nsum = next(sum)']],
  ],
  [
    'a comment',
    'a(); // call firstThing secondThing\na(); // call firstThing secondThing\n',
    [['firstThing', 'other']],
  ],
  [
    'lines that were put into a region, of which the copy is the edit itself',
    'first(second);\nthird(fourth);\n',
    [['first(second);\nthird(fourth);', '#region Name\nfirst(second);\nthird(fourth);\n#endregion']],
  ],
  ['white space', 'const first = second(third);\nconst first = second(third);\n', [['const first', 'const  first']]],
  [
    'a part of a longer name',
    'log.info(a);\nlog.info(b);\nlog.infoLine(c);',
    [
      ['info', 'debug'],
      ['info', 'debug'],
    ],
  ],
];

describe('next edits without a model: the same edit again', () => {
  for (const [title, text, edits, offered] of OFFERED) {
    it(`offers the other places after ${title}`, async () => {
      const editor = new NextEditHarness(text);
      for (const [old, now, nth] of edits) await editor.replace(old, now, nth);
      for (const expected of offered) {
        assert.equal(editor.shown, expected);
        await editor.accept();
      }
      assert.equal(editor.shown, undefined);
    });
  }

  for (const [title, text, edits] of SILENT) {
    it(`offers nothing after ${title}`, async () => {
      const editor = new NextEditHarness(text);
      for (const [old, now, nth] of edits) await editor.replace(old, now, nth);
      assert.equal(editor.shown, undefined);
    });
  }

  for (const [file, line] of USES) {
    it(`offers the rename of a variable that was declared in the edit in ${file}: ${line}`, async () => {
      const start = file === 'a.py' ? '' : 'let ';
      const text = `${start}total = 1;\ncall(total);\n${line}\n`;
      const editor = new NextEditHarness(text, {}, `file:///work/${file}`);
      await editor.replace('total = 1;\ncall(total', 'sum = 1;\ncall(sum');
      assert.equal(editor.shown, `3: ${line.replace('total', 'sum').trim()}`);
    });
  }

  const others = [
    ...OTHER_NAMES.map((text) => ['a.js', text] as const),
    ...OTHER_NAMES_PYTHON.map((text) => ['a.py', text] as const),
  ];
  for (const [file, text] of others) {
    it(`offers no rename of a variable if there may be another one in ${file}: ${JSON.stringify(text)}`, async () => {
      const start = file === 'a.py' ? '' : 'let ';
      const editor = new NextEditHarness(
        `${start}total = 1;\ncall(total);\n${text}\nreturn total + 1;\n`,
        {},
        `file:///work/${file}`,
      );
      await editor.replace('total = 1;\ncall(total', 'sum = 1;\ncall(sum');
      assert.equal(editor.shown, undefined);
    });
  }

  for (const [file, text, old, now] of OTHER_SCOPES) {
    it(`offers no rename outside the scope of a variable in ${file}: ${JSON.stringify(text)}`, async () => {
      const editor = new NextEditHarness(text, {}, `file:///work/${file}`);
      await editor.replace(old, now);
      assert.equal(editor.shown, undefined);
    });
  }
});
