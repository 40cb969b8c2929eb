import type { LocalOnly } from '../config/settings/settings.ts';
import { fetchTransport } from '../provider/transport/fetch-transport.ts';
import type { Transport, TransportRequest } from '../provider/transport/transport.ts';
import type { UndiciTransport } from '../provider/transport/undici-transport.ts';
import type { Purpose, SentToday } from './sent-today.ts';

/** Requests for one purpose. */
export interface PurposeTransport extends Transport {
  /** Whether they go only to this machine and the user’s networks. */
  readonly isRestricted: boolean;
  /** A request for this purpose that another client sends. */
  note(url: string): void;
}

/**
 * Uses VS Code's fetch, with the user's proxy and certificates. While `localOnly` is set, connections are opened by Svc
 * itself, because only then the address of each is known.
 */
export class EditorTransport {
  // Read `fetch` on each call: VS Code replaces it later with its own, which uses the configured proxy.
  readonly #open = fetchTransport((input, init) => globalThis.fetch(input, init));
  readonly #sent: SentToday;
  #localOnly: LocalOnly | undefined;
  #local: Promise<UndiciTransport> | undefined;

  constructor(sent: SentToday) {
    this.#sent = sent;
  }

  for(purpose: Purpose): PurposeTransport {
    const restricted = () => this.#localOnly !== undefined;
    const note = (url: string, bytes = 0) => this.#sent.add(URL.parse(url)?.host ?? '', purpose, bytes);
    return {
      get isRestricted() {
        return restricted();
      },
      note: (url) => note(url),
      send: async (request) => {
        try {
          const response = await this.#send(request);
          note(request.url, sizeOf(request.body));
          return response;
        } catch (thrown) {
          // A request that fails may have been read; one that `localOnly` refuses was not sent.
          if (!restricted()) note(request.url, sizeOf(request.body));
          throw thrown;
        }
      },
    };
  }

  async restrict(localOnly: LocalOnly | undefined): Promise<void> {
    this.#localOnly = localOnly;
    if (localOnly === undefined && this.#local === undefined) return;
    this.#local ??= import('../provider/transport/undici-transport.ts').then(({ undiciTransport }) =>
      undiciTransport({ env: {}, localOnly }),
    );
    (await this.#local).restrict(this.#localOnly);
  }

  async #send(request: TransportRequest): ReturnType<Transport['send']> {
    if (this.#localOnly === undefined || this.#local === undefined) return this.#open.send(request);
    return (await this.#local).send(request);
  }

  dispose(): void {
    void this.#local?.then((local) => local.close());
  }
}

function sizeOf(body: TransportRequest['body']): number {
  if (typeof body === 'string') return Buffer.byteLength(body);
  return body instanceof Uint8Array ? body.byteLength : 0;
}
