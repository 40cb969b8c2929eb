import { IgnorePatterns } from '../../../base/ignore-patterns.ts';
import { isSecretFile } from '../../../base/secret-files.ts';

/** The files of a folder that a search covers. */
export interface SearchScope {
  /** Globs of the settings `files.exclude` and `search.exclude`. */
  readonly excludes: readonly string[];
  readonly useIgnoreFiles: boolean;
  /** Label of the Encoding standard for files without a byte order mark; absent: UTF-8. */
  readonly encoding?: string;
  /** Glob from a model; absent: all files. */
  readonly pattern?: string;
}

/** Decodes the content of a file, or one line of it. @param path relative to the folder. */
export type DecodeFile = (path: string, bytes: Uint8Array) => Promise<string>;

export async function decodeUtf8(_path: string, bytes: Uint8Array): Promise<string> {
  return new TextDecoder().decode(bytes);
}

export interface TextQuery {
  readonly text: string;
  readonly regex: boolean;
  /** Number of lines before and after each match. */
  readonly context: number;
  /** Leaves out files that must not be read. */
  readonly mayRead?: ((path: string) => boolean) | undefined;
}

/** A line of a file, 1-based. */
export interface FoundLine {
  readonly number: number;
  readonly text: string;
  readonly matches: boolean;
  /** Index of the first character of the match in the text, as far as it is known. */
  readonly at?: number;
}

export interface FileMatches {
  /** Relative to the folder, with `/`. */
  readonly path: string;
  readonly lines: readonly FoundLine[];
}

export interface SearchResult {
  /** In the order of their paths. Not all lines, if there are very many. */
  readonly files: readonly FileMatches[];
  /** Number of all matching lines and of their files. */
  readonly matches: number;
  readonly fileCount: number;
  /** The search ended early, so there may be more. */
  readonly incomplete: boolean;
}

/** Searches one folder. Paths are relative to it, with `/`. */
export interface FolderSearch {
  files(scope: SearchScope, signal: AbortSignal): Promise<readonly string[]>;
  text(scope: SearchScope, query: TextQuery, signal: AbortSignal): Promise<SearchResult>;
}

/** At most this many matching lines are kept. Others are counted. */
export const MAX_KEPT = 2000;
export const MAX_FILES = 200_000;
/** Time limit of one search in milliseconds. */
export const SEARCH_MS = 20_000;

/** Lines of a `.gitignore` for globs of VS Code's settings, which begin at the workspace folder. */
export function excludeLines(globs: readonly string[]): readonly string[] {
  return globs.map((glob) => (glob.startsWith('**/') || glob.startsWith('/') ? glob : `/${glob}`));
}

/**
 * Whether the scope has a path. A pattern without a slash is valid at any depth, as in `.gitignore`; a pattern of a
 * folder covers its content. Brackets and braces also match themselves, because they are common in names of folders.
 */
export function patternFilter(pattern: string | undefined): (path: string) => boolean {
  const clean = plainPattern(pattern ?? '').replace(/^!/, '');
  if (clean === '' || clean === '**' || clean === '**/*' || clean === '.') return () => true;
  const lines = [...expandBraces(clean), ...expandBraces(clean.replace(/(?<!\\)[[\]{}]/g, '\\$&'))];
  // A line of a `.gitignore` that begins with `#` is a comment.
  const patterns = new IgnorePatterns(lines.map((line) => line.replace(/^#/, '\\#')).join('\n'));
  return (path) => patterns.ignores(path);
}

/**
 * Reads the first segments of a pattern literally as far as they are the path of a file or folder: `app/[id]/**` is
 * about the folder `[id]` if it exists.
 *
 * @param exists whether there is such a path in the folder.
 */
export async function literalStart(pattern: string, exists: (path: string) => Promise<boolean>): Promise<string> {
  const clean = plainPattern(pattern);
  if (!/[[\]{}!#\\]/.test(clean)) return clean;
  const segments = clean.split('/');
  const kept: string[] = [];
  let path = '';
  for (const segment of segments) {
    const name = segment.replace(/\\(.)/g, '$1');
    const next = path === '' ? name : `${path}/${name}`;
    if (/^\.{0,2}$/.test(name) || !(await exists(next))) break;
    kept.push(escapeGlob(name));
    path = next;
  }
  return [...kept, ...segments.slice(kept.length)].join('/');
}

/** A pattern that matches exactly this path. */
export function escapeGlob(path: string): string {
  return path.replace(/[[\]{}*?\\]|^[!#]| $/g, '\\$&');
}

/** With `/` as separator. A backslash before a bracket with an escaped partner, a blank, `!` or `#` is an escape. */
function plainPattern(pattern: string): string {
  return pattern
    .trim()
    .replace(/\\(?![ \\]|\[[^\]]*\\\]|\]|\{[^}]*\\\}|\}|[!#])/g, '/')
    .replace(/^\.\//, '');
}

/** Text of files with secrets must not be found. Their names may be listed. */
export function isSearchable(path: string, { mayRead }: TextQuery): boolean {
  return !isSecretFile(path) && (mayRead?.(path) ?? true);
}

const MAX_EXPANDED = 64;

/** `a.{js,ts}` as `a.js` and `a.ts`. `.gitignore` has no braces. */
export function expandBraces(glob: string): readonly string[] {
  const done: string[] = [];
  const open = [glob];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const start = lastOpening(next);
    const end = start === -1 ? -1 : next.indexOf('}', start);
    if (end === -1 || open.length + done.length > MAX_EXPANDED) done.push(next);
    else {
      const [head, tail] = [next.slice(0, start), next.slice(end + 1)];
      for (const choice of next.slice(start + 1, end).split(',')) open.push(head + choice + tail);
    }
  }
  return done;
}

/** The last `{` that is not escaped. */
function lastOpening(glob: string): number {
  let at = glob.lastIndexOf('{');
  while (at > 0 && glob[at - 1] === '\\') at = glob.lastIndexOf('{', at - 1);
  return at;
}
