import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { endWithTests } from '../end-with-tests.ts';
import { freePort } from './free-port.ts';

/** code-server 4.139.1 is VS Code 1.139.1: workbench, Node extension host, from the npm registry. */
const VERSION = '4.139.1';
const ROOT = join(import.meta.dirname, '..', '..');
const CACHE = join(ROOT, '.cache', `code-server-${VERSION}`);
const PACKAGE = join(CACHE, 'node_modules', 'code-server');
const INSTALLED = join(CACHE, 'installed');
/** The npm package that `installCodeServer` installs. */
export const CODE_SERVER = `code-server@${VERSION}`;

export function codeServerInstalled(): boolean {
  return existsSync(INSTALLED);
}

function npm(args: string[], cwd: string): void {
  const result = spawnSync('npm', args, { cwd, encoding: 'utf8', shell: process.platform === 'win32' });
  if (result.status !== 0) {
    throw new Error(`npm ${args.join(' ')} failed in ${cwd}:\n${result.stdout}\n${result.stderr}`);
  }
}

/**
 * Installs the browser host into the cache, once. Its own install scripts would compile native modules
 * that the tests don't need, so they stay off and its dependencies are installed manually.
 */
export function installCodeServer(): void {
  if (!codeServerInstalled()) installPackages();
  writeLogger();
}

/** See file-log.cjs. */
function writeLogger(): void {
  const logger = join(PACKAGE, 'lib', 'vscode', 'node_modules', '@vscode', 'spdlog', 'index.js');
  const own = readFileSync(join(import.meta.dirname, 'file-log.cjs'), 'utf8');
  if (readFileSync(logger, 'utf8') === own) return;
  // Another process may be reading it, so it is replaced and not written.
  writeFileSync(`${logger}.${process.pid}`, own);
  renameSync(`${logger}.${process.pid}`, logger);
}

