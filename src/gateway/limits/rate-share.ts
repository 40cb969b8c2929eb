import { GrantWaits, grantsSoon } from './grant-waits.ts';

/** Milliseconds that are added to a minute: use in its last moment is reported later. */
const LATE_MS = 1_000;
/** Milliseconds after which the store has probably granted more. */
const GRANTED_MS = 1_000;

/** State that all shares of a process have in common. */
export interface RateServer {
  /** Something was used, or a request needs more. */
  changed(id: string, share: RateShare): void;
  /** Milliseconds of the window of each rate. */
  readonly minuteMs: number;
  /** Number of processes that share the limits. */
  readonly processes: number;
  /** When the server was lost; of the monotonic clock. Absent: it answers. */
  readonly lostAt: number | undefined;
  /** Whether leases may be used: the server answered not long ago. */
  readonly usable: boolean;
}

/** The own counts of this process. */
export interface OwnCount {
  used(): number;
  /** Milliseconds until the amount may be used if this process counted alone and had this limit. */
  wait(limit: number): number;
}

/** The share of one process in a rate that several use: requests or tokens of a minute, or running requests. */
export class RateShare {
  readonly #id: string;
  readonly #server: RateServer;
  /** Subtracted for this process and not used yet. */
  left = 0;
  /** The part that no process holds; of the last grant. */
  free = 0;
  /** The part that peers hold and that their running requests use; of the last grant. */
  peers = 0;
  readonly waits = new GrantWaits();
  /** Used since the last request for a lease. */
  unreported = 0;
  /** The largest amount that was refused since the last request for a lease. */
  needed = 0;
  /** Milliseconds after the last grant until more is free, if nothing is. */
  waitMs = 0;
  /** Of the monotonic clock. */
  answeredAt = Number.NEGATIVE_INFINITY;
  usedAt = 0;
  /** The allowance of this process for a minute since the server was lost, so that the minute of all is not exceeded. */
  #allowance: { readonly lostAt: number; readonly amount: number } | undefined;

  constructor(id: string, server: RateServer) {
    this.#id = id;
    this.#server = server;
  }

  /** Milliseconds of the window of the rate. */
  get minuteMs(): number {
    return this.#server.minuteMs;
  }

  use(amount: number): void {
    this.left -= amount;
    this.unreported += amount;
    this.usedAt = performance.now();
    this.#server.changed(this.#id, this);
  }

  /** The lease is lost. */
  forget(): void {
    this.left = Math.min(this.left, 0);
  }

  /** The limit is lower than before: the lease is requested again. */
  lower(): void {
    this.forget();
    this.#server.changed(this.#id, this);
  }

  /** Milliseconds until `amount` may be used; 0 if it may be used now. */
  wait(amount: number, limit: number, own: OwnCount, now = performance.now()): number {
    const { lostAt } = this.#server;
    if (lostAt !== undefined) return this.#waitAlone(amount, limit, own, now - lostAt, lostAt);
    this.#allowance = undefined;
    if (this.answeredAt === Number.NEGATIVE_INFINITY) return own.wait(this.#part(limit));
    if (this.left >= amount && this.#server.usable) return 0;
    this.needed = Math.max(this.needed, amount);
    this.#server.changed(this.#id, this);
    return this.reaches(amount) ? Math.max(GRANTED_MS, this.answeredAt + this.waitMs - now) : GRANTED_MS;
  }

  /** Whether all processes together have used the limit, as far as it is known: no process can grant `amount`. */
  reaches(amount: number): boolean {
    const { lostAt, usable } = this.#server;
    return lostAt === undefined && usable && this.free + this.peers < amount;
  }

  /** The time for which a refused request can wait. */
  awaits(amount: number): 'grant' | 'peers' | undefined {
    const { lostAt } = this.#server;
    if (lostAt !== undefined) return grantsSoon(lostAt) ? 'grant' : undefined;
    if (this.free >= amount || !this.#server.usable) return 'grant';
    return this.reaches(amount) ? undefined : 'peers';
  }

  /** The rest of `limit` for all, as far as it is known. */
  remaining(limit: number): number {
    return Math.min(limit, Math.max(0, this.left + this.free));
  }

  /** Equal parts, so that the limit of all holds; in the first minute not more than was used and granted before. */
  #waitAlone(amount: number, limit: number, own: OwnCount, sinceLost: number, lostAt: number): number {
    const wait = own.wait(this.#part(limit));
    const aloneMs = this.minuteMs + LATE_MS;
    if (wait > 0 || sinceLost > aloneMs || this.answeredAt === Number.NEGATIVE_INFINITY) return wait;
    if (this.#allowance?.lostAt !== lostAt) this.#allowance = { lostAt, amount: own.used() + Math.max(0, this.left) };
    return own.used() + amount <= this.#allowance.amount ? 0 : aloneMs - sinceLost;
  }

  #part(limit: number): number {
    return Math.max(1, Math.floor(limit / this.#server.processes));
  }
}

/** Gives the processes that share a state their shares of rates. */
export interface SharedRates {
  shares(id: string): Readonly<Record<'requests' | 'tokens' | 'parallel', RateShare>>;
}
