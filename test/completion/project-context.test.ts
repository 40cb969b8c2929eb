import assert from 'node:assert/strict';
import { enclosingFunction, expectedAt, findCodeNames } from '../../src/completion/context/code-names.ts';
import { HangingRequests } from '../../src/completion/context/hanging-requests.ts';
import { findImports } from '../../src/completion/context/import-paths.ts';
import { isLibrary, readSignature, withoutDefaults } from '../../src/completion/context/library-signature.ts';
import { ProjectDeclarations } from '../../src/completion/context/project-declarations.ts';
import type { DeclaredAt, ProjectReader } from '../../src/completion/context/project-reader.ts';
import type { DocumentText } from '../../src/completion/document/document-text.ts';
import { chooseSnippets, type Snippet } from '../../src/completion/prompt/context.ts';
import { textDocument, withCaret } from './text-document.ts';

const OPTIONS =
  'export class Options {\n  style: Style;\n  havingSize(size: number): Options {\n    return this;\n  }\n}';
const FILES: Readonly<Record<string, string>> = {
  'src/Options.ts': OPTIONS,
  'src/make.ts': 'export function makeSpan(classes: string[]): Span {\n  return new Span(classes);\n}',
  'src/html.ts': 'export const build = (node: Node): Span => {\n  return x;\n};\nexport const LIMIT = 3;',
  'src/base.ts': 'class Base {\n  close(): void {}\n}\nexport default Base;',
  'lib/store.py': 'class Store:\n    def get(self, key): return 1\n',
};

/** A project whose language finds what it is told. */
const LANGUAGES: Readonly<Record<string, string>> = { '.py': 'python', '.rb': 'ruby' };

type Declared = ReturnType<ProjectReader['declarations']>;

class TestReader implements ProjectReader {
  time = 0;
  asked: string[] = [];
  readonly files: Record<string, string>;
  open: readonly string[] = [];
  answer: (name: string, of: 'name' | 'type') => Awaited<Declared> | Declared = () => [];
  document: DocumentText | undefined;
  signatures: Record<string, string> = {};
  expects: readonly string[] = [];

  constructor(files = FILES) {
    this.files = { ...files };
  }

  now = () => this.time;
  visited = async () => this.open.map((path) => this.#text(path)).filter((text) => text !== undefined);
  reads: string[] = [];
  read = async (uri: string) => {
    const path = uri.replace('file:///work/', '');
    const text = this.#text(path);
    if (text !== undefined) this.reads.push(path);
    return text;
  };
  declarations: ProjectReader['declarations'] = async (_, { line, character }, of) => {
    const name = /^[\w$]+/.exec(this.document?.lineAt(line).slice(character) ?? '')?.[0] ?? '';
    this.asked.push(`${of} ${name}`);
    return this.answer(name, of);
  };

  signature: ProjectReader['signature'] = async (_, { line, character }) => {
    const name = /^[\w$]+/.exec(this.document?.lineAt(line).slice(character) ?? '')?.[0] ?? '';
    this.asked.push(`signature ${name}`);
    return this.signatures[name];
  };
  expected: ProjectReader['expected'] = async () => this.expects;

  #text(path: string): DocumentText | undefined {
    const text = this.files[path];
    return text === undefined ? undefined : textDocument(path, text, LANGUAGES[path.slice(-3)] ?? 'typescript');
  }
}

async function find(reader: TestReader, path: string, text: string, languageId = 'typescript') {
  const place = withCaret(path, text, languageId);
  reader.document = place.document;
  const reports: (readonly Snippet[])[] = [];
  const declarations = new ProjectDeclarations(reader);
  const search = () => declarations.find(place, new AbortController().signal, (each) => reports.push(each));
  const found = await search();
  return { found, reports, search, paths: found.map((each) => each.path).sort() };
}

const at = (path: string, line: number, character = 13): DeclaredAt => ({
  uri: `file:///work/${path}`,
  line,
  character,
});

