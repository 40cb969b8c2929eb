import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import * as z from 'zod';
import { parseJson } from '../../../base/json.ts';
import { withoutByteOrderMark } from '../../../base/text.ts';
import {
  type DecodeFile,
  decodeUtf8,
  excludeLines,
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

/** Exit codes of ripgrep (its manual, "EXIT STATUS"). */
const NO_MATCH = 1;
const FAILED = 2;

/** Files without lines of 2 MB and more, as generated data. */
const FIXED = ['--no-config', '--hidden', '--no-require-git', '--no-messages', '--glob', '!**/.git'];

/** Text, or in Base64 if it is not UTF-8 (the format of ripgrep's printer, "arbitrary data object"). */
const dataSchema = z.union([z.object({ text: z.string() }), z.object({ bytes: z.base64() })]);

const lineSchema = z.object({
  type: z.enum(['match', 'context']),
  data: z.object({
    path: dataSchema,
    lines: dataSchema,
    line_number: z.number(),
    /** Offsets in bytes. */
    submatches: z.array(z.object({ start: z.number() })),
  }),
});

/** Searches a folder with ripgrep. */
export class Ripgrep implements FolderSearch {
  readonly #program: string;
  readonly #folder: string;
  readonly #decode: DecodeFile;

  /** @param program absolute path of ripgrep. @param folder absolute path. @param decode for lines that are not UTF-8. */
  constructor(program: string, folder: string, decode: DecodeFile = decodeUtf8) {
    this.#program = program;
    this.#folder = folder;
    this.#decode = decode;
  }

  async files(scope: SearchScope, signal: AbortSignal): Promise<readonly string[]> {
    const accepts = patternFilter(scope.pattern);
    const found: string[] = [];
    await this.#run(['--files', ...scopeArguments(scope)], signal, (line) => {
      const path = plainPath(line);
      if (accepts(path) && found.length < MAX_FILES) found.push(path);
    });
    return found.sort();
  }

  async text(scope: SearchScope, query: TextQuery, signal: AbortSignal): Promise<SearchResult> {
    const accepts = patternFilter(scope.pattern);
    const collector = new MatchCollector((path) => accepts(path) && isSearchable(path, query));
    const encoding = scope.encoding === undefined ? [] : ['--encoding', scope.encoding];
    const { incomplete } = await this.#run(
      ['--json', '--max-filesize', '2M', ...encoding, ...queryArguments(query), ...scopeArguments(scope)],
      signal,
      (line) => collector.take(line),
    );
    return collector.result(incomplete, this.#decode);
  }

  /** @throws Error with ripgrep's message, for example for an invalid pattern. */
  #run(args: readonly string[], signal: AbortSignal, onLine: (line: string) => void): Promise<{ incomplete: boolean }> {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(SEARCH_MS)]);
    const child = spawn(this.#program, [...args, './'], { cwd: this.#folder, stdio: ['ignore', 'pipe', 'pipe'] });
    const stop = () => child.kill();
    limit.addEventListener('abort', stop);
    const lines = createInterface({ input: child.stdout, crlfDelay: Number.POSITIVE_INFINITY });
    lines.on('line', onLine);
    let message = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      message = (message + text).slice(0, 2000);
    });
    return new Promise((resolve, reject) => {
      const read = new Promise((done) => lines.once('close', done));
      child.once('error', reject);
      child.once('close', (code) => {
        limit.removeEventListener('abort', stop);
        void read.then(() => {
          if (code === FAILED && message !== '') reject(new Error(message.trim()));
          else resolve({ incomplete: limit.aborted || (code !== 0 && code !== NO_MATCH && code !== FAILED) });
        });
      });
    });
  }
}

/** Reads matches from `--json`. */
class MatchCollector {
  readonly #accepts: (path: string) => boolean;
  readonly #files = new Map<string, FoundEntry[]>();
  readonly #counts = new Map<string, number>();
  #kept = 0;

