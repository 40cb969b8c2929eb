import * as vscode from 'vscode';
import type { StoredProviderKey } from '../../catalog/credential-scope.ts';
import { Secret } from '../../config/settings/secret.ts';

const PREFIX = 'svc.key.';

/** Keys entered in a dialog. They are in the system's key store, never in a file. */
export class StoredKeys implements vscode.Disposable {
  readonly #secrets: vscode.SecretStorage;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #watch: vscode.Disposable;
  readonly onDidChange = this.#changed.event;

  constructor(secrets: vscode.SecretStorage) {
    this.#secrets = secrets;
    // Other windows share the key store.
    this.#watch = secrets.onDidChange(({ key }) => {
      if (key.startsWith(PREFIX)) this.#changed.fire();
    });
  }

  dispose(): void {
    this.#watch.dispose();
    this.#changed.dispose();
  }

  /** By provider id. */
  async all(): Promise<ReadonlyMap<string, StoredProviderKey>> {
    const keys = (await this.#secrets.keys()).filter((key) => key.startsWith(PREFIX));
    const entries = await Promise.all(
      keys.map(async (key) => [key.slice(PREFIX.length), await this.#read(key)] as const),
    );
    const found = new Map<string, StoredProviderKey>();
    for (const [provider, stored] of entries) if (stored) found.set(provider, stored);
    return found;
  }

  /** @param origin `https://host[:port]` for which the key was entered; absent: any address from trusted sources. */
  async store(provider: string, key: string, origin?: string): Promise<void> {
    await this.#secrets.store(PREFIX + provider, JSON.stringify({ key, origin }));
  }

  async forget(provider: string): Promise<void> {
    await this.#secrets.delete(PREFIX + provider);
  }

  async forgetAll(): Promise<void> {
    const keys = (await this.#secrets.keys()).filter((key) => key.startsWith(PREFIX));
    await Promise.all(keys.map((key) => this.#secrets.delete(key)));
  }

  async #read(name: string): Promise<StoredProviderKey | undefined> {
    const text = await this.#secrets.get(name);
    if (text === undefined) return undefined;
    try {
      const value: unknown = JSON.parse(text);
      if (typeof value !== 'object' || value === null || !('key' in value) || typeof value.key !== 'string') return;
      const origin = 'origin' in value && typeof value.origin === 'string' ? value.origin : undefined;
      return { secret: new Secret(value.key), origin };
    } catch {
      // Not a valid entry: ignore it.
      return undefined;
    }
  }
}
