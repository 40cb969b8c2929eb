import path from 'node:path';

/**
 * How a platform writes paths. The platform is always handed in, never asked of the process: what Windows
 * does is then shown on any machine.
 */
export function platformPath(platform: NodeJS.Platform): path.PlatformPath {
  return platform === 'win32' ? path.win32 : path.posix;
}
