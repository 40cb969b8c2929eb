import path from 'node:path';

/**
 * The path functions of a platform. The platform is a parameter, not read from the process, so that tests can check
 * Windows paths on any machine.
 */
export function platformPath(platform: NodeJS.Platform): path.PlatformPath {
  return platform === 'win32' ? path.win32 : path.posix;
}