function installPackages(): void {
  rmSync(CACHE, { recursive: true, force: true });
  mkdirSync(CACHE, { recursive: true });
  writeFileSync(join(CACHE, 'package.json'), '{"private":true}');
  npm(['install', CODE_SERVER, '--ignore-scripts', '--no-audit', '--no-fund'], CACHE);
  const workbench = join(PACKAGE, 'lib', 'vscode');
  npm(['install', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund'], workbench);
  npm(['install', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund'], join(workbench, 'extensions'));
  writeFileSync(INSTALLED, VERSION);
}

export interface CodeServerOptions {
  /** Absolute path; a fresh one is made and removed when absent. */
  readonly userDataDir?: string;
  readonly extensionsDir?: string;
  readonly port?: number;
  /** The user's settings.json, written before the start. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Keep Workspace Trust on (suites about trust). */
  readonly workspaceTrust?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  /** Lets a page load an extension under development. */
  readonly testDriver?: boolean;
  /** Time for which the extension host of a window that has gone waits for it; absent: hours. */
  readonly reconnectionGraceSeconds?: number;
}

export interface CodeServer {
  readonly port: number;
  readonly userDataDir: string;
  readonly extensionsDir: string;
  /** Those of the default profile. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** The log files of the extension hosts that were started last, by their name. */
  extensionLogs(): Readonly<Record<string, string>>;
  /** Ends the extension hosts of all windows, at once and with certainty. Returns their number. */
  endExtensionHosts(): Promise<number>;
  close(): Promise<void>;
}

export function codeServerCommand(args: readonly string[]): { file: string; args: string[] } {
  return { file: process.execPath, args: [join(PACKAGE, 'out', 'node', 'entry.js'), ...args] };
}

const CALM_SETTINGS = {
  'workbench.startupEditor': 'none',
  // A spec saves when it means to: the browser host would save by itself after a second.
  'files.autoSave': 'off',
  'workbench.tips.enabled': false,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'chat.disableAIFeatures': false,
  'chat.commandCenter.enabled': false,
  'security.workspace.trust.startupPrompt': 'never',
  'telemetry.telemetryLevel': 'off',
  'update.mode': 'none',
  'extensions.autoCheckUpdates': false,
  'extensions.ignoreRecommendations': true,
  'git.openRepositoryInParentFolders': 'never',
  'window.commandCenter': false,
  // Each server that a test starts would have a notification of its own, some seconds later.
  'remote.autoForwardPorts': false,
};

/**
 * Without what draws again and again, starts programs, or depends on the speed of the machine, if a test has no use for
 * it. Not part of what `npm start` and a window with the package use: these have the settings of a user.
 */
export const QUIET_SETTINGS = {
  'workbench.reduceMotion': 'on',
  'editor.cursorBlinking': 'solid',
  'editor.stickyScroll.enabled': false,
  // Installs a list of packages from the npm registry.
  'typescript.disableAutomaticTypeAcquisition': true,
  // A second server for the first seconds.
  'typescript.tsserver.useSyntaxServer': 'never',
  // VS Code opens its list when no ghost text has come after 750 ms, and Tab is then a key of the list. On a busy machine
  // it would open in any test; those about a list open it.
  'editor.quickSuggestions': { other: 'off', comments: 'off', strings: 'off' },
};

export async function startCodeServer(options: CodeServerOptions = {}): Promise<CodeServer> {
  installCodeServer();
  const made = options.userDataDir === undefined ? mkdtempSync(join(tmpdir(), 'svc-host-')) : undefined;
  const userDataDir = options.userDataDir ?? join(made ?? '', 'user');
  const extensionsDir = options.extensionsDir ?? join(made ?? userDataDir, 'extensions');
  mkdirSync(join(userDataDir, 'User'), { recursive: true });
  mkdirSync(extensionsDir, { recursive: true });
  const settings = { ...CALM_SETTINGS, ...options.settings };
  writeFileSync(join(userDataDir, 'User', 'settings.json'), JSON.stringify(settings, null, 2));
  const port = options.port ?? (await freePort());
  const { file, args } = codeServerCommand([
    '--auth',
    'none',
    '--bind-addr',
    `127.0.0.1:${port}`,
    '--user-data-dir',
    userDataDir,
    '--extensions-dir',
    extensionsDir,
    '--disable-telemetry',
    '--disable-update-check',
    // As in `openWorkbench`: both ends are on this machine.
    '--vscode-option',
    'disable-websocket-compression',
    ...(options.workspaceTrust ? [] : ['--disable-workspace-trust']),
    ...(options.testDriver === false ? [] : ['--vscode-option', 'enable-smoke-test-driver']),
    ...(options.reconnectionGraceSeconds === undefined
      ? []
      : ['--reconnection-grace-time', String(options.reconnectionGraceSeconds)]),
  ]);
  const child = spawn(file, args, {
    env: { ...process.env, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: process.platform !== 'win32',
  });
  child.once(
    'exit',
    endWithTests(() => endGroup(child)),
  );
  await listening(child);
  return {
    port,
    userDataDir,
    extensionsDir,
    settings,
    extensionLogs: () => readExtensionLogs(join(userDataDir, 'logs')),
    endExtensionHosts: () => endExtensionHosts(child),
    close: async () => {
      await endTree(child);
      if (made) rmSync(made, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Installs a VSIX from the command line before the host starts. */
export function installExtension(vsix: string, extensionsDir: string, userDataDir: string): void {
  installCodeServer();
  const places = ['--extensions-dir', extensionsDir, '--user-data-dir', userDataDir];
  const { file, args } = codeServerCommand([...places, '--install-extension', vsix]);
  execFileSync(file, args, { stdio: 'pipe', cwd: userDataDir });
}

function listening(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let output = '';
    const read = (chunk: Buffer) => {
      output += chunk.toString('utf8');
      if (output.includes('HTTP server listening')) resolve();
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`The browser host ended with code ${code}:\n${output}`)));
  });
}

/** Logs of extensions in the folders exthost1, exthost2, …, of the last two hosts: there may be two windows. */
function readExtensionLogs(folder: string): Readonly<Record<string, string>> {
  if (!existsSync(folder)) return {};
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).flatMap((file) => {
    const [, host] = /exthost(\d+)\/.*\.log$/.exec(file.replaceAll('\\', '/')) ?? [];
    return host === undefined ? [] : [{ file, host: Number(host) }];
  });
  const last = Math.max(...files.map(({ host }) => host));
  const kept = files.filter(({ host }) => host > last - 2);
  return Object.fromEntries(
    kept.map(({ file }) => [file.replaceAll(/[\\/]/g, '-'), readFileSync(join(folder, file), 'utf8')]),
  );
}

/** The extension hosts are in the process group of the server. */
async function endExtensionHosts(child: ChildProcess): Promise<number> {
  // Windows has no process groups: there, they end after the grace time.
  if (process.platform === 'win32' || child.pid === undefined) return 0;
  const find = () => {
    const lines = execFileSync('ps', ['-eo', 'pid=,pgid=,stat=,args='], { encoding: 'utf8' }).trim().split('\n');
    const processes = lines.map((line) => /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line)?.slice(1) ?? []);
    return processes.flatMap(([pid, group, state = '', args = '']) =>
      Number(group) === child.pid && !state.startsWith('Z') && args.includes('--type=extensionHost')
        ? [Number(pid)]
        : [],
    );
  };
  const hosts = find();
  for (const pid of hosts) kill(pid);
  // The kernel ends a killed process in its own time, and nobody but its parent is told.
  while (find().some((pid) => hosts.includes(pid))) await setTimeout(20);
  return hosts.length;
}

/** A process, or a group by its negative number. It may have ended since it was found. */
function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

/** Ends the host with its extension hosts: they are its children's children. */
function endTree(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.pid === undefined) return resolve();
    child.once('exit', () => resolve());
    endGroup(child);
  });
}

function endGroup(child: ChildProcess): void {
  if (process.platform === 'win32' || child.pid === undefined) child.kill();
  else kill(-child.pid);
}
