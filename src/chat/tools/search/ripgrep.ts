import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import * as z from 'zod';
import { parseJson } from '../../../base/json.ts';
import {
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

const lineSchema = z.object({
  type: z.enum(['match', 'context']),
  data: z.object({
    path: z.object({ text: z.string() }),
    lines: z.object({ text: z.string() }),
    line_number: z.number(),
  }),
});

/** Searches a folder with ripgrep. */
export class Ripgrep implements FolderSearch {
  readonly #program: string;
  readonly #folder: string;

  /** @param program absolute path of ripgrep. @param folder absolute path. */
  constructor(program: string, folder: string) {
    this.#program = program;
    this.#folder = folder;
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
    const { incomplete } = await this.#run(
      ['--json', '--max-filesize', '2M', ...queryArguments(query), ...scopeArguments(scope)],
      signal,
      (line) => collector.take(line),
    );
    return collector.result(incomplete);
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
  readonly #files = new Map<string, FoundLine[]>();
  readonly #counts = new Map<string, number>();
  #kept = 0;

  constructor(accepts: (path: string) => boolean) {
    this.#accepts = accepts;
  }

  take(line: string): void {
    const parsed = lineSchema.safeParse(parseJson(line));
    if (!parsed.success) return;
    const { type, data } = parsed.data;
    const path = plainPath(data.path.text);
    if (!this.#accepts(path)) return;
    const matches = type === 'match';
    if (matches) this.#counts.set(path, (this.#counts.get(path) ?? 0) + 1);
    if (this.#kept >= MAX_KEPT) return;
    if (matches) this.#kept += 1;
    const lines = this.#files.get(path) ?? [];
    this.#files.set(path, lines);
    // A match of several lines is one entry.
    for (const [index, text] of data.lines.text
      .replace(/\r?\n$/, '')
      .split(/\r?\n/)
      .entries())
      lines.push({ number: data.line_number + index, text, matches });
  }

  result(incomplete: boolean): SearchResult {
    const files = [...this.#files].map(([path, lines]): FileMatches => ({ path, lines }));
    files.sort((a, b) => (a.path < b.path ? -1 : 1));
    const matches = [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
    return { files, matches, fileCount: this.#counts.size, incomplete };
  }
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
