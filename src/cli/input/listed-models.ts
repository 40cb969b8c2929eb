import { listedRegistry } from '../../catalog/live-registry.ts';
import type { Provider } from '../../catalog/model.ts';
import type { Registry } from '../../catalog/registry/registry.ts';
import { modelLister } from '../../provider/list-models.ts';
import { ServedWindows } from '../../provider/served-window.ts';
import type { Transport } from '../../provider/transport/transport.ts';
import { windowAddress } from '../../provider/window-keys.ts';
import { SvcError } from '../../wire/errors/svc-error.ts';
import type { Io } from '../io.ts';
import { forTerminalLine } from '../output/output.ts';

/**
 * A sentence about a provider that refuses requests without a key: a key that was entered in VS Code can't be read here.
 * Undefined if the provider has a key.
 */
export function keyStoreNote(io: Io, provider: Provider | undefined): string | undefined {
  if (provider === undefined || provider.withheld !== undefined) return undefined;
  const { id, name, endpoint } = provider;
  if (endpoint.apiKey !== undefined || endpoint.headers.size > 0) return undefined;
  const why =
    windowAddress(io.env) === undefined
      ? `svc can’t read the keys that you entered in VS Code: VS Code keeps them with ${keyStore(io.platform)}. Run svc in a terminal of VS Code`
      : 'The window of this terminal has no key for it, does not answer, or was closed or reloaded. Set the key in VS Code and open a new terminal';
  return `${name} has no key here. ${why}, or put \`"apiKey": "{env:NAME}"\` into the options of ${id} in svc.jsonc and set that variable.`;
}

export interface Listing {
  /** Milliseconds for each list. */
  readonly timeout?: number;
  /** Ids of the providers to ask. Absent: all without configured models. */
  readonly providers?: ReadonlySet<string>;
}

/** Lists models. Collects the providers that refused, because they need a key. */
export async function listModels(registry: Registry, transport: Transport, io: Io, options: Listing = {}) {
  const { timeout, providers } = options;
  const refused: Provider[] = [];
  const unlisted = (id: string, reason: string, error: unknown) => {
    const status = error instanceof SvcError ? error.upstreamStatus : undefined;
    const provider = registry.providers.get(id);
    if (provider && (status === 401 || status === 403)) refused.push(provider);
    return io.err(`${forTerminalLine(`warning: Could not list the models of ${id}: ${reason}`)}\n`);
  };
  const lister = modelLister(transport, timeout);
  const wanted = (id: string) => providers?.has(id) ?? true;
  const windows = new ServedWindows(transport);
  const listed = await listedRegistry(registry, { listModels: lister, windows, unlisted, wanted }, io.signal);
  return { registry: listed, keyNote: keyStoreNote(io, refused[0]) };
}

function keyStore(platform: NodeJS.Platform): string {
  if (platform === 'darwin') return 'the macOS keychain';
  if (platform === 'win32') return 'the data protection of Windows';
  return 'the keyring of the desktop (GNOME Keyring or KWallet)';
}
