import path from 'node:path';

/** What decides where the user's folders are. Nothing is taken from the process itself. */
export interface UserPlace {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  readonly home: string;
}

/** Configuration, cache, data (what must not be lost) and state (what may be lost), as the XDG base directories. */
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

/** Svc's own folder of a kind. */
export function svcFolder(kind: UserFolder, place: UserPlace): string {
  const { xdg, windows } = FOLDERS[kind];
  if (place.platform !== 'win32') return path.posix.join(xdgFolder(kind, place), 'svc');
  // On Windows the variables of XDG count for everything except the configuration.
  const named = kind === 'config' ? undefined : absolute(place.env[xdg], path.win32);
  if (named !== undefined) return path.win32.join(named, 'svc');
  const base = place.env[windows.variable] || path.win32.join(place.home, 'AppData', windows.folder);
  return path.win32.join(base, 'svc', ...(kind === 'cache' ? ['Cache'] : []));
}

/** The folder of a kind for programs that follow XDG on each platform. */
export function xdgFolder(kind: UserFolder, { env, platform, home }: UserPlace): string {
  const paths = platform === 'win32' ? path.win32 : path.posix;
  const { xdg, linux, darwin } = FOLDERS[kind];
  return absolute(env[xdg], paths) ?? paths.join(home, ...(platform === 'darwin' ? darwin : linux));
}

/** The specification: a relative path in one of its variables is ignored. */
function absolute(folder: string | undefined, { isAbsolute }: path.PlatformPath): string | undefined {
  return folder !== undefined && isAbsolute(folder) ? folder : undefined;
}
