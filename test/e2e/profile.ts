import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { type CodeServer, QUIET_SETTINGS } from '../host/code-server.ts';
import type { WorkbenchProfile } from '../host/workbench.ts';

const ROOT = join(import.meta.dirname, '..', '..');

/** Without the name of the profile, which pictures of the documentation would show. */
const TITLE = { 'window.title': '${dirty}${activeEditorShort}${separator}${rootName}${separator}${appName}' };

/**
 * A key for what a harness does after each test: the palette costs a second of processor time. VS Code does nothing else
 * with it.
 */
export const CLOSE_KEY = 'Control+Alt+Shift+F9';
const KEYS = [{ key: 'ctrl+alt+shift+f9', command: 'workbench.action.revertAndCloseActiveEditor' }];

/** Other extensions to install. They do nothing, unless `main` names a file with their code. */
export interface OtherExtension {
  readonly publisher: string;
  readonly name: string;
  readonly displayName: string;
  readonly contributes?: object;
  readonly main?: string;
  /**
   * Loads it as the extension under development, because VS Code removes its id otherwise. There is one such
   * extension: Svc is then listed with those of the user.
   */
  readonly developed?: boolean;
}

/** An extension that is installed at a folder. */
export interface InstalledExtension {
  readonly id: string;
  readonly version: string;
  readonly folder: string;
}

export interface ProfileOptions {
  /** The user's settings.json. */
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly extensions?: readonly InstalledExtension[];
  /** The window draws as that of a user. */
  readonly usual?: boolean;
}

/**
 * A VS Code profile: settings and extensions of one user. State and secrets are in the browser context. Windows of
 * different profiles share the server, and the folder for files that extensions store.
 */
export interface Profile extends WorkbenchProfile {
  /** Folder with the files that Svc stores. */
  readonly globalStorage: string;
  remove(): void;
}

/** @param root a new folder with a unique name. The settings are stored there, the rest with the server. */
export function createProfile(server: CodeServer, root: string, options: ProfileOptions = {}): Profile {
  const id = basename(root);
  // The page and the server each have a folder for the profile: both keep a list of extensions in a file of one name.
  const folder = join(root, 'profile', id);
  const stored = join(server.userDataDir, 'User', 'profiles', id);
  // VS Code gives the extensions of all profiles one folder for files, so each spec file leaves it empty.
  const globalStorage = join(server.userDataDir, 'User', 'globalStorage', 'svc.svc');
  // All profiles have one file with the settings of scope `machine`, such as rules of permissions.
  const machine = join(server.userDataDir, 'Machine', 'settings.json');
  mkdirSync(folder, { recursive: true });
  mkdirSync(stored, { recursive: true });
  mkdirSync(globalStorage, { recursive: true });
  writeFileSync(
    join(folder, 'settings.json'),
    JSON.stringify(
      { ...server.settings, ...TITLE, ...(options.usual ? {} : QUIET_SETTINGS), ...options.settings },
      null,
      2,
    ),
  );
  writeFileSync(join(folder, 'keybindings.json'), JSON.stringify(KEYS));
  const extensions = (options.extensions ?? []).map(({ id, version, folder }) => ({
    identifier: { id },
    version,
    location: { $mid: 1, path: folder, scheme: 'file' },
  }));
  writeFileSync(join(stored, 'extensions.json'), JSON.stringify(extensions));
  return {
    id,
    folder,
    stored,
    globalStorage,
    remove: () => {
      for (const each of [stored, globalStorage, machine])
        rmSync(each, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Creates the extensions and returns those of the user and the folder of the one under development. */
export function createExtensions(root: string, manifests: readonly OtherExtension[]) {
  const version = '1.0.0';
  const installed: InstalledExtension[] = [];
  let underDevelopment: string | undefined;
  for (const { main, developed, ...manifest } of manifests) {
    const id = `${manifest.publisher}.${manifest.name}`;
    const folder = join(root, developed ? 'developed' : 'extensions', `${id.toLowerCase()}-${version}`);
    mkdirSync(folder, { recursive: true });
    const activationEvents = ['onStartupFinished'];
    const rest = { version, main: './main.js', engines: { vscode: '^1.100.0' }, activationEvents };
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...manifest, ...rest }));
    if (main === undefined) writeFileSync(join(folder, 'main.js'), 'exports.activate = () => undefined;\n');
    else cpSync(main, join(folder, 'main.js'));
    if (developed) underDevelopment = folder;
    else installed.push({ id, version, folder });
  }
  if (underDevelopment !== undefined) {
    const own: { publisher: string; name: string; version: string } = createRequire(import.meta.url)(
      '../../package.json',
    );
    installed.push({ id: `${own.publisher}.${own.name}`, version: own.version, folder: ROOT });
  }
  return { installed, underDevelopment };
}
