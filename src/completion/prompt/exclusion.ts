import { IgnorePatterns, type Verdict } from '../../base/ignore-patterns.ts';
import { isSecretFile } from '../../base/secret-files.ts';
import { upToFirst, withoutTrailing } from '../../base/text.ts';

export interface IgnoreFile {
  /** The folder it stands in, relative to the workspace folder with `/`; empty: the folder itself. */
  readonly directory: string;
  /** For a file above the workspace folder, in the same repository: the way from there down to the folder. */
  readonly down?: string;
  readonly content: string;
}

interface Rule {
  readonly directory: string;
  readonly down: string;
  readonly patterns: IgnorePatterns;
}

export interface WorkspaceFolder {
  /** Uri without a trailing slash, as the editor writes it. */
  readonly uri: string;
  readonly ignoreFiles: readonly IgnoreFile[];
}

/** Why a file must not be sent: it is outside of the workspace, of a kind that holds secrets, or named by a person. */
export type Exclusion = 'outside' | 'secret-kind' | 'exclude-setting' | 'gitignored';

/** Tells which files must not be sent. Rebuilt whole when a folder, an ignore file or the setting changes. */
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
      path: `${branchTo(uri)}/`,
      rules: ignoreFiles
        .map(ruleOf)
        // The deepest first: it decides.
        .sort((a, b) => b.directory.length - a.directory.length || a.down.length - b.down.length),
    }));
  }

  /** Why a file is not sent; `undefined`: it may be. Takes a uri or a path relative to a folder. */
  reason(uriOrPath: string): Exclusion | undefined {
    if (this.#known.has(uriOrPath)) return this.#known.get(uriOrPath);
    const reason = this.#find(uriOrPath);
    if (this.#known.size > 2_000) this.#known.clear();
    this.#known.set(uriOrPath, reason);
    return reason;
  }

  #find(uriOrPath: string): Exclusion | undefined {
    if (uriOrPath.startsWith('untitled:')) return undefined;
    const isUri = /^[a-z][a-z0-9+.-]+:/i.test(uriOrPath);
    const path = isUri ? branchTo(uriOrPath) : uriOrPath;
    // A folder of the workspace may be inside of another one: each has a say.
    const folders = isUri ? this.#folders.filter((one) => path.startsWith(one.path)) : this.#folders;
    const below = ({ path: folder }: { readonly path: string }): string => (isUri ? path.slice(folder.length) : path);
    const relatives = folders.length > 0 ? folders.map(below) : [path.replace(/^\/+/, '')];
    if (!relatives.every(isBelow)) return 'outside';
    if (relatives.some(isSecretFile)) return 'secret-kind';
    if (isUri && folders.length === 0) return 'outside';
    if (relatives.some((relative) => this.#globs.ignores(relative))) return 'exclude-setting';
    const ignored = folders.some((folder) => ignoredBy(folder.rules, below(folder)));
    return ignored ? 'gitignored' : undefined;
  }
}

/** A path with names only: what `..` leads to is not known by its text. */
function isBelow(relative: string): boolean {
  return relative !== '' && relative.split('/').every((name) => name !== '' && name !== '.' && name !== '..');
}

function ruleOf({ directory, content, down = '' }: IgnoreFile): Rule {
  // A folder that the user opens by name is meant, also where the repository around it ignores it as a whole. The
  // patterns that do not name the folder still count.
  const patterns = new IgnorePatterns(content, down === '' ? undefined : down);
  const folder = directory === '' ? '' : `${directory.normalize('NFC')}/`;
  return { directory: folder, down: down === '' ? '' : `${down}/`, patterns };
}

/**
 * As Git (gitignore(5)): from the top down, a folder that is excluded excludes all that is in it, whatever an ignore file
 * in it says; of each name, the deepest ignore file with a matching pattern decides.
 */
function ignoredBy(rules: readonly Rule[], path: string): boolean {
  const relative = path.normalize('NFC');
  for (let slash = relative.indexOf('/'); ; slash = relative.indexOf('/', slash + 1)) {
    const isFolder = slash !== -1;
    const name = isFolder ? relative.slice(0, slash) : relative;
    if (verdictOf(rules, name, isFolder) === 'ignored') return true;
    if (!isFolder) return false;
  }
}

function verdictOf(rules: readonly Rule[], name: string, isFolder: boolean): Verdict | undefined {
  for (const { directory, down, patterns } of rules) {
    if (!name.startsWith(directory)) continue;
    const verdict = patterns.verdict(down + name.slice(directory.length), isFolder);
    if (verdict !== undefined) return verdict;
  }
  return undefined;
}

/** The path of a uri, decoded, without query and fragment; drive letters in lower case. */
function branchTo(uri: string): string {
  const path = upToFirst(uri.replace(/^[a-z][a-z0-9+.-]+:(?:\/\/[^/?#]*)?/i, ''), ['?', '#']);
  let decoded = path;
  try {
    decoded = decodeURIComponent(path);
  } catch {
    // Not encoded as uris are: taken as it is written.
  }
  return withoutTrailing(decoded, '/').replace(/^\/[A-Z]:/, (drive) => drive.toLowerCase());
}
