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
import { join } from 'node:path';

const CACHE = join(import.meta.dirname, '..', '..', '.cache', 'debian');

/** A program that the tests need and that is not on npm. */
export interface Program {
  readonly name: string;
  /** Where it may be. */
  readonly paths: readonly string[];
  readonly debianPackage: string;
  /** What the tests do with it. */
  readonly reason: string;
  /**
   * `installed`: it needs libraries of other packages. `unpacked`: the package would start a server or is needed for
   * one file, so it is only unpacked into the cache, which needs no root.
   */
  readonly how: 'installed' | 'unpacked';
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
  debianPackage: 'chromium-headless-shell',
  reason: 'shows the pages and VS Code',
  how: 'installed',
  variable: 'CHROME_PATH',
};

export const POSTGRES: Program = {
  name: 'Postgres',
  paths: [15, 16, 17, 18].map((version) => `/usr/lib/postgresql/${version}/bin/postgres`),
  debianPackage: 'postgresql',
  reason: 'holds the state of several gateways',
  how: 'installed',
  variable: 'SVC_TEST_POSTGRES',
};

export const HAPROXY: Program = {
  name: 'HAProxy',
  paths: ['/usr/sbin/haproxy', '/opt/homebrew/bin/haproxy'],
  debianPackage: 'haproxy',
  reason: 'balances several gateways with deploy/haproxy.cfg',
  how: 'installed',
};

export const NGINX: Program = {
  name: 'nginx',
  paths: ['/usr/sbin/nginx', '/opt/homebrew/bin/nginx'],
  debianPackage: 'nginx',
  reason: 'runs the configurations of deploy/ and docs/gateway.md',
  how: 'unpacked',
};

export const CADDY: Program = {
  name: 'Caddy',
  paths: ['/usr/bin/caddy', '/opt/homebrew/bin/caddy'],
  debianPackage: 'caddy',
  reason: 'runs the configurations of deploy/ and docs/gateway.md',
  how: 'unpacked',
};

export const COMPOSE_SCHEMA: Program = {
  name: 'schema of Compose',
  paths: ['/usr/lib/python3/dist-packages/compose/config/compose_spec.json'],
  debianPackage: 'docker-compose',
  reason: 'checks deploy/compose.yaml',
  how: 'unpacked',
};

export const ZSH: Program = {
  name: 'zsh',
  paths: ['/usr/bin/zsh', '/bin/zsh'],
  debianPackage: 'zsh',
  reason: 'runs the script of svc completion',
  how: 'installed',
};

export const FISH: Program = {
  name: 'fish',
  paths: ['/usr/bin/fish', '/opt/homebrew/bin/fish'],
  debianPackage: 'fish',
  reason: 'runs the script of svc completion',
  how: 'installed',
};

/** All programs that the tests need. */
export const PROGRAMS: readonly Program[] = [CHROMIUM, POSTGRES, HAPROXY, NGINX, CADDY, COMPOSE_SCHEMA, ZSH, FISH];

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
  if (isDebian()) {
    try {
      whileLocked(() => runApt(absentPrograms(programs)));
    } catch (thrown) {
      // Without a network, or on a distribution that lacks a package. apt has printed why.
      cause = thrown;
    }
  }
  const missing = absentPrograms(programs);
  if (missing.length > 0) fail(missing, cause);
}

function runApt(absent: readonly Program[]): void {
  const packages = (how: Program['how']) =>
    absent.filter((program) => program.how === how).map(({ debianPackage }) => debianPackage);
  if (absent.length === 0) return;
  if (isRoot()) {
    updateLists();
    install(packages('installed'));
  }
  unpack(packages('unpacked'));
}

/** What is missing, why it is needed, and how to install it. */
export function describeMissing(programs: readonly Program[]): string {
  const lines = programs.map(({ name, reason, variable }) => {
    const elsewhere = variable === undefined ? '' : `; its path may be in ${variable}`;
    return `- ${name}: ${reason}${elsewhere}`;
  });
  const packages = programs.map(({ debianPackage }) => debianPackage).join(' ');
  return [
    'Programs that the tests need are missing:',
    ...lines,
    `On Debian or Ubuntu: sudo apt-get install -y ${packages}. Elsewhere, install them with the system’s package manager.`,
  ].join('\n');
}

function fail(programs: readonly Program[], cause?: unknown): never {
  throw new Error(describeMissing(programs), { cause });
}

function findProgram({ paths, variable, how, debianPackage }: Program): string | undefined {
  const named = variable === undefined ? undefined : process.env[variable];
  const unpacked = how === 'unpacked' ? paths.map((path) => join(CACHE, debianPackage, path)) : [];
  return named || [...paths, ...unpacked].find((path) => existsSync(path));
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