describe('declarations of the project', () => {
  it('declarations: of what is imported are found by path, without a provider', async () => {
    const { found, reports } = await find(
      new TestReader(),
      'src/a.ts',
      `import Base from './base';
import {
  makeSpan as span,
} from "./make";
import * as html from './html.js';
import type { Options } from './Options';
import fs from 'node:fs';
export const a = (options: Options) => {
  |
};`,
    );
    const text = (path: string) => found.find((each) => each.path === path)?.text;
    assert.equal(text('src/base.ts'), 'class Base\n  close(): void');
    assert.equal(text('src/make.ts'), 'export function makeSpan(classes: string[]): Span');
    assert.equal(text('src/html.ts'), 'html:\n  export const build = (node: Node): Span =>\n  export const LIMIT = 3');
    assert.equal(text('src/Options.ts'), 'export class Options\n  style: Style\n  havingSize(size: number): Options');
    assert.equal(reports.length, 1);
    const score = (path: string) => found.find((each) => each.path === path)?.score ?? 0;
    assert.ok(score('src/Options.ts') > score('src/html.ts'), 'the type of a parameter is needed more than an import');
  });

  const EXPORTS = {
    'src/index.ts':
      "export * from './gone';\nexport * from './parts';\nexport { default } from './base';\n" +
      "export { default as Other, makeSpan as span } from './parts/make';",
    'src/parts/index.ts':
      "export * from '..';\nexport type * from './shape';\nexport * from './area';\nexport * from './make';",
    'src/parts/shape.ts': "import type { Area } from '..';\nexport interface Shape {\n  area: Area;\n}",
    'src/parts/area.ts': 'export interface Area {\n  size: number;\n}',
    'src/parts/make.ts': 'export default class Maker {}\nexport function makeSpan(): void {}\nexport const LIMIT = 3;',
    'src/base.ts': FILES['src/base.ts'] ?? '',
    'lib/__init__.py': 'from .store import *\nfrom .store import Store as Shop',
    'lib/store.py': 'class Store:\n    def get(self, key): return 1\nclass Item:\n    price: int\n',
  };
  const REEXPORTED: readonly (readonly [kind: string, language: string, text: string, found: readonly string[]])[] = [
    ['by name', 'typescript', "import { Other, span } from './index';", ['function makeSpan', 'class Maker']],
    ['all names', 'typescript', "import { LIMIT, Shape, Gone } from '.';", ['const LIMIT', 'interface Shape']],
    ['its default', 'typescript', "import Base from '.';", ['class Base']],
    ['a type of a type', 'typescript', "import { Shape } from '.';\nlet a: Shape = { area: {", ['interface Area']],
    ['in Python', 'python', 'from lib import Shop, Item', ['class Store', 'class Item']],
  ];
  for (const [kind, language, text, wanted] of REEXPORTED)
    it(`declarations: what another file exports is found: ${kind}`, async () => {
      const path = language === 'python' ? 'a.py' : 'src/a.ts';
      const { found } = await find(new TestReader(EXPORTS), path, `${text}|`, language);
      const all = found.map((each) => each.text).join('\n');
      assert.deepEqual(
        wanted.filter((each) => !all.includes(each)),
        [],
      );
    });

  it('declarations: through files that export all names, only exported ones are found', async () => {
    const reader = new TestReader({
      'src/index.ts': "export * from './a';\nexport * from './b';\nexport * from './c';",
      'src/a.ts': 'const logger = 1;\nconst size = 2;\nexport const a = 3;',
      'src/b.ts': 'export const logger: Logger = make();',
      'src/c.ts': 'const size: Size = 4;\nexport {\n  size,\n};',
    });
    const { found } = await find(reader, 'src/d.ts', "import { logger, size } from '.';\n|");
    assert.deepEqual(found.map(({ path }) => path).sort(), ['src/b.ts', 'src/c.ts']);
  });

  it('declarations: a declaration after comments is no module, if its language has none', async () => {
    const reader = new TestReader({ 'lib/shop.rb': '# frozen_string_literal: true\n\nclass Shop\nend\n' });
    reader.answer = (name, of) => (name === 'shop' && of === 'name' ? [at('lib/shop.rb', 2, 0)] : []);
    const { found } = await find(reader, 'lib/a.rb', 'shop.|', 'ruby');
    assert.deepEqual(
      found.map(({ text }) => text),
      ['class Shop'],
    );
  });

  it('declarations: of many files that export all of each other, some are read, and each once', async () => {
    const names = Array.from({ length: 60 }, (_, index) => `part${index}`);
    const all = names.map((name) => `export * from './${name}';`).join('\n');
    const reader = new TestReader(Object.fromEntries(names.map((name) => [`src/${name}.ts`, all])));
    const { found } = await find(reader, 'src/a.ts', "import { Gone, Lost } from './part0';\n|");
    assert.deepEqual(found, []);
    assert.equal(reader.reads.length, 40);
  });

  it('declarations: of a union of many types, none is more likely than the others', async () => {
    const names = Array.from({ length: 5 }, (_, index) => `Shape${index}`);
    const reader = new TestReader({
      'src/shapes.ts': names.map((name) => `export interface ${name} {}`).join('\n'),
    });
    const types = (count: number) => names.slice(0, count).map((_, line) => at('src/shapes.ts', line));
    let count = 5;
    reader.answer = (name, of) => (name === 'shape' && of === 'type' ? types(count) : []);
    const text = 'build((shape) => {\n  |\n});';
    assert.deepEqual((await find(reader, 'src/a.ts', text)).found, []);
    count = 2;
    assert.equal((await find(reader, 'src/a.ts', text)).found.length, 2);
  });

  it('declarations: a module is found where its code begins, and has the name by which it is used', async () => {
    const reader = new TestReader({
      'src/html.ts': "/**\n * Builds.\n */\n\nimport { a } from './a';\nexport function build(): void {}\n",
    });
    reader.answer = (name, of) => (name === 'markup' && of === 'name' ? [at('src/html.ts', 4, 0)] : []);
    const { found } = await find(reader, 'src/b.ts', "import * as markup from '@app/html';\nmarkup.|");
    assert.deepEqual(
      found.map(({ text }) => text),
      ['markup:\n  export function build(): void'],
    );
  });

  it('declarations: of a long type, the members that the file names come first, as long as a function is typed', async () => {
    const members = Array.from({ length: 60 }, (_, index) => `  member${index}: Something${index} | undefined;`);
    const reader = new TestReader({ 'src/long.ts': `export interface Long {\n${members.join('\n')}\n}` });
    const head = "import type { Long } from './long';\nuse(member58);\nfunction run(long: Long) {\n";
    const textOf = async (body: string) => (await find(reader, 'src/a.ts', `${head}${body}|\n}`)).found[0]?.text ?? '';
    const text = await textOf('  ');
    assert.ok(text.includes('member0:') && text.includes('member58:') && !text.includes('member59:'), text);
    assert.equal(await textOf('  log(member59);\n  '), text);
    assert.equal(await textOf('  log(member59);\n  if (long) {\n    '), text, 'in a block of the function');
  });

  it('declarations: the type of a value may be a property of a type, without a name of its own', async () => {
    const reader = new TestReader({
      'src/nodes.ts':
        "type Nodes = {\n  'text': {\n    body: string;\n    font?: Font;\n  };\n  'rule': {\n    width: number;\n  };\n};",
    });
    reader.answer = (name, of) => (name === 'node' && of === 'type' ? [at('src/nodes.ts', 5, 10)] : []);
    const { found } = await find(reader, 'src/a.ts', 'build((node) => {\n  |\n});');
    assert.deepEqual(
      found.map(({ text }) => text),
      ["'rule':\n  width: number"],
    );
  });

  const TYPED = {
    'src/users.ts':
      "import type { Profile } from './types';\nexport interface UserOptions {\n  name: string;\n  profile: Profile;\n  other: Unrelated;\n}\n" +
      'export function createUser(options: UserOptions, done: Done): User {\n  return hidden;\n}\nexport class User {\n  id: number;\n}\n' +
      'type Done = (reply: Reply) => void;\nexport interface Unrelated {\n  nothing: 1;\n}',
    'src/types/index.ts': "export { Profile } from './profile';\nexport type { Reply } from './reply';",
    'src/types/profile.ts':
      'export interface Profile {\n  email: string;\n  address: Address;\n}\ninterface Address {\n  street: string;\n}',
  };
  const EXPECTED: readonly (readonly [place: string, text: string, found: readonly string[]])[] = [
    ['an argument', 'createUser(|', ['createUser', 'Done', 'User', 'UserOptions']],
    [
      'a property of an argument',
      'createUser({\n  name: "a",\n  profile: {\n    address: {\n      |\n    },\n  },\n});',
      ['Address', 'createUser', 'Done', 'Profile', 'User', 'UserOptions'],
    ],
    ['a value', 'const a: UserOptions = { profile: { | } };', ['Profile', 'UserOptions']],
    ['an element', 'const all: UserOptions[] = [\n  {\n    |\n  },\n];', ['UserOptions']],
    ['a result', 'function a(): User {\n  return {|};\n}', ['User']],
    ['nothing', 'const a = 1;\n|', []],
  ];
  for (const [place, text, names] of EXPECTED)
    it(`declarations: the types that are expected are followed into other files: ${place}`, async () => {
      const head = "import { createUser, User, UserOptions } from './users';\n";
      const { found } = await find(new TestReader(TYPED), 'src/a.ts', head + text);
      const declared = found.flatMap((each) => /(?:function|interface|class|type) (\w+)/.exec(each.text)?.[1] ?? []);
      const all = [...new Set(['createUser', 'User', 'UserOptions', ...names])].sort();
      assert.deepEqual(declared.sort(), all.sort());
    });

  it('declarations: the type of a variable without an annotation comes from the language', async () => {
    const reader = new TestReader();
    reader.answer = (name, of) => (name === 'options' && of === 'type' ? [at('src/Options.ts', 0)] : []);
    const { paths, reports } = await find(reader, 'src/a.ts', 'build((group, options) => {\n  |\n});');
    assert.deepEqual(paths, ['src/Options.ts']);
    assert.deepEqual(reports, [[]]);
  });

  it('declarations: without an answer of the language, those of import paths are known', async () => {
    const reader = new TestReader();
    reader.answer = () => new Promise(() => undefined);
    const place = withCaret('src/a.ts', "import { makeSpan } from './make';\nconst a = () => {\n  |\n};");
    reader.document = place.document;
    const late = new AbortController();
    const paths = (snippets: readonly Snippet[]) => snippets.map(({ path }) => path);
    let found: Promise<readonly Snippet[]> | undefined;
    const reported = await new Promise<readonly Snippet[]>((resolve) => {
      found = new ProjectDeclarations(reader).find(place, late.signal, resolve);
    });
    assert.deepEqual(paths(reported), ['src/make.ts']);
    late.abort();
    assert.deepEqual(paths((await found) ?? []), ['src/make.ts']);
  });

  it('declarations: a language that answers with the import itself is asked again, later', async () => {
    const reader = new TestReader({ 'src/Options.ts': OPTIONS });
    reader.answer = () => [at('src/a.ts', 0, 9)];
    const { paths, search } = await find(
      reader,
      'src/a.ts',
      "import { Options } from '@app/options';\nconst a = () => {\n  |\n};",
    );
    assert.deepEqual(paths, []);
    reader.answer = (name) => (name === 'Options' ? [at('src/Options.ts', 0)] : []);
    assert.deepEqual(await search(), [], 'not with each key');
    reader.time += 3_000;
    assert.deepEqual(
      (await search()).map(({ path }) => path),
      ['src/Options.ts'],
    );
    const { length } = reader.asked;
    reader.time += 3_000;
    reader.asked = [];
    await search();
    assert.ok(!reader.asked.includes('name Options'), 'an answer is kept');
    assert.ok(length > 0);
  });

  it('declarations: a language that is too far behind to be asked is asked by the next search', async () => {
    const reader = new TestReader();
    reader.answer = () => undefined;
    const { paths, search } = await find(reader, 'src/a.ts', 'build((group, options) => {\n  |\n});');
    assert.deepEqual(paths, []);
    reader.answer = (name, of) => (name === 'options' && of === 'type' ? [at('src/Options.ts', 0)] : []);
    assert.deepEqual(
      (await search()).map(({ path }) => path),
      ['src/Options.ts'],
    );
  });

  it('declarations: visited files count by the names around the caret, not by what was opened last', async () => {
    const reader = new TestReader({ ...FILES, 'src/last.ts': 'export const unrelated = 1;' });
    reader.open = ['src/last.ts', 'src/html.ts', 'src/Options.ts', 'lib/store.py'];
    const { paths } = await find(reader, 'src/a.ts', 'function a(options: Options) {\n  |\n}');
    assert.deepEqual(paths, ['src/Options.ts']);
  });

  it('declarations: those of the file itself, of files that must not be sent and wrong places are left out', async () => {
    const reader = new TestReader();
    reader.answer = () => [at('src/a.ts', 0), at('.env', 0), at('src/make.ts', 99)];
    const { found } = await find(reader, 'src/a.ts', 'const one = 1;\nfunction a(options) {\n  |\n}');
    assert.deepEqual(found, []);
  });

  it('imports: Python and TypeScript name the same files as their languages do', () => {
    const paths = (path: string, text: string, languageId: string) =>
      findImports(textDocument(path, text, languageId)).map(({ names, uris }) => [
        [...names].map(([local, name]) => (local === name ? name : `${name} as ${local}`)).join(', '),
        ...uris.map((uri) => uri.replace('file:///work/', '')),
      ]);
    assert.deepEqual(paths('a/b/c.py', 'from .store import Store, x as y  # z', 'python'), [
      ['Store, x as y', 'a/b/store.py', 'a/b/store/__init__.py'],
    ]);
    assert.deepEqual(
      paths('a/b/c.py', 'from ..lib.store import (\n    Store,\n    Item,\n)', 'python')[0]?.slice(0, 2),
      ['Store, Item', 'a/lib/store.py'],
    );
    assert.ok(paths('a/b/c.py', 'from lib.store import Store', 'python')[0]?.includes('lib/store.py'));
    assert.deepEqual(
      paths('a/b/c.py', 'from .store import *\nimport sys', 'python').map((found) => found.slice(0, 2)),
      [['*', 'a/b/store.py']],
    );
    assert.deepEqual(
      paths('src/a.ts', "export * from './b';\nexport type * from './c';\nexport * as d from './d';", 'typescript').map(
        (found) => found.slice(0, 2),
      ),
      [
        ['*', 'src/b.ts'],
        ['*', 'src/c.ts'],
        ['* as d', 'src/d.ts'],
      ],
    );
    assert.deepEqual(paths('src/a.js', "const { a, b: c } = require('../lib/d');", 'javascript')[0]?.slice(0, 2), [
      'a, b as c',
      'lib/d.ts',
    ]);
    assert.deepEqual(paths('src/a.ts', "import './side-effect';\nimport x from 'react';", 'typescript'), []);
  });

  const USER = "import { debounce } from 'tools';\nfunction run() {\n  debounce(work, |\n}";
  const library = (name: string) => (asked: string, of: string) =>
    asked === name && of === 'name' ? [{ ...at('node_modules/tools/index.d.ts', 7), library: true }] : [];

  it('declarations: of a library, only the signature is sent, and asked for once', async () => {
    const reader = new TestReader({ 'node_modules/tools/index.d.ts': 'secret' });
    reader.answer = library('debounce');
    reader.signatures = { debounce: 'function debounce(work: () => void, ms: number): void' };
    const { found, search } = await find(reader, 'src/a.ts', USER);
    const told = found.find(({ path }) => path === 'index.d.ts');
    assert.deepEqual(
      [told?.kind, told?.text],
      ['declaration', 'function debounce(work: () => void, ms: number): void'],
    );
    await search();
    assert.equal(reader.asked.filter((each) => each === 'signature debounce').length, 1);
  });

  it('declarations: a signature that arrives late is used by the next search', async () => {
    const reader = new TestReader();
    reader.answer = library('debounce');
    let answer = (_: string) => {};
    reader.signature = () =>
      new Promise<string>((resolve) => {
        answer = resolve;
      });
    const { found, search } = await find(reader, 'src/a.ts', USER);
    assert.deepEqual(found, []);
    answer('function debounce(): void');
    await new Promise(setImmediate);
    assert.deepEqual(
      (await search()).map(({ text }) => text),
      ['function debounce(): void'],
    );
  });

  it('declarations: no signature is asked for if a name is declared in a file of the project that must not be sent', async () => {
    const reader = new TestReader();
    reader.answer = (name, of) => (name === 'KEY' && of === 'name' ? [at('secrets/key.ts', 0)] : []);
    reader.signatures = { KEY: 'const KEY: "s3cr3t"' };
    const { found } = await find(reader, 'src/a.ts', "import { KEY } from '../secrets/key';\nuse(KEY, |);");
    assert.ok(!reader.asked.includes('signature KEY'));
    assert.ok(!JSON.stringify(found).includes('s3cr3t'));
  });

  it('declarations: what the language expects at the caret is a note of the file, first of all', async () => {
    const reader = new TestReader();
    reader.expects = ['debounce(work: () => void, ms: number): void'];
    const { found } = await find(reader, 'src/a.ts', USER);
    const note = found.find(({ kind }) => kind === 'expected');
    assert.deepEqual([note?.note, note?.path, note?.text], ['Expected', 'src/a.ts', reader.expects[0]]);
    assert.equal(chooseSnippets(found, 120)[0], note);
  });

  /** A language that answers when it is told to. */
  function slowLanguage() {
    const reader = new TestReader();
    const asked: ((lines: readonly string[]) => void)[] = [];
    reader.expected = () => new Promise((resolve) => asked.push(resolve));
    const declarations = new ProjectDeclarations(reader);
    const expected = async (text: string) => {
      const place = withCaret('src/a.ts', text, 'typescript');
      const found = await declarations.find(place, new AbortController().signal, () => undefined);
      return found.find(({ kind }) => kind === 'expected')?.text;
    };
    return { asked, declarations, expected };
  }

  it('declarations: what a slow language expects is used while the user writes on in the same call, and only there', async () => {
    const { asked, declarations, expected } = slowLanguage();
    assert.equal(await expected('debounce(|'), undefined);
    asked[0]?.(['debounce(work: () => void, ms: number): void']);
    assert.equal(await expected('debounce(() => save(), 10|'), 'debounce(work: () => void, ms: number): void');
    assert.equal(await expected('throttle(|'), undefined);
    assert.equal(await expected('debounce(() => save(|'), undefined);
    assert.equal(await expected('debounce.|'), undefined);
    assert.equal(await expected('\ndebounce(|'), undefined);
    assert.notEqual(await expected('debounce(|'), undefined);
    declarations.clear();
    assert.equal(await expected('debounce(|'), undefined);
  });

  it('declarations: a slow language has one question about a call at a time', async () => {
    const { asked, expected } = slowLanguage();
    await Promise.all(['debounce(|', 'debounce(s|', 'debounce(sa|'].map(expected));
    await expected('debounce(sav|');
    assert.equal(asked.length, 1);
    asked[0]?.(['debounce(work: () => void, ms: number): void']);
    assert.equal(await expected('debounce(save|'), 'debounce(work: () => void, ms: number): void');
    assert.equal(asked.length, 2);
  });

  it('declarations: a language that expects nothing for a moment keeps its last answer about a call', async () => {
    const { asked, expected } = slowLanguage();
    void expected('debounce(|');
    while (asked.length < 1) await new Promise(setImmediate);
    asked[0]?.(['debounce(work: () => void, ms: number): void']);
    const next = expected('debounce(save|');
    while (asked.length < 2) await new Promise(setImmediate);
    asked[1]?.([]);
    assert.equal(await next, 'debounce(work: () => void, ms: number): void');
  });

  for (const call of ['signature', 'expected'] as const) {
    it(`declarations: a search ends although the language never answers ${call}`, async () => {
      const reader = new TestReader();
      reader.expects = ['debounce(work: () => void)'];
      reader.signatures = { debounce: 'function debounce(work: () => void): void' };
      reader.answer = library('debounce');
      reader[call] = () => new Promise<never>(() => undefined);
      const { found } = await find(reader, 'src/b.ts', USER);
      assert.deepEqual(
        found.map(({ kind }) => kind),
        [call === 'signature' ? 'expected' : 'declaration'],
      );
    });

    it(`declarations: a language that never answers ${call} does not keep the others back`, async () => {
      const reader = new TestReader();
      reader.answer = (name, of) => (name === 'build' ? [at('src/html.ts', 0)] : library('debounce')(name, of));
      reader[call] = () => new Promise<never>(() => undefined);
      const place = withCaret('src/b.ts', USER.replace('work', 'build'), 'typescript');
      reader.document = place.document;
      const stop = new AbortController();
      const finding = new ProjectDeclarations(reader).find(place, stop.signal, () => undefined);
      while (!reader.asked.includes('type build')) await new Promise(setImmediate);
      await new Promise(setImmediate);
      stop.abort();
      assert.ok((await finding).some(({ path }) => path === 'src/html.ts'));
    });
  }
});

