import path from 'node:path';

/** The values that determine the user's folders. They are passed in, not read from the process. */
export interface UserPlace {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  readonly home: string;
}

/** The kinds of the XDG base directories. `data` must not be lost; `state` and `cache` may be lost. */
export type UserFolder = 'config' | 'cache' | 'data' | 'state';

interface Folder {
  /** Variable of the XDG Base Directory Specification. */
  readonly xdg: string;
  readonly linux: readonly string[];
  readonly darwin: readonly string[];
  readonly windows: { readonly variable: string; readonly folder: string };
}

const LOCAL = { variable: 'LOCALAPPDATA', folder: 'Local' };

const FOLDERS: Readonly<Record<UserFolder, Folder>> = {
  config: {
    xdg: 'XDG_CONFIG_HOME',
    linux: ['.config'],
    darwin: ['.config'],
    windows: { variable: 'APPDATA', folder: 'Roaming' },
  },
  cache: { xdg: 'XDG_CACHE_HOME', linux: ['.cache'], darwin: ['Library', 'Caches'], windows: LOCAL },
  data: {
    xdg: 'XDG_DATA_HOME',
    linux: ['.local', 'share'],
    darwin: ['Library', 'Application Support'],
    windows: LOCAL,
  },
  state: { xdg: 'XDG_STATE_HOME', linux: ['.local', 'state'], darwin: ['.local', 'state'], windows: LOCAL },
};

/** Svc's folder of this kind. */
export function svcFolder(kind: UserFolder, place: UserPlace): string {
  const { xdg, windows } = FOLDERS[kind];
  if (place.platform !== 'win32') return path.posix.join(xdgFolder(kind, place), 'svc');
  // On Windows, XDG variables apply to every kind except the configuration.
  const named = kind === 'config' ? undefined : absolute(place.env[xdg], path.win32);
  if (named !== undefined) return path.win32.join(named, 'svc');
  const base = place.env[windows.variable] || path.win32.join(place.home, 'AppData', windows.folder);
  return path.win32.join(base, 'svc', ...(kind === 'cache' ? ['Cache'] : []));
}

/** The folder of this kind for programs that follow XDG on every platform. */
export function xdgFolder(kind: UserFolder, { env, platform, home }: UserPlace): string {
  const paths = platform === 'win32' ? path.win32 : path.posix;
  const { xdg, linux, darwin } = FOLDERS[kind];
  return absolute(env[xdg], paths) ?? paths.join(home, ...(platform === 'darwin' ? darwin : linux));
}

/** The XDG specification requires that a relative path in one of its variables is ignored. */
function absolute(folder: string | undefined, { isAbsolute }: path.PlatformPath): string | undefined {
  return folder !== undefined && isAbsolute(folder) ? folder : undefined;
}
