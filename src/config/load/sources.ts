import { constants } from 'node:fs';
import { access, realpath } from 'node:fs/promises';
import { userInfo } from 'node:os';
import path from 'node:path';
import { svcFolder } from '../../base/user-folders.ts';
import type { SourceKind } from '../settings/origin.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The values of the editor's settings, in the form of a configuration file. */
export interface EditorSettings {
  readonly user?: Readonly<Record<string, unknown>>;
  readonly workspace?: Readonly<Record<string, unknown>>;
}

/** The values that determine the sources. They are passed in, not read from the process. */
export interface LoadInput {
  readonly env: Environment;
  readonly platform: NodeJS.Platform;
  readonly home: string;
  /** Working directory. The base of relative paths in environment variables, and the project if `folders` is absent. */
  readonly cwd?: string;
  /** Workspace folders. Each is a separate project. */
  readonly folders?: readonly string[];
  /** `false`: project files are shown but not used. */
  readonly trustedWorkspace: boolean;
  readonly editor?: EditorSettings;
}

/** A possible location of a source. Candidates are listed in rising precedence. */
export interface SourceCandidate {
  readonly kind: SourceKind;
  readonly path: string;
  readonly trusted: boolean;
  /** The base of relative references. */
  readonly folder: string;
  readonly project?: { readonly opened: string; readonly real: string };
  /** Absent: the content is read from `path`. */
  readonly content?: { readonly text: string } | { readonly value: unknown };
  /** A macOS property list. */
  readonly plist?: true;
  /** The user named this file, so a missing file is a warning. */
  readonly named?: true;
}

const NAMES = ['svc.json', 'svc.jsonc'] as const;

/** The folder of the user's configuration. */
export function globalFolder(input: LoadInput): string {
  return svcFolder('config', input);
}

/** The folder of an organization's configuration. `SVC_MANAGED_CONFIG_DIR` is for tests. */
export function managedFolder(input: LoadInput): string {
  const override = nonEmpty(input.env.SVC_MANAGED_CONFIG_DIR);
  if (override !== undefined) return override;
  if (input.platform === 'win32') return windowsFolder(input);
  return input.platform === 'darwin' ? '/Library/Application Support/svc' : '/etc/svc';
}

/** Ordinary users cannot create a folder here, as they can in `%ProgramData%`. */
function windowsFolder({ env }: LoadInput): string {
  return path.win32.join(nonEmpty(env.ProgramFiles) ?? 'C:\\Program Files', 'svc');
}

/**
 * All possible locations of sources, lowest precedence first. `below` and `above` are known immediately; `projects`
 * requires a search on disk.
 */
export function candidates(input: LoadInput) {
  const cwd = workingDirectory(input);
  const globalDir = globalFolder(input);
  const named = namedFile(input, cwd);
  return {
    below: (): readonly SourceCandidate[] => [...inFolder(globalDir, 'global'), ...named],
    projects: async (): Promise<readonly SourceCandidate[]> => {
      const found = await projectFiles(input, cwd);
      // As a project's file, it would only repeat its problems, and be told that it may not configure anything.
      return found.filter((project) => named.every((file) => file.path !== project.path));
    },
    above: (): readonly SourceCandidate[] => [
      ...editorSettings(input, globalDir),
      ...inlineContent(input, cwd),
      ...managedFiles(input),
    ],
  };
}

/** The files of all possible sources, including missing files. */
export async function sourceFiles(input: LoadInput): Promise<readonly string[]> {
  const { below, projects, above } = candidates(input);
  const places = [...below(), ...(await projects()), ...above()];
  return places.filter(({ content }) => content === undefined).map((each) => each.path);
}

function workingDirectory(input: LoadInput): string {
  return input.cwd ?? input.folders?.[0] ?? input.home;
}

function inFolder(folder: string, kind: SourceKind): SourceCandidate[] {
  return NAMES.map((name) => ({ kind, path: path.join(folder, name), trusted: true, folder }));
}

