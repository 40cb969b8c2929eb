import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');
const COPY = join(ROOT, 'out', 'package');

/** The product as it is published. */
export interface Packaged {
  /** The project's folder with what the VSIX and the npm package are made of. */
  readonly folder: string;
  readonly vsix: string;
  readonly version: string;
}

const packaged: { value?: Packaged } = {};

/** Builds the release and the VSIX once, in a copy: tests that run meanwhile use `dist/`. */
export function packageExtension(): Packaged {
  packaged.value ??= create();
  return packaged.value;
}

function create(): Packaged {
  rmSync(COPY, { recursive: true, force: true });
  mkdirSync(COPY, { recursive: true });
  const list = ['ls-files', '--cached', '--others', '--exclude-standard', '-z'];
  const files = execFileSync('git', list, { cwd: ROOT, encoding: 'utf8', maxBuffer: 10_000_000 }).split('\0');
  const wanted = files.filter((file) => file !== '' && !file.startsWith('test/') && existsSync(join(ROOT, file)));
  for (const file of wanted) cpSync(join(ROOT, file), join(COPY, file));
  symlinkSync(join(ROOT, 'node_modules'), join(COPY, 'node_modules'), 'junction');
  execFileSync(process.execPath, [join(COPY, 'scripts', 'package.ts')], { cwd: COPY, stdio: 'pipe' });
  const { name, version } = JSON.parse(readFileSync(join(COPY, 'package.json'), 'utf8'));
  return { folder: COPY, vsix: join(COPY, `${name}-${version}.vsix`), version };
}
