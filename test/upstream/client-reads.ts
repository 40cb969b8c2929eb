import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';

/** Limit for a client in another process, whose reads cannot be observed. */
const OTHER_PROCESS_MS = 200;

const HEADERS_SENT = 'undici:client:sendHeaders';
const HEAD_READ = 'undici:request:headers';
const CHUNK_READ = 'undici:request:bodyChunkReceived';

interface ClientMessage {
  readonly request: object;
  readonly socket?: Socket;
  readonly chunk?: Uint8Array;
}

/** Reports how much of an answer a client of this process has read. undici publishes it, also for `fetch`. */
export class ClientReads implements Disposable {
  readonly #requests = new Map<number, object>();
  readonly #bytes = new WeakMap<object, number>();
  readonly #waiting = new Set<() => void>();

  constructor() {
    subscribe(HEADERS_SENT, this.#sent);
    subscribe(HEAD_READ, this.#read);
    subscribe(CHUNK_READ, this.#read);
  }

  [Symbol.dispose](): void {
    unsubscribe(HEADERS_SENT, this.#sent);
    unsubscribe(HEAD_READ, this.#read);
    unsubscribe(CHUNK_READ, this.#read);
  }

  /** Resolves when the client with this port has read the head of its last answer and `bytes` of its body. */
  wait(port: number | undefined, bytes: number): Promise<void> {
    return new Promise((resolve) => {
      const check = () => {
        const request = port === undefined ? undefined : this.#requests.get(port);
        const read = request && this.#bytes.get(request);
        if (read === undefined || read < bytes) return;
        finish();
      };
      const finish = () => {
        clearTimeout(timer);
        this.#waiting.delete(check);
        resolve();
      };
      const timer = setTimeout(finish, OTHER_PROCESS_MS);
      this.#waiting.add(check);
      check();
    });
  }

  readonly #sent = (message: unknown): void => {
    const { request, socket } = message as ClientMessage;
    if (socket?.localPort !== undefined) this.#requests.set(socket.localPort, request);
  };

  readonly #read = (message: unknown): void => {
    const { request, chunk } = message as ClientMessage;
    this.#bytes.set(request, (this.#bytes.get(request) ?? 0) + (chunk?.length ?? 0));
    for (const check of this.#waiting) check();
  };
}
