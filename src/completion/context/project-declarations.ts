import { setTimeout as sleep } from 'node:timers/promises';
import { aborted } from '../../base/concurrency.ts';
import type { DocumentText, Position } from '../document/document-text.ts';
import type { Snippet } from '../prompt/context.ts';
import { type CodeName, enclosingFunction, expectedAt, findCodeNames, namesAround, wordsOf } from './code-names.ts';
import { findImports, type ImportedFrom, isScript } from './import-paths.ts';
import { findDeclared, memberName, type Outline, outlineAt, outlineModule, typesIn } from './outline.ts';
import type { DeclaredAt, ProjectReader } from './project-reader.ts';

/** Names of which the declarations are looked up. */
const NAMES = 48;
/** Requests that a language server has at a time: the user's own wait behind them. */
const AT_A_TIME = 3;
/** Characters of the outline of one type. */
const OUTLINE = 1_100;
/** The type of a variable is needed more than the variable; the result of an imported function less than its signature. */
const TYPE_WEIGHT = 1.2;
const IMPORTED_TYPE_WEIGHT = 0.8;
/** Types of a union. */
const TYPES = 4;

/** Milliseconds for an answer without which the others are used. */
const LIMIT_MS = 300;

/** Types that are looked up in the signatures of what surrounds the caret, and how far. */
const FOLLOWED = 24;
const FOLLOWED_DEPTH = 3;
/** They are needed less often than what the code names. */
const FOLLOWED_WEIGHT = 0.35;
/** Files that import a name only to export it. */
const REEXPORTS = 3;
/** Lines that are searched for lists of exported names. */
const EXPORT_LINES = 2_000;
/** Files that are searched for names because another one exports all of theirs. */
const EXPORTED_WHOLE = 40;

interface Found {
  readonly document: DocumentText;
  readonly line: number;
  readonly outline: Outline;
  /** The names by which it was found. */
  readonly names: Set<string>;
  score: number;
}

/**
 * Milliseconds for which an answer of a language is used. One without a declaration in another file is asked for again
 * earlier, because its project may have loaded.
 */
const KEPT_MS = 60_000;
const FIRST_RETRY_MS = 3_000;
const LAST_RETRY_MS = 12_000;
const KEPT_ANSWERS = 1_000;
/** Files of which the declared names are known. */
const INDEXED = 64;

interface Answer {
  readonly places: readonly DeclaredAt[];
  /** Of a name in a library. */
  signature: string | undefined;
  readonly until: number;
  readonly retryMs: number;
}

const UNANSWERED: Pick<Answer, 'places' | 'signature'> = { places: [], signature: undefined };

/**
 * Finds the declarations in other files that code at the caret needs: of its imports, and of the names around
 * the caret and their types.
 */
export class ProjectDeclarations {
  readonly #reader: ProjectReader;
  readonly #answers = new Map<string, Answer>();
  readonly #declared = new DeclaredNames();
  /** Addresses at which imported files were found, by all where they may be. */
  readonly #places = new Map<string, string>();
  /** What the language expected last, and where. */
  #expected: { readonly place: string; readonly lines: readonly string[] } | undefined;
  /** The question that it has not answered yet. `inTime` resolves when it has, or when it is late. */
  #expecting: { readonly place: string; readonly inTime: Promise<unknown> } | undefined;

  constructor(reader: ProjectReader) {
    this.#reader = reader;
  }

  /** Another file changed: names may be declared elsewhere. */
  clear(): void {
    this.#answers.clear();
    this.#places.clear();
    this.#expected = undefined;
    this.#expecting = undefined;
  }

