import { randomUUID } from 'node:crypto';
import { defined, parseJson } from '../../base/json.ts';
import * as schemas from '../../protocol/admin-api/shared-schemas.ts';
import type { LiveReader, LiveReceiver, LiveRequests } from '../operations/live-requests.ts';
import type { LiveMessage } from './messages.ts';

type Watched = Pick<LiveReader, 'owner' | 'filter'>;

/** Milliseconds in which requests that are not shown are counted. */
const COUNT_MS = 100;

/**
 * The live requests of a worker, which the primary passes on. Each worker applies the filter and the limit of a reader
 * before it sends, and the worker of the reader applies the limit again to those of all workers.
 */
export class WorkerLive {
  readonly #live: LiveRequests;
  readonly #send: (message: LiveMessage) => void;
  /** Readers of this worker. */
  readonly #own = new Map<string, LiveReceiver>();
  /** Readers of peers, with the functions that remove them. */
  readonly #ofPeers = new Map<string, () => void>();

  constructor(live: LiveRequests, send: (message: LiveMessage) => void) {
    this.#live = live;
    this.#send = send;
    live.followPeers = (each, receiver) => this.#followPeers(each, receiver);
  }

  receive(message: LiveMessage): void {
    const { reader } = message;
    switch (message.type) {
      case 'live-follow':
        this.#ofPeers.set(reader, this.#addOfPeer(reader, message));
        return;
      case 'live-unfollow':
        this.#ofPeers.get(reader)?.();
        this.#ofPeers.delete(reader);
        return;
      case 'live-request': {
        // Another release may describe requests in another way.
        const { data } = schemas.request.safeParse(parseJson(message.text));
        if (data !== undefined) this.#own.get(reader)?.ended(data);
        return;
      }
      case 'live-skipped':
        return this.#own.get(reader)?.skipped(message.count);
    }
  }

  #followPeers({ owner, filter }: Watched, receiver: LiveReceiver): () => void {
    const reader = randomUUID();
    this.#own.set(reader, receiver);
    this.#send({ type: 'live-follow', reader, owner, filter: defined({ ...filter }) });
    return () => {
      this.#own.delete(reader);
      this.#send({ type: 'live-unfollow', reader });
    };
  }

  #addOfPeer(reader: string, { owner, filter }: Watched): () => void {
    let count = 0;
    let timer: NodeJS.Timeout | undefined;
    const sendCount = () => {
      this.#send({ type: 'live-skipped', reader, count });
      count = 0;
      timer = undefined;
    };
    const remove = this.#live.addOfPeer({
      owner,
      filter,
      show: (request) => {
        this.#send({ type: 'live-request', reader, text: JSON.stringify(request) });
        return true;
      },
      skipped: () => {
        count += 1;
        timer ??= setTimeout(sendCount, COUNT_MS).unref();
      },
    });
    return () => {
      clearTimeout(timer);
      remove();
    };
  }
}
