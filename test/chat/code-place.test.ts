import assert from 'node:assert/strict';
import { applyPlaces, findCodePlaces } from '../../src/chat/review/code-place.ts';

const FILE = `import { read } from './read.ts';

/** Adds prices. */
export function total(items: Item[]): number {
  let sum = 0;
  for (const item of items) {
    sum += item.price;
  }
  return sum;
}

export class Basket {
  size(): number {
    return 1;
  }

  clear(): void {
    this.items = [];
  }
}
`;

const PYTHON = `def one():
    return 1


def two():
    x = 2

    return x

value = 3
`;

describe('findCodePlaces', () => {
  const apply = (text: string, code: string) => {
    const places = findCodePlaces(text, code);
    return places && applyPlaces(text, places);
  };
  const total = FILE.slice(FILE.indexOf('export function'), FILE.indexOf('export class') - 1);

  const found: readonly [name: string, text: string, code: string, result: string][] = [
    [
      'a function by its first and last line',
      FILE,
      'export function total(items: Item[]): number {\n  return 0;\n}\n',
      FILE.replace(total, 'export function total(items: Item[]): number {\n  return 0;\n}\n'),
    ],
    [
      'a function with another signature by its name',
      FILE,
      '// Simpler.\nexport function total(): number {\n  return 0;\n}',
      FILE.replace(total, 'export function total(): number {\n  return 0;\n}\n'),
    ],
    [
      'code with less indentation',
      FILE,
      'clear(): void {\n  this.items.length = 0;\n}',
      FILE.replace('this.items = [];', 'this.items.length = 0;'),
    ],
    ['one line with a name', FILE, 'let sum = 1;', FILE.replace('sum = 0', 'sum = 1')],
    [
      'a block by indentation',
      PYTHON,
      'def two():\n    return 2\n',
      PYTHON.replace('    x = 2\n\n    return x', '    return 2'),
    ],
    ['a whole file', FILE, FILE.replace('return 1', 'return 2'), FILE.replace('return 1', 'return 2')],
    ['lines of a file with CRLF', 'a1\r\nb\r\nc1\r\n', 'a1\nB\nc1', 'a1\nB\nc1\n'],
  ];
  for (const [name, text, code, result] of found) {
    it(`place of code: ${name}`, () => assert.equal(apply(text, code), result));
  }

  const unknown: readonly [name: string, text: string, code: string][] = [
    ['code that is not in the file', FILE, 'export function other(): void {\n  run();\n}'],
    ['a first line that is there twice', 'x = 1\ny = 2\nx = 1\ny = 2\n', 'x = 1\nz = 3\ny = 2'],
    ['several declarations', FILE, 'export function total(a): number {}\nexport class Basket2 {}'],
    ['a bracket alone', FILE, '}\n\n}'],
    ['nothing', FILE, '\n'],
    ['one line without a name', FILE, '  return sum;'],
  ];
  for (const [name, text, code] of unknown) {
    it(`place of code: is not guessed for ${name}`, () => assert.equal(apply(text, code), undefined));
  }

  it('place of code: pieces between comments that stand for code are placed one by one', () => {
    const code = `export function total(items: Item[]): number {\n  return 1;\n}\n\n// ... existing code ...\n\n  clear(): void {\n    this.items = new Set();\n  }\n`;
    const result = FILE.replace(total, 'export function total(items: Item[]): number {\n  return 1;\n}\n').replace(
      'this.items = [];',
      'this.items = new Set();',
    );
    assert.equal(apply(FILE, code), result);
  });
});