describe('answers of the language', () => {
  it('requests: a provider that hangs gets no more, and other kinds of requests do', async () => {
    const requests = new HangingRequests();
    const asked: string[] = [];
    const ask = (kind: string, answer: Promise<string>) =>
      requests.ask(kind, () => {
        asked.push(kind);
        return answer;
      });
    let answerAll = (_: string) => {};
    const hanging = new Promise<string>((resolve) => {
      answerAll = resolve;
    });
    const waiting = Array.from({ length: 20 }, () => ask('Hover', hanging));
    assert.equal(asked.length, 6);
    assert.equal(await ask('Definition', Promise.resolve('here')), 'here');
    assert.equal(await ask('Definition', Promise.reject(new Error('failed'))), undefined);
    answerAll('late');
    await Promise.all(waiting);
    assert.equal(await ask('Hover', Promise.resolve('again')), 'again');
  });

  const LIBRARIES = [
    '/home/a/.cache/typescript/5.9/node_modules/@types/node/fs.d.ts',
    '/usr/share/code/resources/app/extensions/node_modules/typescript/lib/lib.dom.d.ts',
    '/home/a/.vscode/extensions/ms-python.vscode-pylance-2026.1.1/dist/typeshed-fallback/stdlib/json/__init__.pyi',
    '/usr/lib/python3.12/json/__init__.py',
    '/c:/Users/a/AppData/Local/Programs/Python/Python312/Lib/json/__init__.py',
    '/home/a/venv/lib/python3.12/site-packages/requests/api.py',
    '/usr/local/go/src/fmt/print.go',
    '/c:/Program Files/Go/src/fmt/print.go',
    '/opt/homebrew/Cellar/go/1.26.1/libexec/src/fmt/print.go',
    '/home/a/go/pkg/mod/github.com/b/c@v1.2.3/c.go',
    '/home/a/.cargo/registry/src/index.crates.io-1/serde-1.0.0/src/lib.rs',
    '/home/a/.rustup/toolchains/stable/lib/rustlib/src/rust/library/core/src/option.rs',
    '/var/lib/gems/3.2.0/gems/rack-3.0.0/lib/rack.rb',
    '/usr/include/stdio.h',
  ];
  const OTHERS = [
    '/home/a/other-repo/config.ts',
    '/home/a/other-repo/types/config.d.ts',
    '/home/a/other-repo/lib/config.py',
    '/home/a/go/src/example.com/other/config.go',
    '/home/a/other-repo/gems/own/config.rb',
    '/home/a/node_modules.ts',
  ];
  it('libraries: packages, stubs and standard libraries, but no other files outside of the workspace', () => {
    for (const path of LIBRARIES) assert.ok(isLibrary({ scheme: 'file', path }, undefined), path);
    for (const path of OTHERS) assert.ok(!isLibrary({ scheme: 'file', path }, undefined), path);
    assert.ok(isLibrary({ scheme: 'jdt', path: '/java.base/java.util/List.class' }, undefined));
    assert.ok(!isLibrary({ scheme: 'untitled', path: 'Untitled-1' }, undefined));
    const inside = (path: string) => isLibrary({ scheme: 'file', path: `/usr/lib/python3/work/${path}` }, path);
    assert.ok(inside('node_modules/a/index.d.ts') && inside('.venv/lib/python3.12/site-packages/a.py'));
    assert.ok(!inside('typings/a.pyi') && !inside('src/a.py'));
  });

  const HOVERS: readonly (readonly [hover: string, path: string, signature: string | undefined])[] = [
    ['```typescript\nconst TOKEN: "abc\\"def"\n```\nText', 'a.ts', 'const TOKEN: "…"'],
    [
      "```typescript\n(alias) const A: `a${string}b`, B: 'b'\nimport A\n```",
      'a.ts',
      '(alias) const A: "…", B: "…"\nimport A',
    ],
    [
      "```python\n(function) def f(key: str = 's3cr3t') -> None\n```",
      'a.py',
      '(function) def f(key: str = "…") -> None',
    ],
    [`\`\`\`typescript\nconst A: "${'s3cr3t'.repeat(100)}"\n\`\`\``, 'a.ts', 'const A: "…"'],
    ['```typescript\nconst A: "s3cr3t\n```', 'a.ts', 'const A: "…"'],
    ["```rust\npub fn f<'a>(x: &'a str) -> &'a str\n```", 'a.rs', "pub fn f<'a>(x: &'a str) -> &'a str"],
    ['```rust\nconst A: &\'static str = "s3cr3t"\n```', 'a.rs', 'const A: &\'static str = "…"'],
    ['no code', 'a.ts', undefined],
  ];
  it('signatures: of a hover, the first block of code, without the text of strings', () => {
    for (const [hover, path, signature] of HOVERS) assert.equal(readSignature(hover, path), signature, hover);
  });

  const LABELS: readonly (readonly [label: string, path: string, shown: string])[] = [
    ['on(event: "data" | \'end\', f: () => void): this', 'a.ts', 'on(event: "data" | \'end\', f: () => void): this'],
    ['(mode: Literal["r"], key: str = "s3cr3t")', 'a.py', '(mode: Literal["r"], key: str = "…")'],
    ["(a: str='s3cr3t', b: dict = {'k': 's3cr3t'}) -> None", 'a.py', '(a: str="…", b: dict = {"…": "…"}) -> None'],
    ['(a: str = "s3c\\"r3t", b: str = "s3cr3t', 'a.py', '(a: str = "…", b: str = "…"'],
    ['f(a: "x=y", b = `s3cr3t`)', 'a.ts', 'f(a: "x=y", b = "…")'],
    ["fn f<'a>(x: &'a str) -> &'a str", 'a.rs', "fn f<'a>(x: &'a str) -> &'a str"],
    [`f(key = "${'s3cr3t'.repeat(100)}")`, 'a.py', 'f(key = "…")'],
  ];
  it('signatures: of a call, with the strings of types and without those of default values', () => {
    for (const [label, path, shown] of LABELS) assert.equal(withoutDefaults(label, path), shown, label);
  });
});

