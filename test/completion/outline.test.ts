import assert from 'node:assert/strict';
import { findDeclared, outlineAt, outlineModule } from '../../src/completion/context/outline.ts';
import { textDocument } from './text-document.ts';

/** What remains of a declaration. The first word after the language is its name. */
const CASES: readonly (readonly [string, string, string, string])[] = [
  [
    'typescript',
    'Options',
    `/** All options. */
export class Options extends Base {
  /** The size. */
  readonly size: number;
  #secret = 1;
  private hidden: string;
  style: Map<string, number> = new Map();
  @decorated()
  constructor(
    size: number,
    { deep }: { deep: boolean },
  ) {
    super();
    this.size = size;
  }
  get half(): number {
    return this.size / 2;
  }
  having(style: string, then: (value: string) => void): Options { return this; }
  async *items<T, U>(): AsyncIterable<T> {
    yield { a: 1 };
  }
}`,
    `export class Options extends Base
readonly size: number
style: Map<string, number> = new Map()
constructor(size: number, { deep }: { deep: boolean })
get half(): number
having(style: string, then: (value: string) => void): Options
async *items<T, U>(): AsyncIterable<T>`,
  ],
  [
    'typescript',
    'Shape',
    `export interface Shape<T> {
  kind: 'a' | 'b'; area(): number
  nested: { x: number; y: number };
  on(event: 'x', listener: () => void): void;
}`,
    `export interface Shape<T>
kind: 'a' | 'b'
area(): number
nested: { x: number; y: number }
on(event: 'x', listener: () => void): void`,
  ],
  [
    'typescript',
    'build',
    `export const build = function(
    node: Node,
    options?: Options,
): Span {
    return make(node);
};`,
    'export const build = function(node: Node, options?: Options): Span',
  ],
  [
    'typescript',
    'Builder',
    `export type Builder<T> =
  | ((group: T) => void)
  | undefined;
const other = 1;`,
    'export type Builder<T> = | ((group: T) => void) | undefined',
  ],
  ['typescript', 'Mode', 'export enum Mode { Math = "m", Text = "t" }', 'export enum Mode\nMath = "m"\nText = "t"'],
  [
    'typescript',
    'utils',
    'export const utils = {\n  add(a: number) { return a; },\n  zero: 0,\n};',
    'export const utils =\nadd(a: number)\nzero: 0',
  ],
  ['typescript', 'LIMIT', 'export const LIMIT = 12; // much', 'export const LIMIT = 12'],
  ['typescript', 'open', 'export function open(text = "{") {\n  return 1;\n}', 'export function open(text = "{")'],
  [
    'python',
    'Store',
    `class Store(Base):
    """All items."""
    limit: int = 3

    def __init__(self, path: str):
        self.path = path
        self.items: dict[str, int] = {}

    async def get(
        self,
        key: str,
    ) -> int:
        return 1

    def __private(self): pass

class Other:
    x = 1`,
    `class Store(Base):
limit: int = 3
def __init__(self, path: str):
self.path
self.items: dict[str, int]
async def get(self, key: str) -> int:`,
  ],
  ['python', 'load', 'def load(path: str) -> Store:\n    return Store(path)', 'def load(path: str) -> Store:'],
  [
    'go',
    'Store',
    `type Store struct {
	path string
	items map[string]int
}

func (s *Store) Get(key string) (int, error) {
	return s.items[key], nil
}

func Open(path string) *Store {
	return nil
}`,
    `type Store struct
path string
items map[string]int
func (s *Store) Get(key string) (int, error)`,
  ],
  [
    'rust',
    'Parser',
    `pub struct Parser<'a> {
    pub text: &'a str,
    at: usize,
}

impl<'a> Parser<'a> {
    pub fn new(text: &'a str) -> Self {
        Parser { text, at: 0 }
    }
    fn next(&mut self) -> Option<char> { None }
}`,
    `pub struct Parser<'a>
pub text: &'a str
at: usize
pub fn new(text: &'a str) -> Self
fn next(&mut self) -> Option<char>`,
  ],
  [
    'java',
    'Point',
    'public record Point(int x, int y) {\n  int sum() { return x + y; }\n}',
    'public record Point(int x, int y)\nint sum()',
  ],
];

describe('outline of a declaration', () => {
  for (const [language, name, text, expected] of CASES) {
    it(`outline: ${language} ${name} has signatures and members without bodies`, () => {
      const document = textDocument('other', text, language);
      const line = text
        .split('\n')
        .findIndex((each) => new RegExp(`\\b${name}\\b`).test(each) && !each.startsWith('/*'));
      const outline = outlineAt(document, line);
      assert.equal([outline?.header, ...(outline?.members ?? [])].join('\n'), expected);
    });
  }

  it('outline: a file has what it exports', () => {
    const text =
      'import x from "x";\nexport function a(): void {}\nfunction b() {}\nexport { b };\nexport * from "./c";\nexport default class D {}';
    assert.deepEqual(outlineModule(textDocument('a.ts', text)).members, [
      'export function a(): void',
      'export default class D',
    ]);
  });

  it('outline: damaged code has an end', () => {
    for (const text of [
      'class A {\n  a(',
      'export const a = {{{{',
      'type A = |',
      ')}]',
      'class A {\n'.repeat(3_000),
      '`${'.repeat(400),
    ]) {
      const document = textDocument('a.ts', text);
      assert.doesNotThrow(() => outlineAt(document, 0));
      assert.doesNotThrow(() => outlineModule(document));
    }
  });

  it('declaration: is found by its name in the languages that have no provider', () => {
    const line = (languageId: string, text: string, name: string) =>
      findDeclared(textDocument('a', text, languageId)).get(name);
    assert.equal(line('typescript', '// a\nexport abstract class Foo {}', 'Foo'), 1);
    assert.equal(line('typescript', 'const x = Foo;\nexport const Foo = 1;', 'Foo'), 1);
    assert.equal(line('typescript', 'export type $a$ = 1', '$a$'), 0);
    assert.equal(line('python', 'x = 1\nasync def load(): pass', 'load'), 1);
    assert.equal(line('python', 'LIMIT: int = 3', 'LIMIT'), 0);
    assert.equal(line('go', 'func (s *Store) Get() {}\nfunc Open() {}', 'Open'), 1);
    assert.equal(line('rust', 'pub(crate) fn parse() {}', 'parse'), 0);
    assert.equal(line('typescript', 'Foo(); FooBar = 1', 'Foo'), undefined);
  });
});
