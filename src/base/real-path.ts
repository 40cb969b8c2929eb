import { lstat, readlink, realpath } from 'node:fs/promises';
import path from 'node:path';

/** The limit of Linux. */
const MAX_LINKS = 40;

/**
 * The file that opening an absolute path for writing reaches. Follows every link, also a link to a missing file, up to
 * the place where the file would be created. Undefined for a circle of links and for an invalid path.
 */
export async function findRealPath(file: string, links = MAX_LINKS): Promise<string | undefined> {
  if (links < 0 || file.includes('\0')) return undefined;
  const real = await realpath(file).catch(() => undefined);
  if (real !== undefined) return real;
  const parent = path.dirname(file);
  if (parent === file) return file;
  const folder = await findRealPath(parent, links);
  if (folder === undefined) return undefined;
  const place = path.join(folder, path.basename(file));
  const stat = await lstat(place).catch(() => undefined);
  if (!stat?.isSymbolicLink()) return place;
  const target = await readlink(place).catch(() => undefined);
  if (target === undefined) return undefined;
  // Not normalized: `a/..` is not the folder of `a` where `a` is a link.
  return findRealPath(path.isAbsolute(target) ? target : `${folder}${path.sep}${target}`, links - 1);
}

/** Whether `file` is `folder` or in it; both are real paths. */
export function isWithin(folder: string, file: string, paths: path.PlatformPath = path): boolean {
  const relative = paths.relative(folder, file);
  return !paths.isAbsolute(relative) && relative.split(paths.sep)[0] !== '..';
}

/**
 * The path functions of a platform. The platform is a parameter, not read from the process, so that tests can check
 * Windows paths on any machine.
 */
export function platformPath(platform: NodeJS.Platform): path.PlatformPath {
  return platform === 'win32' ? path.win32 : path.posix;
}
