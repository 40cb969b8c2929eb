import { IgnorePatterns } from '../../../base/ignore-patterns.ts';
import { defined } from '../../../base/json.ts';
import { withoutByteOrderMark } from '../../../base/text.ts';
import { type LineMatch, type LineSearch, lineSearch } from './search-lines.ts';
import {
  type DecodeFile,
  decodeUtf8,
  excludeLines,
  expandBraces,
  type FileMatches,
  type FolderSearch,
  type FoundLine,
  isSearchable,
  MAX_FILES,
  MAX_KEPT,
  patternFilter,
  SEARCH_MS,
  type SearchResult,
  type SearchScope,
  type TextQuery,
} from './search-scope.ts';

/** A folder, on a disk or not. Paths are relative to it, with `/`; empty: the folder itself. */
export interface FolderSource {
  /** The names in a folder. Links are neither files nor folders. */
  list(path: string): Promise<readonly { readonly name: string; readonly type: 'file' | 'folder' | 'other' }[]>;
  /** Undefined if it is too large, or can't be read. */
  read(path: string): Promise<Uint8Array | undefined>;
}

interface Rules {
  readonly folder: string;
  readonly patterns: IgnorePatterns;
}

/** Searches a folder without ripgrep, for example on a remote file system. */
export class FolderWalk implements FolderSearch {
  readonly #source: FolderSource;
  readonly #decode: DecodeFile;

  constructor(source: FolderSource, decode: DecodeFile = decodeUtf8) {
    this.#source = source;
    this.#decode = decode;
  }

  async files(scope: SearchScope, signal: AbortSignal): Promise<readonly string[]> {
    const accepts = patternFilter(scope.pattern);
    const found: string[] = [];
    for await (const path of this.#walk(scope, signal)) {
      if (accepts(path)) found.push(path);
      if (found.length >= MAX_FILES) break;
    }
    return found.sort();
  }

  async text(scope: SearchScope, query: TextQuery, signal: AbortSignal): Promise<SearchResult> {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(SEARCH_MS)]);
    const accepts = patternFilter(scope.pattern);
    const search = textSearch(query);
    const files: FileMatches[] = [];
    let matches = 0;
    let fileCount = 0;
    for await (const path of this.#walk(scope, limit)) {
      if (!accepts(path) || !isSearchable(path, query)) continue;
      const bytes = await this.#source.read(path);
      const lines = bytes && isText(bytes) ? textLines(await this.#decode(path, bytes)) : [];
      const found = search(lines);
      if (found.length === 0) continue;
      const kept = found.slice(0, Math.max(0, MAX_KEPT - matches));
      matches += found.length;
      fileCount += 1;
      if (kept.length > 0) files.push({ path, lines: withContext(lines, kept, query.context) });
    }
    files.sort((a, b) => (a.path < b.path ? -1 : 1));
    return { files, matches, fileCount, incomplete: limit.aborted };
  }

  async *#walk(scope: SearchScope, signal: AbortSignal): AsyncGenerator<string> {
    const excludes = excludeLines(scope.excludes).flatMap(expandBraces);
    const always = { folder: '', patterns: new IgnorePatterns(['.git', ...excludes].join('\n')) };
    yield* this.#walkFolder('', [always], scope.useIgnoreFiles, signal);
  }

  async *#walkFolder(
    folder: string,
    above: readonly Rules[],
    ignores: boolean,
    signal: AbortSignal,
  ): AsyncGenerator<string> {
    if (signal.aborted) return;
    const entries = await this.#source.list(folder).catch(() => []);
    const own = ignores && entries.some(({ name }) => name === '.gitignore') ? await this.#ignoreFile(folder) : [];
    const rules = [...above, ...own];
    for (const { name, type } of [...entries].sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = folder === '' ? name : `${folder}/${name}`;
      if (type === 'other' || isIgnored(rules, path, type === 'folder')) continue;
      if (type === 'file') yield path;
      else yield* this.#walkFolder(path, rules, ignores, signal);
    }
  }

  async #ignoreFile(folder: string): Promise<readonly Rules[]> {
    const bytes = await this.#source.read(folder === '' ? '.gitignore' : `${folder}/.gitignore`);
    return bytes ? [{ folder, patterns: new IgnorePatterns(Buffer.from(bytes).toString('utf8')) }] : [];
  }
}

/** The deepest ignore file decides. The first rules are settings, which nothing overrides. */
function isIgnored(rules: readonly Rules[], path: string, isFolder: boolean): boolean {
  const verdicts = rules.map(({ folder, patterns }) =>
    patterns.verdict(folder === '' ? path : path.slice(folder.length + 1), isFolder),
  );
  return verdicts[0] === 'ignored' || verdicts.findLast((verdict) => verdict !== undefined) === 'ignored';
}

/** UTF-16 with a byte order mark is text, as for ripgrep. */
function isText(bytes: Uint8Array): boolean {
  const isUtf16 = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
  return isUtf16 || !bytes.subarray(0, 8000).includes(0);
}

function textLines(text: string): readonly string[] {
  const lines = withoutByteOrderMark(text).split(/\r?\n/);
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}

/** Finds the matching lines; for a text of several lines, its first line. */
function textSearch({ text, regex }: TextQuery): LineSearch {
  const wanted = text.replaceAll('\r\n', '\n').toLowerCase();
  if (regex || !wanted.includes('\n')) return lineSearch(text, regex);
  const first = lineSearch(wanted.split('\n', 1)[0] ?? '', false);
  const count = wanted.split('\n').length;
  return (lines) =>
    first(lines).filter(({ line }) =>
      lines
        .slice(line, line + count)
        .join('\n')
        .toLowerCase()
        .includes(wanted),
    );
}

function withContext(lines: readonly string[], found: readonly LineMatch[], context: number): readonly FoundLine[] {
  const matching = new Map(found.map(({ line, at }) => [line, at]));
  const shown = new Set(
    found.flatMap(({ line }) => Array.from({ length: 2 * context + 1 }, (_, index) => line - context + index)),
  );
  return [...shown]
    .filter((line) => line >= 0 && line < lines.length)
    .sort((a, b) => a - b)
    .map((line) => {
      const at = matching.get(line);
      const text = lines[line] ?? '';
      return { number: line + 1, text, matches: at !== undefined, ...defined({ at }) };
    });
}
