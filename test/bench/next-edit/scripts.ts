import { diffArrays } from 'diff';
import type { SourceFile } from './packages.ts';

/** Lines that the user changes at one place. */
export interface Hunk {
  readonly first: number;
  readonly old: readonly string[];
  readonly text: readonly string[];
}

/** A file, and the edits that made it another one. The first is the user's; the others follow from it. */
export interface EditScript {
  readonly name: string;
  readonly before: string;
  readonly after: string;
}

const MAX_HUNKS = 8;
const MAX_LINES = 12;

export function hunksBetween(before: string, after: string): Hunk[] {
  const hunks: Hunk[] = [];
  let line = 0;
  let old: string[] = [];
  let text: string[] = [];
  const flush = (): void => {
    if (old.length + text.length > 0) hunks.push({ first: line - old.length, old, text });
    [old, text] = [[], []];
  };
  for (const part of diffArrays(before.split('\n'), after.split('\n'))) {
    if (part.added) text.push(...part.value);
    else if (part.removed) {
      old.push(...part.value);
      line += part.value.length;
    } else {
      flush();
      line += part.value.length;
    }
  }
  flush();
  return hunks;
}

/** A few small edits in one file: what a person changes at a time. */
export function scriptOf({ path, before, after }: SourceFile): EditScript | undefined {
  const hunks = hunksBetween(before, after);
  if (hunks.length < 2 || hunks.length > MAX_HUNKS) return undefined;
  if (hunks.some(({ old, text }) => Math.max(old.length, text.length) > MAX_LINES)) return undefined;
  return { name: path, before, after };
}

/** Applies the same replacement at several places of a file: edits that need no model. */
const REPEATED: readonly (readonly [string, string, string, string])[] = [
  ['method', 'log.info(start);\nconst a = 1;\nlog.info(end);\nlog.info(a);\nlog.warn(a);', 'log.info', 'log.debug'],
  ['argument', 'save(one);\nsave(two);\nload(one);\nsave(three);\nsave(four);', '', ', options'],
  [
    'await',
    'const a = read(1);\nconst b = read(2);\nconst c = read(3);\nconst d = read(4);',
    ' = read',
    ' = await read',
  ],
  [
    'namespace',
    'const x = fs.readFile(a);\nconst y = fs.readFile(b);\nconst z = fs.readFile(c);',
    'fs.readFile',
    'fs.promises.readFile',
  ],
  [
    'assertion',
    'assert.equal(a, 1);\nassert.equal(b, 2);\nassert.equal(c, 3);\nassert.ok(d);',
    'assert.equal',
    'assert.strictEqual',
  ],
  [
    'component',
    '<Button kind="primary" />\n<p>text</p>\n<Button kind="primary" />\n<Button kind="primary" />',
    'kind="primary"',
    'variant="primary"',
  ],
  [
    'type',
    'let a: Array<User>;\nlet b: Array<User>;\nfunction f(users: Array<User>) {}',
    'Array<User>',
    'readonly User[]',
  ],
  [
    'import path',
    "import { a } from './util';\nimport { b } from './util';\nimport { c } from './util';",
    './util',
    './helpers',
  ],
  ['property', 'use(user.name);\nprint(user.name);\nif (user.name) go(user);', 'user.name', 'user.fullName'],
  ['python', 'print(total)\nx = 1\nprint(count)\nprint(x)', 'print', 'logger.info'],
];

export function repeatedScripts(): EditScript[] {
  return REPEATED.map(([name, code, old, text]) => {
    // Other lines between them, so that each place is an edit of its own.
    const before = `${code.split('\n').join('\n\nother();\n\n')}\n`;
    const after = old === '' ? before.replace(/(save\(\w+)/g, `$1${text}`) : before.replaceAll(old, text);
    return { name: `repeated ${name}`, before, after };
  });
}
