import type { LocalOnly } from '../config/settings/settings.ts';
import { fetchTransport } from '../provider/transport/fetch-transport.ts';
import type { Transport } from '../provider/transport/transport.ts';
import type { UndiciTransport } from '../provider/transport/undici-transport.ts';

/**
 * Uses VS Code's fetch, with the user's proxy and certificates. While `localOnly` is set, connections are opened by Svc
 * itself, because only then the address of each is known.
 */
export class EditorTransport implements Transport {
  // Read `fetch` on each call: VS Code replaces it later with its own, which uses the configured proxy.
  readonly #open = fetchTransport((input, init) => globalThis.fetch(input, init));
  #localOnly: LocalOnly | undefined;
  #local: Promise<UndiciTransport> | undefined;

  get isRestricted(): boolean {
    return this.#localOnly !== undefined;
  }

  async restrict(localOnly: LocalOnly | undefined): Promise<void> {
    this.#localOnly = localOnly;
    if (localOnly === undefined && this.#local === undefined) return;
    this.#local ??= import('../provider/transport/undici-transport.ts').then(({ undiciTransport }) =>
      undiciTransport({ env: {}, localOnly }),
    );
    (await this.#local).restrict(this.#localOnly);
  }

  readonly send: Transport['send'] = async (request) => {
    if (this.#localOnly === undefined || this.#local === undefined) return this.#open.send(request);
    return (await this.#local).send(request);
  };

  dispose(): void {
    void this.#local?.then((local) => local.close());
  }
}
