import { IgnorePatterns } from '../../base/ignore-patterns.ts';
import { isSecretFile, plainSegments } from '../../base/secret-files.ts';

/** Why each call needs confirmation: the purpose of the file it accesses. */
export const CAUTION_KINDS = ['secret', 'git', 'editor', 'workflow', 'settings', 'shell', 'package'] as const;
export type CautionKind = (typeof CAUTION_KINDS)[number];

/** A reason for confirmation even if the tool is allowed for the conversation or always. */
export interface Caution {
  readonly kind: CautionKind;
  /** The file that is accessed after resolving links, relative to the workspace folder. */
  readonly path: string;
}

/** Files that cause programs to run, or that control what runs and what is allowed, as `.gitignore` patterns. */
const PROTECTED_FILES: readonly (readonly [CautionKind, readonly string[]])[] = [
  [
    'git',
    [
      ...['.git', 'git~[0-9]', '.gitattributes', '.gitmodules', '.gitconfig', '.lfsconfig', '.hg', '.hgrc', '.svn'],
      ...['.husky', '.githooks', 'lefthook*.y*ml', '.lefthook*.y*ml', '.pre-commit-config.y*ml', '.lintstagedrc*'],
    ],
  ],
  [
    'editor',
    [
      ...['.vscode', '*.code-workspace', '.devcontainer', '.devcontainer.json', '.idea', '.vs', '.fleet', '.zed'],
      ...['.cursor', '.mcp.json', '.vimrc', '.exrc', '.nvim.lua', '.nvimrc', '.dir-locals*.el'],
    ],
  ],
  [
    'workflow',
    [
      ...['.github/workflows', '.github/actions', 'action.y*ml', '.gitlab-ci*.y*ml', '.circleci', '.buildkite'],
      ...['azure-pipelines*.y*ml', 'Jenkinsfile*', '.travis.y*ml', 'bitbucket-pipelines.y*ml', '.drone.y*ml'],
      ...['.woodpecker*', '.forgejo', '.gitea'],
    ],
  ],
  ['settings', ['svc.json', 'svc.jsonc', '.svc']],
  [
    'shell',
    [
      ...[
        '.envrc*',
        '.env',
        '.env.*',
        '.bashrc*',
        '.bash_*',
        '.profile',
        '.profile.*',
        '.zshrc*',
        '.zshenv',
        '.zprofile',
      ],
      ...['.zlogin', '.zlogout', '.cshrc', '.tcshrc', '.kshrc', '.mkshrc', '.shrc', '.login', '.logout', '.inputrc'],
      ...['config.fish', 'fish/conf.d', '*profile.ps1', '.xinitrc', '.xprofile', '.xsession*', 'mise*.toml'],
      ...['.mise*.toml', '.config/mise', '.tool-versions', 'sitecustomize.py', 'usercustomize.py', '.ssh'],
    ],
  ],
  [
    'package',
    [
      ...['package.json', '.npmrc', '.yarnrc*', '.yarn', '.pnpmfile.*', 'pnpm-workspace.yaml', 'bunfig.toml'],
      ...['deno.json*', 'composer.json', '.pypirc', 'pip.conf', 'pip.ini', '.cargo/config*'],
    ],
  ],
];

const PROTECTED_PATTERNS = PROTECTED_FILES.map(([kind, patterns]) => {
  const anywhere = patterns.map((pattern) => (pattern.includes('/') ? `**/${pattern}` : pattern));
  return { kind, patterns: new IgnorePatterns(anywhere.join('\n')) };
});

/** Why access to a file needs confirmation each time; undefined: it does not. @param path absolute or relative. */
export function cautionKind(path: string, access: 'read' | 'write'): CautionKind | undefined {
  if (access === 'write') {
    const plain = plainSegments(path).join('/');
    const guard = PROTECTED_PATTERNS.find(({ patterns }) => plain !== '' && patterns.ignores(plain));
    if (guard) return guard.kind;
  }
  return isSecretFile(path) ? 'secret' : undefined;
}