describe('names around the caret', () => {
  it('names: those of the line and the parameters come first', () => {
    const place = withCaret(
      'a.ts',
      `import { far } from './far';
const other = unrelated(1);
class A extends Base {
  run(
    options: Options,
  ): Result {
    const near = "text"; // comment
    here.|
  }
}`,
    );
    const names = findCodeNames(place.document, place.position).map(({ name }) => name);
    assert.equal(names[0], 'here');
    assert.deepEqual(new Set(names.slice(1, 6)), new Set(['run', 'options', 'Options', 'Result', 'near']));
    assert.ok(names.includes('Base') && names.includes('far'));
    assert.ok(!names.includes('text') && !names.includes('comment') && !names.includes('const'));
  });

  const PLACES: readonly (readonly [text: string, expected: string])[] = [
    ['send(|', 'argument'],
    ['send(a, [b, |', 'argument'],
    ['send({ |', 'property argument'],
    ['send({\n  a: 1,\n  b: { c(d) { e(); } },\n  |', 'property argument'],
    ['const a: B = {\n  |\n};', 'property'],
    ['return {|', 'property'],
    ['const all = [{ |', 'property'],
    ['const all = [\n  { a: 1 },\n  {\n    |', 'property'],
    ['a();\n{\n  |', ''],
    ['const a = { b: "(", |', 'property'],
    ['if (a) {\n  |', ''],
    ['send(() => {\n  |', ''],
    ['type A = {\n  |', ''],
    ['case 1: {\n  |', ''],
    ['if (|', ''],
    ['for (const a of |', ''],
    ['send(a);\n|', ''],
    ['(|', ''],
  ];
  it('places: an argument of a call or a property of a value is expected, but not in a block', () => {
    for (const [text, expected] of PLACES) {
      const { document, position } = withCaret('a.ts', text);
      const { property, argument } = expectedAt(document, position);
      assert.equal([...(property ? ['property'] : []), ...(argument ? ['argument'] : [])].join(' '), expected, text);
    }
  });

  it('function around the caret: blocks and blank lines do not change it', () => {
    const body = (inner: string) => {
      const { document, position } = withCaret(
        'a.ts',
        `class A {\n  run(a: B): C {\n${inner}\n  }\n  other() {\n  }\n}`,
      );
      return enclosingFunction(document, position);
    };
    for (const inner of [
      '    |',
      '    if (a) {\n      |\n    }',
      '    x = 1;\n\n    y|',
      '|',
      '    for (;;) {\n|\n    }',
    ])
      assert.equal(body(inner), 'run(a: B): C {', inner);
    const python = withCaret('a.py', 'class A:\n    def run(self):\n        if x:\n            |', 'python');
    assert.equal(enclosingFunction(python.document, python.position), 'def run(self):');
  });
});

