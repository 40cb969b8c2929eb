import ignore, { type Ignore } from 'ignore';

/** Files whose purpose is to hold secrets, as patterns of `.gitignore`. Never sent, whatever the settings say. */
const SECRET_FILES = [
  '.env',
  '.env.*',
  '!.env.example',
  '!.env.sample',
  '!.env.template',
  '*.env',
  '.envrc',
  '*.pem',
  '*.key',
  '*.p8',
  '*.p12',
  '*.pfx',
  '*.jks',
  '*.keystore',
  '*.keytab',
  '*.crt',
  '*.cer',
  '*.der',
  '*.kdbx',
  '*.ovpn',
  '*.ppk',
  'id_rsa*',
  'id_dsa*',
  'id_ecdsa*',
  'id_ed25519*',
  '.ssh/',
  '.gnupg/',
  '.aws/',
  '.azure/',
  '.kube/',
  '.docker/config.json',
  '.npmrc',
  '.pypirc',
  '.netrc',
  '_netrc',
  '.pgpass',
  '.htpasswd',
  '.git-credentials',
  '.git/',
  'credentials',
  'credentials.json',
  'secrets.json',
  'secrets.y*ml',
  'secrets.toml',
  'service-account*.json',
  '*.tfvars',
  '*.tfstate',
  'svc.json',
  'svc.jsonc',
];

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
  readonly rule: Ignore;
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
  readonly #secrets = ignore({ ignorecase: true }).add(SECRET_FILES);
  readonly #globs: Ignore;
  readonly #folders: readonly {
    readonly path: string;
    readonly rules: readonly Rule[];
  }[];
  readonly #known = new Map<string, Exclusion | undefined>();

  constructor(folders: readonly WorkspaceFolder[], globs: readonly string[]) {
    this.#globs = ignore().add([...globs]);
    this.#folders = folders.map(({ uri, ignoreFiles }) => ({
      path: `${pathOf(uri)}/`,
      rules: ignoreFiles
        .map(ruleOf)
        // The farthest above first.
        .sort((a, b) => b.down.length - a.down.length || a.directory.length - b.directory.length),
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
    const path = isUri ? pathOf(uriOrPath) : uriOrPath;
    // A folder of the workspace may be inside of another one: each has a say.
    const folders = isUri ? this.#folders.filter((one) => path.startsWith(one.path)) : this.#folders;
    const below = ({ path: folder }: { readonly path: string }): string => (isUri ? path.slice(folder.length) : path);
    const relatives = folders.length > 0 ? folders.map(below) : [path.replace(/^\/+/, '')];
    if (!relatives.every((relative) => ignore.isPathValid(relative))) return 'outside';
    if (relatives.some((relative) => this.#secrets.ignores(relative))) return 'secret-kind';
    if (isUri && folders.length === 0) return 'outside';
    if (relatives.some((relative) => this.#globs.ignores(relative))) return 'exclude-setting';
    const ignored = folders.some((folder) => ignoredBy(folder.rules, below(folder)));
    return ignored ? 'gitignored' : undefined;
  }
}

function ruleOf({ directory, content, down = '' }: IgnoreFile): Rule {
  const rule = ignore().add(content);
  // A folder that a person opens by name is meant, also where the repository around it ignores it as a whole. What
  // the patterns say of files in it still counts.
  const whole = down !== '' && rule.ignores(`${down}/`);
  return { directory: directory === '' ? '' : `${directory}/`, down: down === '' || whole ? '' : `${down}/`, rule };
}

/** As git: a deeper file decides over one above it. */
function ignoredBy(rules: readonly Rule[], relative: string): boolean {
  let ignored = false;
  for (const { directory, down, rule } of rules) {
    if (!relative.startsWith(directory) || relative.length === directory.length) continue;
    const verdict = rule.test(down + relative.slice(directory.length));
    if (verdict.ignored) ignored = true;
    else if (verdict.unignored) ignored = false;
  }
  return ignored;
}

/** The path of a uri, decoded, without query and fragment; drive letters in lower case. */
function pathOf(uri: string): string {
  const path = uri.replace(/^[a-z][a-z0-9+.-]+:(?:\/\/[^/?#]*)?/i, '').replace(/[?#].*$/, '');
  let decoded = path;
  try {
    decoded = decodeURIComponent(path);
  } catch {
    // Not encoded as uris are: taken as it is written.
  }
  return decoded.replace(/\/+$/, '').replace(/^\/[A-Z]:/, (drive) => drive.toLowerCase());
}