  /** @param report is called with the declarations in imported and open files, before the language is asked. */
  async find(
    { document, position }: { readonly document: DocumentText; readonly position: Position },
    signal: AbortSignal,
    report: (snippets: readonly Snippet[]) => void,
  ): Promise<readonly Snippet[]> {
    const names = findCodeNames(document, position);
    const search = new Search({ document, position }, this.#reader, this.#declared, this.#places);
    await search.byPath(names);
    const around = namesAround(document, position);
    await search.follow(around);
    if (signal.aborted) return search.snippets();
    report(search.snippets());
    const scope = `${document.uri} ${enclosingFunction(document, position)}`;
    const queue = names.slice(0, NAMES);
    const expect = async () => search.addExpected(await this.#expect(document, position));
    const work = async () => {
      for (let name = queue.shift(); name !== undefined && !signal.aborted; name = queue.shift()) {
        for (const kind of ['name', 'type'] as const) {
          const answer = await this.#ask(document.uri, name, kind, scope);
          await search.add(answer, name, kind);
        }
      }
    };
    // A language server may not answer at all.
    const all = Promise.all([expect(), ...Array.from({ length: AT_A_TIME }, work)]);
    await Promise.race([aborted(signal), all.then(() => search.follow(around))]);
    return search.snippets();
  }

  /**
   * What the language expects. A late answer is for the next searches at this place: a busy server is always late. So
   * it has one question about a place at a time. An empty answer does not replace another one: it may mean that the
   * server was not asked.
   */
  async #expect(document: DocumentText, position: Position): Promise<readonly string[]> {
    const at = expectedAt(document, position);
    const place = `${document.uri} ${at.place}`;
    if (this.#expecting?.place !== place) {
      const answered = this.#reader.expected(document.uri, position, at).then((lines) => {
        if (lines.length > 0) this.#expected = { place, lines };
        if (this.#expecting === asked) this.#expecting = undefined;
      });
      const asked = { place, inTime: Promise.race([answered, sleep(LIMIT_MS)]) };
      this.#expecting = asked;
    }
    await this.#expecting.inTime;
    return this.#expected?.place === place ? this.#expected.lines : [];
  }

  async #ask(
    uri: string,
    name: CodeName,
    of: 'name' | 'type',
    scope: string,
  ): Promise<Pick<Answer, 'places' | 'signature'>> {
    const key = `${of} ${name.name} ${scope}`;
    const now = this.#reader.now();
    const known = this.#answers.get(key);
    if (known !== undefined && now < known.until) return known;
    const found = await this.#reader.declarations(uri, name, of);
    if (found === undefined) return known ?? UNANSWERED;
    const places = found.filter((place) => place.uri !== uri);
    const inLibrary = of === 'name' && places.length > 0 && places.every(({ library }) => library === true);
    // At opening, the declaration of an import can be the import itself.
    const retryMs =
      places.length > 0 ? KEPT_MS : known === undefined ? FIRST_RETRY_MS : Math.min(LAST_RETRY_MS, known.retryMs * 2);
    this.#answers.delete(key);
    const answer: Answer = { places, signature: undefined, until: now + retryMs, retryMs };
    this.#answers.set(key, answer);
    const [oldest] = this.#answers.keys();
    if (this.#answers.size > KEPT_ANSWERS && oldest !== undefined) this.#answers.delete(oldest);
    if (inLibrary) {
      const signed = this.#reader.signature(uri, name).then((signature) => {
        answer.signature = signature;
      });
      // A later one is for the next search.
      await Promise.race([signed, sleep(LIMIT_MS)]);
    }
    return answer;
  }
}

interface Known {
  readonly version: number;
  readonly names: ReadonlyMap<string, number>;
  imports?: readonly ImportedFrom[];
}

/** The declared names and the imports of files. Each file is read once a version. */
class DeclaredNames {
  readonly #known = new Map<string, Known>();

  of(document: DocumentText): ReadonlyMap<string, number> {
    return this.#read(document).names;
  }

  importsOf(document: DocumentText): readonly ImportedFrom[] {
    const known = this.#read(document);
    known.imports ??= findImports(document);
    return known.imports;
  }

  #read(document: DocumentText): Known {
    const { uri, version } = document;
    const before = this.#known.get(uri);
    const known = before?.version === version ? before : { version, names: findDeclared(document) };
    this.#known.delete(uri);
    this.#known.set(uri, known);
    const [oldest] = this.#known.keys();
    if (this.#known.size > INDEXED && oldest !== undefined) this.#known.delete(oldest);
    return known;
  }
}

class Search {
  readonly #document: DocumentText;
  readonly #words: ReadonlySet<string>;
  readonly #reader: ProjectReader;
  readonly #declared: DeclaredNames;
  readonly #places: Map<string, string>;
  readonly #found = new Map<string, Found>();
  /** Answers of the language about no file. */
  readonly #told: Snippet[] = [];
  readonly #followed = new Set<string>();
  /** Files of which another one exports all names. */
  readonly #whole = new Set<string>();
  readonly #files = new Map<string, Promise<DocumentText | undefined>>();
  /** Local names. */
  readonly #imported = new Set<string>();

  constructor(
    { document, position }: { readonly document: DocumentText; readonly position: Position },
    reader: ProjectReader,
    declared: DeclaredNames,
    places: Map<string, string>,
  ) {
    this.#document = document;
    this.#words = wordsOf(document, position);
    this.#reader = reader;
    this.#declared = declared;
    this.#places = places;
  }

