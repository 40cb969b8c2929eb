import path from 'node:path';
import { parseArgs } from 'node:util';
import { loadSnapshot } from '../../catalog/public/snapshot.ts';
import { withoutWaitingChanges } from '../../catalog/registry/trusted-providers.ts';
import { allowFolder, readAllowedFolders } from '../../config/load/allowed-folders.ts';
import { loadSettings } from '../../config/load/load.ts';
import type { Settings } from '../../config/settings/settings.ts';
import { catalogOnDisk, terminalInput } from '../cli-context.ts';
import { type Io, UsageError } from '../io.ts';
import { OPTIONS } from '../options.ts';
import { forTerminalLine } from '../output/output.ts';

/**
 * `svc trust`: allows the configuration of a project, by default of the one that contains the working folder. Prints
 * the settings that are used from now on.
 */
export async function run(args: string[], io: Io): Promise<number> {
  const { values, positionals } = parseArgs({ args, options: OPTIONS.trust, allowPositionals: true });
  if (positionals.length > 1) throw new UsageError('Name one folder.');
  if (values.list) {
    const folders = await readAllowedFolders(io);
    await io.out(folders.map((each) => `${forTerminalLine(each)}\n`).join(''));
    return 0;
  }
  const [named] = positionals;
  const cwd = path.resolve(io.cwd, named ?? '.');
  const settings = await loadSettings({ ...terminalInput(io), cwd });
  const folders = named === undefined && settings.projects?.length ? settings.projects : [cwd];
  const catalog = await catalogOnDisk(settings, await loadSnapshot(), io);
  const { waiting } = withoutWaitingChanges(settings, { catalog, env: io.env });
  for (const folder of folders) {
    const real = await setAllowed(io, folder, values.remove !== true);
    const done = values.remove ? 'is not allowed any more' : 'is allowed, with the folders in it';
    await io.out(`${forTerminalLine(`${real} ${done}.`)}\n`);
  }
  if (values.remove) return 0;
  const after = await loadSettings({ ...terminalInput(io), cwd });
  if (after.projectAllowed === false) return describeUnallowed(io, after);
  for (const { key, origin } of waiting) {
    await io.out(`${forTerminalLine(`Used from now on: ${key} (${origin.source.path}, line ${origin.line})`)}\n`);
  }
  return 0;
}

/** The files of a project belong to its root, so a folder in it allows none of them. */
async function describeUnallowed(io: Io, { projects = [], sources }: Settings): Promise<number> {
  const files = sources.filter(({ kind, status }) => kind === 'project' && status !== 'missing');
  const line = `It is a part of the project ${projects.join(', ')}, whose files are still not used: ${files.map((each) => each.path).join(', ')}.`;
  await io.out(`${forTerminalLine(line)}\n`);
  for (const root of projects) await io.out(`${forTerminalLine(`To use them: svc trust ${JSON.stringify(root)}`)}\n`);
  return 0;
}

async function setAllowed(io: Io, folder: string, allowed: boolean): Promise<string> {
  try {
    return await allowFolder(io, folder, allowed);
  } catch (error) {
    throw new UsageError(`${folder} cannot be changed: ${error instanceof Error ? error.message : String(error)}`);
  }
}