function namedFile(input: LoadInput, cwd: string): SourceCandidate[] {
  const value = nonEmpty(input.env.SVC_CONFIG);
  if (value === undefined) return [];
  const expanded = value.startsWith('~/') ? path.join(input.home, value.slice(2)) : value;
  const file = path.resolve(cwd, expanded);
  return [{ kind: 'env-path', path: file, trusted: true, folder: path.dirname(file), named: true }];
}

function inlineContent(input: LoadInput, cwd: string): SourceCandidate[] {
  const text = nonEmpty(input.env.SVC_CONFIG_CONTENT);
  if (text === undefined) return [];
  return [{ kind: 'env-content', path: 'SVC_CONFIG_CONTENT', trusted: true, folder: cwd, content: { text } }];
}

function editorSettings(input: LoadInput, folder: string): SourceCandidate[] {
  const { user, workspace } = input.editor ?? {};
  const found: SourceCandidate[] = [];
  if (user !== undefined) {
    found.push({ kind: 'editor', path: 'User Settings', trusted: true, folder, content: { value: user } });
  }
  if (workspace !== undefined) {
    const value = { value: workspace };
    found.push({ kind: 'editor-workspace', path: 'Workspace Settings', trusted: false, folder, content: value });
  }
  return found;
}

/** The preferences domain that device management writes on macOS; see docs/configuration.md. */
const MANAGED_DOMAIN = 'com.svc.managed';

function managedFiles(input: LoadInput): SourceCandidate[] {
  const files = inFolder(managedFolder(input), 'managed');
  if (input.platform !== 'darwin' || nonEmpty(input.env.SVC_MANAGED_CONFIG_DIR) !== undefined) return files;
  const base = '/Library/Managed Preferences';
  // The user's domain, then the machine's, which overrides it.
  for (const folder of [path.join(base, userInfo().username), base]) {
    const file = path.join(folder, `${MANAGED_DOMAIN}.plist`);
    files.push({ kind: 'managed', path: file, trusted: true, folder, plist: true });
  }
  return files;
}

async function projectFiles(input: LoadInput, cwd: string): Promise<SourceCandidate[]> {
  const projects = await (input.folders === undefined
    ? Promise.all(input.cwd === undefined ? [] : [findProject(path.resolve(cwd))])
    : // The editor uses the opened folder: nothing above it.
      Promise.all(input.folders.map((folder) => path.resolve(folder)).map((folder) => projectAt(folder, [folder]))));
  const seen = new Set<string>();
  const found: SourceCandidate[] = [];
  for (const { root, folders } of projects) {
    for (const folder of folders) {
      if (seen.has(folder)) continue;
      seen.add(folder);
      for (const name of NAMES) {
        found.push({ kind: 'project', path: path.join(folder, name), trusted: false, folder, project: root });
      }
    }
  }
  return found;
}

interface Project {
  readonly root: { readonly opened: string; readonly real: string };
  /** The folders from the root to the folder where the search started. */
  readonly folders: readonly string[];
}

/**
 * The Git worktree that contains the folder, otherwise the folder itself. The search does not continue above the
 * worktree.
 */
async function findProject(start: string): Promise<Project> {
  const upwards = [start];
  for (let above = path.dirname(start); above !== upwards.at(-1); above = path.dirname(above)) upwards.push(above);
  const worktrees = await Promise.all(upwards.map((folder) => exists(path.join(folder, '.git'))));
  const at = worktrees.indexOf(true);
  return at < 0 ? projectAt(start, [start]) : projectAt(upwards[at] ?? start, upwards.slice(0, at + 1).reverse());
}

async function projectAt(opened: string, folders: readonly string[]): Promise<Project> {
  return { root: { opened, real: await realpath(opened).catch(() => opened) }, folders };
}

async function exists(file: string): Promise<boolean> {
  return access(file, constants.F_OK).then(
    () => true,
    () => false,
  );
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === undefined || text === '' ? undefined : text;
}
