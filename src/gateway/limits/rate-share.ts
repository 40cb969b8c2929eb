const MINUTE_MS = 61_000;
/** Milliseconds after which the server has probably granted more. */
const ASKING_MS = 1_000;

/** What all shares of a process know. */
export interface RateServer {
  /** Something was used, or a request needs more. */
  changed(id: string, share: RateShare): void;
  /** Number of gateways that share the state. */
  readonly replicas: number;
  /** The shared state is away. */
  readonly lost: boolean;
}

/** What one process may use of a rate that several processes use: requests or tokens of a minute, or running requests. */
export class RateShare {
  readonly #id: string;
  readonly #server: RateServer;
  /** Subtracted for this process and not used yet. */
  left = 0;
  /** What no process holds; of the last answer. */
  free = 0;
  /** Used since the last question. */
  unreported = 0;
  /** The largest amount that was refused since the last question. */
  needed = 0;
  /** Milliseconds after the last answer until more is free, if nothing is. */
  waitMs = 0;
  /** Of the monotonic clock. */
  answeredAt = Number.NEGATIVE_INFINITY;
  usedAt = 0;

  constructor(id: string, server: RateServer) {
    this.#id = id;
    this.#server = server;
  }

  use(amount: number): void {
    this.left -= amount;
    this.unreported += amount;
    this.usedAt = performance.now();
    this.#server.changed(this.#id, this);
  }

  /**
   * Milliseconds until `amount` may be used; 0 if it may be used now.
   *
   * @param alone the same if this process counted alone and had this limit.
   */
  wait(amount: number, limit: number, alone: (limit: number) => number, now = performance.now()): number {
    if (this.#server.lost || this.answeredAt === Number.NEGATIVE_INFINITY)
      return this.#waitAlone(amount, limit, alone, now);
    if (this.left >= amount) return 0;
    this.needed = Math.max(this.needed, amount);
    this.#server.changed(this.#id, this);
    return this.free > 0 ? ASKING_MS : Math.max(ASKING_MS, this.answeredAt + this.waitMs - now);
  }

  /** What is left of `limit` for all, as far as it is known. */
  remaining(limit: number): number {
    return Math.min(limit, Math.max(0, this.left + this.free));
  }

  /** Equal parts, so that the limit of all holds; of what was free at the last answer, in the first minute. */
  #waitAlone(amount: number, limit: number, alone: (limit: number) => number, now: number): number {
    const { replicas } = this.#server;
    const wait = alone(Math.max(1, Math.floor(limit / replicas)));
    const sinceAnswer = now - this.answeredAt;
    if (wait > 0 || sinceAnswer > MINUTE_MS || this.left + this.free / replicas >= amount) return wait;
    return MINUTE_MS - sinceAnswer;
  }
}

/** Gives the processes that share a state their shares of rates. */
export interface SharedRates {
  shares(id: string): Readonly<Record<'requests' | 'tokens' | 'parallel', RateShare>>;
}
