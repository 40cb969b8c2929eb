import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const CACHE = join(tmpdir(), 'svc-bench-next-edit');

/** Packages that ship the sources as they were written, with consecutive versions. */
export const PACKAGES: readonly {
  readonly name: string;
  readonly folder: string;
  readonly versions: readonly string[];
}[] = [
  { name: 'fastify', folder: 'lib', versions: ['5.0.0', '5.1.0', '5.2.0', '5.3.0', '5.4.0'] },
  { name: 'undici', folder: 'lib', versions: ['7.0.0', '7.1.0', '7.2.0', '7.3.0'] },
  {
    name: 'commander',
    folder: 'lib',
    versions: ['11.0.0', '11.1.0', '12.0.0', '12.1.0', '13.0.0', '13.1.0', '14.0.0'],
  },
  { name: 'immer', folder: 'src', versions: ['10.0.2', '10.0.3', '10.0.4', '10.1.0', '10.1.1'] },
  { name: 'zod', folder: 'src', versions: ['4.0.0', '4.0.5', '4.0.10', '4.1.0'] },
];

export interface SourceFile {
  readonly path: string;
  readonly before: string;
  readonly after: string;
}

/** The files that are different in two consecutive versions. npm gets them from the registry of its own configuration. */
export async function changedFiles(): Promise<readonly SourceFile[]> {
  const files: SourceFile[] = [];
  for (const { name, folder, versions } of PACKAGES) {
    const texts: Map<string, string>[] = [];
    for (const version of versions) texts.push(readSources(join(await unpack(name, version), folder)));
    for (const [index, before] of texts.slice(0, -1).entries()) {
      const after = texts[index + 1];
      for (const [path, text] of before) {
        const now = after?.get(path);
        if (now !== undefined && now !== text)
          files.push({ path: `${name}@${versions[index + 1]}/${folder}/${path}`, before: text, after: now });
      }
    }
  }
  return files;
}

async function unpack(name: string, version: string): Promise<string> {
  const folder = join(CACHE, `${name}-${version}`);
  if (existsSync(join(folder, 'package'))) return join(folder, 'package');
  mkdirSync(folder, { recursive: true });
  const { stdout } = await run('npm', ['pack', `${name}@${version}`, '--silent', '--pack-destination', folder]);
  await run('tar', ['-xzf', join(folder, stdout.trim().split('\n').at(-1) ?? ''), '-C', folder]);
  return join(folder, 'package');
}

function readSources(folder: string): Map<string, string> {
  const files = new Map<string, string>();
  if (!existsSync(folder)) return files;
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
    if (!/\.(?:[cm]?js|ts)$/.test(file) || /(?:\.d\.ts|\.min\.js)$|(?:^|[/\\])(?:tests?|locales)[/\\]/.test(file))
      continue;
    const text = readFileSync(join(folder, file), 'utf8').replaceAll('\r\n', '\n');
    if (text.length < 120_000) files.set(file, text);
  }
  return files;
}