describe('choice of context', () => {
  const piece = (path: string, score: number, length = 80): Snippet => ({
    ...{ kind: 'declaration', path, line: 0, score },
    text: `${path} `.padEnd(length, 'x'),
  });
  const paths = (snippets: readonly Snippet[]) => snippets.map(({ path }) => path).join(' ');

  it('choice: the likeliest that have room, in the order of their paths', () => {
    const all = [piece('d', 1), piece('a', 0.5), piece('c', 3), piece('b', 2), piece('huge', 4, 5_000)];
    assert.equal(paths(chooseSnippets(all, 300)), 'b c d');
  });

  it('choice: what was sent keeps its place, and what is needed now follows it', () => {
    const first = chooseSnippets([piece('b', 2), piece('c', 2)], 1_000);
    const next = chooseSnippets([piece('b', 1), piece('a', 4), piece('c', 2), piece('z', 1)], 1_000, first);
    assert.equal(paths(next), 'b c a');
  });

  it('choice: a declaration that has changed is replaced in its place', () => {
    const first = chooseSnippets([piece('b', 2), piece('c', 2)], 1_000);
    const next = chooseSnippets([{ ...piece('b', 2), text: 'new' }, piece('c', 2)], 1_000, first);
    assert.deepEqual(
      next.map(({ text }) => text.slice(0, 3)),
      ['new', 'c x'],
    );
  });
});
