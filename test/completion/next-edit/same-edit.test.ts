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
});
