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
 * folder covers its content.
 */
export function patternFilter(pattern: string | undefined): (path: string) => boolean {
  const clean =
    pattern
      ?.replaceAll('\\', '/')
      .replace(/^(?:\.\/|!)/, '')
      .trim() ?? '';
  if (clean === '' || clean === '**' || clean === '**/*' || clean === '.') return () => true;
  const patterns = new IgnorePatterns(expandBraces(clean).join('\n'));
  return (path) => patterns.ignores(path);
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
    const start = next.lastIndexOf('{');
    const end = start === -1 ? -1 : next.indexOf('}', start);
    if (end === -1 || open.length + done.length > MAX_EXPANDED) done.push(next);
    else {
      const [head, tail] = [next.slice(0, start), next.slice(end + 1)];
      for (const choice of next.slice(start + 1, end).split(',')) open.push(head + choice + tail);
    }
  }
  return done;
}
