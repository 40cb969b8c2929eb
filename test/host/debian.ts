import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const CACHE = join(import.meta.dirname, '..', '..', '.cache', 'debian');

/** A program that the tests need and that is not on npm. */
export interface Program {
  readonly name: string;
  /** Where it may be. */
  readonly paths: readonly string[];
  readonly debianPackage: string;
  /** Names another place for it. */
  readonly variable?: string;
}

/** Path of the program; installs Debian's package when root and absent. @throws with what to install. */
export function programPath(program: Program): string {
  const { paths, variable, debianPackage } = program;
  const present = found(paths, variable);
  if (present !== undefined) return present;
  if (isDebian() && isRoot()) {
    apt(['update', '-qq']);
    apt(['install', '-y', '-qq', debianPackage]);
  }
  return found(paths) ?? missing(program);
}

/**
 * Path of a server program. Debian's package is unpacked into the cache and not installed, which would start the
 * server. @throws with what to install.
 */
export function serverPath(program: Program): string {
  const { paths, variable, debianPackage } = program;
  const folder = join(CACHE, debianPackage);
  const unpacked = paths.map((path) => join(folder, path));
  const present = found([...paths, ...unpacked], variable);
  if (present !== undefined) return present;
  if (isDebian()) unpack(debianPackage, folder);
  return found(unpacked) ?? missing(program);
}

function found(paths: readonly string[], variable?: string): string | undefined {
  const named = variable === undefined ? undefined : process.env[variable];
  return named || paths.find((path) => existsSync(path));
}

function missing({ name, debianPackage, variable }: Program): never {
  const elsewhere = variable === undefined ? '' : ` or name it in ${variable}`;
  throw new Error(`No ${name} found. Install it (Debian: apt-get install -y ${debianPackage})${elsewhere}.`);
}

function isDebian(): boolean {
  return spawnSync('apt-get', ['--version']).status === 0;
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

function unpack(debianPackage: string, folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  if (isRoot()) apt(['update', '-qq']);
  // As root, apt downloads as another user, who cannot write here.
  apt(['download', '-qq', '-o', 'APT::Sandbox::User=root', debianPackage], folder);
  for (const file of readdirSync(folder)) execFileSync('dpkg-deb', ['-x', join(folder, file), folder]);
}

function apt(args: readonly string[], cwd?: string): void {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  execFileSync('apt-get', args, { stdio: 'inherit', env, ...(cwd === undefined ? {} : { cwd }) });
}
