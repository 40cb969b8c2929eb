import { IgnorePatterns, type Verdict } from '../../base/ignore-patterns.ts';
import { isSecretFile } from '../../base/secret-files.ts';
import { upToFirst, withoutTrailing } from '../../base/text.ts';

export interface IgnoreFile {
  /** The folder of the file, relative to the workspace folder, with `/`; empty: the workspace folder itself. */
  readonly directory: string;
  /** For a file above the workspace folder, in the same repository: the path from its folder to the workspace folder. */
  readonly down?: string;
  readonly content: string;
}

interface Rule {
  readonly directory: string;
  readonly down: string;
  readonly patterns: IgnorePatterns;
}

export interface WorkspaceFolder {
  /** URI without a trailing slash, as VS Code formats it. */
  readonly uri: string;
  readonly ignoreFiles: readonly IgnoreFile[];
}

/** Why a file must not be sent: outside the workspace, a kind of file that contains secrets, or excluded by the user. */
export type Exclusion = 'outside' | 'secret-kind' | 'exclude-setting' | 'gitignored';

/** Decides which files must not be sent. Created again when a folder, an ignore file or the setting changes. */
export class Exclusions {
  readonly #globs: IgnorePatterns;
  readonly #folders: readonly {
    readonly path: string;
    readonly rules: readonly Rule[];
  }[];
  readonly #known = new Map<string, Exclusion | undefined>();

  constructor(folders: readonly WorkspaceFolder[], globs: readonly string[]) {
    this.#globs = new IgnorePatterns(globs.join('\n'));
    this.#folders = folders.map(({ uri, ignoreFiles }) => ({
      path: `${decodePath(uri)}/`,
      rules: ignoreFiles
        .map(createRule)
        // The deepest file comes first, because it takes precedence.
        .sort((a, b) => b.directory.length - a.directory.length || a.down.length - b.down.length),
    }));
  }

  /** Why a file is not sent; `undefined`: it may be sent. Takes a URI or a path relative to a folder. */
  reason(uriOrPath: string): Exclusion | undefined {
    if (this.#known.has(uriOrPath)) return this.#known.get(uriOrPath);
    const reason = this.#find(uriOrPath);
    if (this.#known.size > 2_000) this.#known.clear();
    this.#known.set(uriOrPath, reason);
    return reason;
  }

  /** Whether an ignore file excludes a file, whatever else does. */
  isIgnored(uri: string): boolean {
    const path = decodePath(uri);
    const folders = this.#folders.filter((one) => path.startsWith(one.path));
    return folders.some((folder) => isIgnored(folder.rules, path.slice(folder.path.length)));
  }

  #find(uriOrPath: string): Exclusion | undefined {
    // A new file may have the name of the file that it will become.
    if (uriOrPath.startsWith('untitled:')) return isSecretFile(decodePath(uriOrPath)) ? 'secret-kind' : undefined;
    const isUri = /^[a-z][a-z0-9+.-]+:/i.test(uriOrPath);
    const path = isUri ? decodePath(uriOrPath) : uriOrPath;
    // Workspace folders may be nested: the rules of each of them apply.
    const folders = isUri ? this.#folders.filter((one) => path.startsWith(one.path)) : this.#folders;
    const below = ({ path: folder }: { readonly path: string }): string => (isUri ? path.slice(folder.length) : path);
    const relatives = folders.length > 0 ? folders.map(below) : [path.replace(/^\/+/, '')];
    if (!relatives.every(isBelow)) return 'outside';
    if (relatives.some(isSecretFile)) return 'secret-kind';
    if (isUri && folders.length === 0) return 'outside';
    if (relatives.some((relative) => this.#globs.ignores(relative))) return 'exclude-setting';
    const ignored = folders.some((folder) => isIgnored(folder.rules, below(folder)));
    return ignored ? 'gitignored' : undefined;
  }
}

/** True if the path has no `.` or `..`: with those, the text alone does not identify the file. */
function isBelow(relative: string): boolean {
  return relative !== '' && relative.split('/').every((name) => name !== '' && name !== '.' && name !== '..');
}

function createRule({ directory, content, down = '' }: IgnoreFile): Rule {
  // The user opened this folder explicitly, so a rule of the surrounding repository that ignores the whole folder
  // does not apply. Patterns that do not match the folder itself still apply.
  const patterns = new IgnorePatterns(content, down === '' ? undefined : down);
  const folder = directory === '' ? '' : `${directory.normalize('NFC')}/`;
  return { directory: folder, down: down === '' ? '' : `${down}/`, patterns };
}

/**
 * As in Git (gitignore(5)): an excluded folder excludes everything inside it, and ignore files inside it cannot change
 * that. For each name, the deepest ignore file with a matching pattern decides.
 */
function isIgnored(rules: readonly Rule[], path: string): boolean {
  const relative = path.normalize('NFC');
  for (let slash = relative.indexOf('/'); ; slash = relative.indexOf('/', slash + 1)) {
    const isFolder = slash !== -1;
    const name = isFolder ? relative.slice(0, slash) : relative;
    if (findVerdict(rules, name, isFolder) === 'ignored') return true;
    if (!isFolder) return false;
  }
}

function findVerdict(rules: readonly Rule[], name: string, isFolder: boolean): Verdict | undefined {
  for (const { directory, down, patterns } of rules) {
    if (!name.startsWith(directory)) continue;
    const verdict = patterns.verdict(down + name.slice(directory.length), isFolder);
    if (verdict !== undefined) return verdict;
  }
  return undefined;
}

/** The decoded path of a URI, without query and fragment. Drive letters are in lower case. */
function decodePath(uri: string): string {
  const path = upToFirst(uri.replace(/^[a-z][a-z0-9+.-]+:(?:\/\/[^/?#]*)?/i, ''), ['?', '#']);
  let decoded = path;
  try {
    decoded = decodeURIComponent(path);
  } catch {
    // Not a valid percent-encoding: use the path unchanged.
  }
  return withoutTrailing(decoded, '/').replace(/^\/[A-Z]:/, (drive) => drive.toLowerCase());
}
