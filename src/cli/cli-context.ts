import { defined } from '../base/json.ts';
import type { StoredProviderKey } from '../catalog/credential-scope.ts';
import type { CatalogData } from '../catalog/public/catalog.ts';
import { cachedCatalog, catalogCacheFile, catalogUrl, refreshAllowed } from '../catalog/public/refresh.ts';
import { loadSnapshot } from '../catalog/public/snapshot.ts';
import { buildRegistry, type Registry } from '../catalog/registry/registry.ts';
import { describeWaiting, withoutWaitingChanges } from '../catalog/registry/trusted-providers.ts';
import { loadSettings } from '../config/load/load.ts';
import type { LoadInput } from '../config/load/sources.ts';
import type { Settings } from '../config/settings/settings.ts';
import { readWindowKeys, windowAddress } from '../provider/window-keys.ts';
import { SvcError } from '../wire/errors/svc-error.ts';
import { refreshInBackground } from './catalog-refresh.ts';
import type { Io } from './io.ts';
import { forTerminalLine } from './output/output.ts';

/**
 * The input for the settings of a command. The workspace is trusted: the user chose to run the command in this folder.
 */
export function terminalInput(io: Io): LoadInput {
  const folders = io.noProject ? { folders: [] } : {};
  return { env: io.env, platform: io.platform, home: io.home, cwd: io.cwd, trustedWorkspace: true, ...folders };
}

/** @param file the value of `--config`. */
export function withConfig(io: Io, file: string | undefined): Io {
  return file === undefined ? io : { ...io, env: { ...io.env, SVC_CONFIG: file } };
}

/** @param ignored the value of `--no-project`. */
export function withoutProject(io: Io, ignored: boolean | undefined): Io {
  return ignored ? { ...io, noProject: true } : io;
}

export interface Context {
  readonly settings: Settings;
  readonly catalog: CatalogData;
  readonly registry: Registry;
}

/**
 * Like `openContext`, for commands that send prompts and code: changes of a project that is not allowed are not used,
 * and one line on standard error names it.
 */
export async function openSendingContext(io: Io): Promise<Context> {
  const { settings: all, catalog } = await loadContext(io);
  requireReadable(all);
  const { settings, registry, waiting } = await forSending(all, catalog, io);
  const line = describeWaiting(waiting);
  if (line !== undefined) await io.err(`${forTerminalLine(`warning: ${line} To use them: svc trust`)}\n`);
  return { settings, catalog, registry };
}

/** The settings and models that prompts and code are sent with: without the changes of a project that is not allowed. */
export async function forSending(all: Settings, catalog: CatalogData, io: Io) {
  const window = windowKeys(io);
  const keys = await window;
  const hasStoredKey = (id: string) => keys?.has(id) ?? false;
  const { settings, waiting } = withoutWaitingChanges(all, { catalog, env: io.env, hasStoredKey });
  return { settings, waiting, registry: await registryFor(settings, catalog, io, window) };
}

/**
 * Settings, catalog and models for a command. Uses the catalog on disk and makes no requests.
 *
 * @throws SvcError configuration_error if the managed configuration is invalid.
 */
export async function openContext(io: Io): Promise<Context> {
  const { settings, catalog } = await loadContext(io);
  return { settings, catalog, registry: await registryFor(settings, catalog, io) };
}

async function loadContext(io: Io): Promise<Omit<Context, 'registry'>> {
  const [settings, snapshot] = await Promise.all([loadSettings(terminalInput(io)), loadSnapshot()]);
  requireManaged(settings);
  const catalog = await catalogOnDisk(settings, snapshot, io);
  await refreshInBackground(settings, io);
  return { settings, catalog };
}

/** The models of a command, with the keys of the VS Code window if it runs in a terminal of VS Code. */
export async function registryFor(
  settings: Settings,
  catalog: CatalogData,
  io: Io,
  window = windowKeys(io),
): Promise<Registry> {
  const keys = await window;
  const storedKeys = defined({ storedKeys: keys });
  return buildRegistry({ settings, catalog, env: io.env, workspace: io.cwd, ...storedKeys });
}

async function windowKeys(io: Io): Promise<ReadonlyMap<string, StoredProviderKey> | undefined> {
  const address = windowAddress(io.env);
  return address && (await readWindowKeys(address, io.signal))?.keys;
}

/** The last fetched catalog, or the one that ships with Svc. */
export async function catalogOnDisk(settings: Settings, snapshot: CatalogData, io: Io): Promise<CatalogData> {
  const place = { snapshot, cacheFile: catalogCacheFile(io.env, io.platform, io.home), url: catalogUrl(io.env) };
  return refreshAllowed(settings, io.env) ? cachedCatalog(place) : snapshot;
}

/** @throws SvcError configuration_error if the managed configuration is invalid: no command may bypass it. */
export function requireManaged(settings: Settings): void {
  if (settings.managedProblem === undefined) return;
  throw new SvcError({
    errorType: 'configuration_error',
    message: settings.managedProblem,
    action: 'Contact the administrator of this computer.',
  });
}

/**
 * Prompts and keys of the environment must not be sent to default addresses because the file with others can't be read.
 *
 * @throws SvcError configuration_error if a file of the user is not valid JSON, or one that they name does not exist.
 */
function requireReadable({ sources, diagnostics }: Settings): void {
  const unread = sources.filter(({ status, trusted }) => trusted && (status === 'invalid' || status === 'missing'));
  const error = diagnostics.find(({ path }) => unread.some((source) => source.path === path));
  if (error === undefined) return;
  const { path, line, column, message } = error;
  throw new SvcError({
    errorType: 'configuration_error',
    message: `${path}:${line}:${column}: ${message} Nothing is sent until the file can be read.`,
  });
}

/**
 * Prints configuration problems to standard error, one per line. Standard output contains only results, for other
 * programs.
 *
 * @param all also entries that are no problem.
 */
export async function reportDiagnostics(settings: Settings, io: Io, all = false): Promise<void> {
  for (const { severity, path, line, column, key, message } of settings.diagnostics) {
    if (severity === 'information' && !all) continue;
    const text = `${severity === 'information' ? 'note' : severity}: ${path}:${line}:${column}: ${key === '' ? '' : `${key}: `}${message}`;
    await io.err(`${forTerminalLine(text)}\n`);
  }
}