  constructor(accepts: (path: string) => boolean) {
    this.#accepts = accepts;
  }

  take(line: string): void {
    const parsed = lineSchema.safeParse(parseJson(line));
    if (!parsed.success) return;
    const { type, data } = parsed.data;
    const path = plainPath('text' in data.path ? data.path.text : decodeBase64(data.path.bytes).toString('utf8'));
    if (!this.#accepts(path)) return;
    const matches = type === 'match';
    if (matches) this.#counts.set(path, (this.#counts.get(path) ?? 0) + 1);
    if (this.#kept >= MAX_KEPT) return;
    if (matches) this.#kept += 1;
    const entries = this.#files.get(path) ?? [];
    this.#files.set(path, entries);
    const [first] = data.submatches;
    entries.push({ number: data.line_number, lines: data.lines, matches, ...(first ? { start: first.start } : {}) });
  }

  async result(incomplete: boolean, decode: DecodeFile): Promise<SearchResult> {
    const files: FileMatches[] = [];
    for (const [path, entries] of this.#files) {
      const lines: FoundLine[] = [];
      for (const entry of entries) lines.push(...(await entryLines(path, entry, decode)));
      files.push({ path, lines });
    }
    files.sort((a, b) => (a.path < b.path ? -1 : 1));
    const matches = [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
    return { files, matches, fileCount: this.#counts.size, incomplete };
  }
}

/** A match of several lines is one entry. */
interface FoundEntry {
  /** Of its first line, 1-based. */
  readonly number: number;
  readonly lines: z.infer<typeof dataSchema>;
  readonly matches: boolean;
  /** Of the first match, in bytes. */
  readonly start?: number;
}

async function entryLines(path: string, entry: FoundEntry, decode: DecodeFile): Promise<readonly FoundLine[]> {
  const { number, lines, matches, start = 0 } = entry;
  const bytes = 'text' in lines ? Buffer.from(lines.text) : decodeBase64(lines.bytes);
  const text = 'text' in lines ? lines.text : await decode(path, bytes);
  const at = bytes.subarray(0, start).toString('utf8').length;
  // The mark is not part of the first line.
  const rows = (number === 1 ? withoutByteOrderMark(text) : text).replace(/\r?\n$/, '').split(/\r?\n/);
  return rows.map((row, index) => ({ number: number + index, text: row, matches, ...(index === 0 ? { at } : {}) }));
}

function decodeBase64(text: string): Buffer {
  return Buffer.from(text, 'base64');
}

function scopeArguments({ excludes, useIgnoreFiles, pattern }: SearchScope): readonly string[] {
  const globs = excludeLines(excludes).flatMap((line) => ['--glob', `!${line}`]);
  // A type, because a glob on the command line would include ignored files. It can only have names.
  const name = pattern?.slice(pattern.lastIndexOf('/') + 1) ?? '';
  const narrows = /^\*?[\w.-]+\.\w+$/.test(name);
  const type = narrows ? ['--type-add', `svc:${name}`, '--type', 'svc'] : [];
  return [...FIXED, ...(useIgnoreFiles ? [] : ['--no-ignore']), ...globs, ...type];
}

function queryArguments({ text, regex, context }: TextQuery): readonly string[] {
  const plain = text.replaceAll('\r\n', '\n');
  const options = ['--ignore-case', '--engine', 'auto', '--context', String(context)];
  if (plain.includes('\n')) {
    const lines = regex
      ? plain.split('\n')
      : plain.split('\n').map((line) => line.replace(/[\\^$.|?*+()[\]{}]/g, '\\$&'));
    return [...options, '--multiline', '--regexp', lines.join('\\r?\\n')];
  }
  return [...options, ...(regex ? [] : ['--fixed-strings']), '--regexp', plain];
}

function plainPath(path: string): string {
  return path.replaceAll('\\', '/').replace(/^\.\//, '');
}
