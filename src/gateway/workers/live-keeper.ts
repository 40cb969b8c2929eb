import type { LiveMessage } from './messages.ts';

type Follow = Extract<LiveMessage, { readonly type: 'live-follow' }>;

interface Reader {
  /** The worker that it is connected to. */
  readonly worker: number;
  readonly follow: Follow;
}

/** Passes live requests between workers, in the primary. Workers send requests only while there is a reader. */
export class LiveKeeper {
  readonly #workers = new Set<number>();
  readonly #readers = new Map<string, Reader>();
  readonly #send: (worker: number, message: LiveMessage) => void;

  constructor(send: (worker: number, message: LiveMessage) => void) {
    this.#send = send;
  }

  /** A worker accepts requests. */
  join(worker: number): void {
    this.#workers.add(worker);
    for (const { follow } of this.#readers.values()) this.#send(worker, follow);
  }

  /** A worker has ended, and with it its readers. */
  leave(worker: number): void {
    this.#workers.delete(worker);
    for (const [reader, each] of this.#readers) {
      if (each.worker === worker) this.receive(worker, { type: 'live-unfollow', reader });
    }
  }

  receive(worker: number, message: LiveMessage): void {
    switch (message.type) {
      case 'live-follow':
        this.#readers.set(message.reader, { worker, follow: message });
        return this.#tellOthers(worker, message);
      case 'live-unfollow':
        this.#readers.delete(message.reader);
        return this.#tellOthers(worker, message);
      case 'live-request':
      case 'live-skipped': {
        const reader = this.#readers.get(message.reader);
        if (reader !== undefined) this.#send(reader.worker, message);
      }
    }
  }

  #tellOthers(worker: number, message: LiveMessage): void {
    for (const other of this.#workers) if (other !== worker) this.#send(other, message);
  }
}