  async byPath(names: readonly CodeName[]): Promise<void> {
    const weights = new Map(names.map(({ name, weight }) => [name, weight]));
    await Promise.all(
      this.#declared.importsOf(this.#document).map(async ({ names: imported, uris }) => {
        const other = await this.#firstOf(uris);
        if (other === undefined) return;
        for (const [local, name] of imported) {
          if (local === '*') continue;
          this.#imported.add(local);
          const whole = name === '*';
          const found = whole ? { document: other, line: 0 } : await this.#resolve(other, name);
          const weight = weights.get(local) ?? 1;
          if (found !== undefined && found.document.uri !== this.#document.uri)
            this.#add(found.document, found.line, { weight, name: local, whole });
        }
      }),
    );
    const open = await this.#openFiles();
    const own = this.#declared.of(this.#document);
    for (const { name, weight } of names.slice(0, NAMES)) {
      if (weight < 1.5 || name.length < 3 || own.has(name)) continue;
      for (const other of open) {
        const line = this.#declared.of(other).get(name);
        if (line === undefined) continue;
        this.#add(other, line, { weight: weight * 0.8, name });
        break;
      }
    }
  }

  /**
   * The types in the signatures of what surrounds the caret: of arguments, results and properties. They are looked up
   * by path, because a language would have to open the other files.
   *
   * @param around names of what surrounds the caret.
   */
  async follow(around: ReadonlySet<string>): Promise<void> {
    const isAround = ({ names }: Found) => [...names].some((name) => around.has(name));
    let level = [...this.#found.values()].filter(isAround).sort((a, b) => b.score - a.score);
    for (let depth = 0; depth < FOLLOWED_DEPTH; depth++) {
      const next: Found[] = [];
      for (const { document, outline, names, score } of level) {
        for (const name of typesIn(outline, around)) {
          const key = `${document.uri} ${name}`;
          if (names.has(name) || this.#followed.has(key)) continue;
          if (this.#followed.size >= FOLLOWED) return;
          this.#followed.add(key);
          const declared = await this.#resolve(document, name);
          if (declared === undefined || declared.document.uri === this.#document.uri) continue;
          const added = this.#add(declared.document, declared.line, { weight: score * FOLLOWED_WEIGHT, name });
          if (added !== undefined) next.push(added);
        }
      }
      level = next;
    }
  }

  async add(
    { places, signature }: Pick<Answer, 'places' | 'signature'>,
    { name, weight: own }: CodeName,
    of: 'name' | 'type',
  ): Promise<void> {
    const weight = of === 'name' ? own : own * (this.#imported.has(name) ? IMPORTED_TYPE_WEIGHT : TYPE_WEIGHT);
    const [library] = places;
    // Any two of many would be sent.
    if (of === 'type' && places.length > TYPES) return;
    if (signature !== undefined && library !== undefined) {
      const path = library.uri.slice(library.uri.lastIndexOf('/') + 1);
      this.#told.push({ kind: 'declaration', path, line: library.line, text: signature, score: weight });
    }
    for (const { uri, line, character } of places.slice(0, 2)) {
      const other = await this.#reader.read(uri, this.#document.languageId);
      const whole =
        other !== undefined && character === 0 && isFirstCode(other, line) && outlineModule(other).members.length > 0;
      if (other !== undefined) this.#add(other, line, { weight, name, whole });
    }
  }

  addExpected(expected: readonly string[]): void {
    const { path } = this.#document;
    if (path === undefined || expected.length === 0) return;
    this.#told.push({ kind: 'expected', note: 'Expected', path, line: 0, text: expected.join('\n'), score: 3.5 });
  }

  async #openFiles(): Promise<readonly DocumentText[]> {
    const { languageId, uri } = this.#document;
    const visited = await this.#reader.visited();
    return visited.filter((other) => other.languageId === languageId && other.uri !== uri);
  }

  /**
   * The declaration of a name that a file uses or exports.
   *
   * @param searched files that were searched because another one exports all of their names.
   * @param exported whether the file must export it.
   */
  async #resolve(
    document: DocumentText,
    name: string,
    reexports = REEXPORTS,
    searched = new Set<string>(),
    exported = false,
  ): Promise<Pick<Found, 'document' | 'line'> | undefined> {
    const line = name === 'default' ? this.#findDefault(document) : this.#declared.of(document).get(name);
    if (line !== undefined && (!exported || isExported(document, line, name))) return { document, line };
    const imports = reexports === 0 ? [] : this.#declared.importsOf(document);
    const named = imports.find(({ names }) => names.has(name));
    if (named !== undefined) {
      const imported = named.names.get(name) ?? name;
      const other = imported === '*' ? undefined : await this.#firstOf(named.uris);
      return other && this.#resolve(other, imported, reexports - 1, searched);
    }
    for (const { names, uris } of name === 'default' ? [] : imports) {
      const [uri = ''] = uris;
      if (!names.has('*') || searched.has(uri) || !this.#mayExport(uri)) continue;
      // A file of which only the own names were looked at may be searched again from a nearer one.
      if (reexports > 1) searched.add(uri);
      const other = await this.#firstOf(uris);
      const found = other && (await this.#resolve(other, name, reexports - 1, searched, true));
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #mayExport(uri: string): boolean {
    if (this.#whole.size < EXPORTED_WHOLE) this.#whole.add(uri);
    return this.#whole.has(uri);
  }

  #firstOf(uris: readonly string[]): Promise<DocumentText | undefined> {
    const key = uris.join(' ');
    const known = this.#files.get(key) ?? this.#readFirst(uris);
    this.#files.set(key, known);
    return known;
  }

  async #readFirst(uris: readonly string[]): Promise<DocumentText | undefined> {
    const key = uris.join(' ');
    const place = this.#places.get(key);
    for (const uri of place === undefined ? uris : [place]) {
      const other = await this.#reader.read(uri, this.#document.languageId);
      if (other === undefined) continue;
      this.#places.set(key, uri);
      return other;
    }
    this.#places.delete(key);
    return undefined;
  }

  #add(
    document: DocumentText,
    line: number,
    { weight, name, whole = false }: { readonly weight: number; readonly name: string; readonly whole?: boolean },
  ): Found | undefined {
    const key = `${document.uri}:${whole ? 'all' : line}`;
    const known = this.#found.get(key);
    // The same declaration by another name is more likely needed, but not as often as it is named.
    if (known !== undefined) {
      known.score = Math.max(known.score, weight) + Math.min(known.score, weight) * 0.25;
      known.names.add(name);
      return known;
    }
    const outline = whole ? { ...outlineModule(document), header: `${name}:` } : outlineAt(document, line);
    if (outline === undefined || (whole && outline.members.length === 0)) return undefined;
    const found = { document, line, outline, names: new Set([name]), score: weight };
    this.#found.set(key, found);
    return found;
  }

  #findDefault(document: DocumentText): number | undefined {
    for (let line = 0; line < document.lineCount; line++) {
      const text = document.lineAt(line);
      if (!text.startsWith('export default ') && !text.startsWith('module.exports =')) continue;
      const name = /^(?:export default|module\.exports =) ([\w$]+);?$/.exec(text)?.[1];
      return name === undefined ? line : (this.#declared.of(document).get(name) ?? line);
    }
    return undefined;
  }

  snippets(): readonly Snippet[] {
    const outlines = [...this.#found.values()].flatMap(({ document, line, outline, score }) => {
      if (document.path === undefined) return [];
      const text = write(outline, this.#words);
      return text === '' ? [] : [{ kind: 'declaration' as const, path: document.path, line, text, score }];
    });
    return [...outlines, ...this.#told];
  }
}

/** A module is declared where its code begins. */
function isFirstCode(document: DocumentText, line: number): boolean {
  const before = document.languageId === 'python' ? /^\s*(?:$|#|'''|""")/ : /^\s*(?:$|\/[/*]|\*)/;
  for (let at = 0; at < line; at++) if (!before.test(document.lineAt(at))) return false;
  return true;
}

/** In languages that write it: on the line of the declaration, or in a list. */
function isExported(document: DocumentText, line: number, name: string): boolean {
  if (!isScript(document.languageId) || document.lineAt(line).startsWith('export ')) return true;
  let inList = false;
  for (let at = 0; at < Math.min(document.lineCount, EXPORT_LINES); at++) {
    const text = document.lineAt(at);
    inList ||= /^export (?:type )?\{/.test(text);
    if (!inList) continue;
    if (text.split(/[\s,{}]+/).includes(name)) return true;
    inList = !text.includes('}');
  }
  return false;
}

/** Members with one of the words come before the others if not all have room. They stay in the order of the file. */
function write({ header, members }: Outline, words: ReadonlySet<string>): string {
  let room = OUTLINE - header.length;
  const isKnown = (member: string) => words.has(memberName(member));
  const ranked = [...members.filter(isKnown), ...members.filter((member) => !isKnown(member))];
  const kept = new Set(
    ranked.filter(({ length }) => {
      room -= length;
      return room > 0;
    }),
  );
  const lines = members.filter((member) => kept.has(member)).map((member) => (header === '' ? member : `  ${member}`));
  return [...(header === '' ? [] : [header]), ...lines].join('\n');
}
