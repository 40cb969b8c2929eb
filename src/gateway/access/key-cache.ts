import { defined } from '../../base/json.ts';
import { hashKey, type KeyCheck, OPERATOR, type Principal } from './authentication.ts';
import type { KeyStore, StoredGatewayKey } from './key-store.ts';

interface Held {
  readonly principal: Principal;
  /** Unix milliseconds; Infinity if the key does not expire. */
  readonly until: number;
}

/** Milliseconds until a key that another process created or revoked takes effect. */
const FOLLOW_MS = 1_000;

export interface KeyCacheEvents {
  /** Whether the stored keys are too old to be used. */
  readonly stale?: () => boolean;
  /** All keys of the store, when one may have changed. */
  readonly reloaded?: (keys: readonly StoredGatewayKey[]) => void;
  /** Another process has written something else. */
  readonly written?: () => void;
}

/** The keys in memory: fixed keys and a current copy of the store. */
export class KeyCache implements KeyCheck {
  #held: ReadonlyMap<string, Held> = new Map();
  /** Hashes that have expired once. They stay invalid if the clock is set back. */
  readonly #expired = new Set<string>();
  /** True after keys that expired before the start of this process were deleted from the store. */
  #swept = false;
  readonly #fixed: readonly string[];
  readonly #reloaded: (keys: readonly StoredGatewayKey[]) => void;
  readonly #written: () => void;
  readonly #stale: () => boolean;
  readonly #store: KeyStore | undefined;
  #version = -1;
  #changes = -1;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    store: KeyStore | undefined,
    fixed: readonly string[],
    { reloaded = () => undefined, written = () => undefined, stale = () => false }: KeyCacheEvents = {},
  ) {
    this.#stale = stale;
    this.#reloaded = reloaded;
    this.#written = written;
    this.#store = store;
    this.#fixed = fixed.map(hashKey);
    this.reload();
  }

  dispose(): void {
    clearInterval(this.#timer);
  }

  get stale(): boolean {
    return this.#stale();
  }

  /** Number of valid keys of the store. */
  get stored(): number {
    return new Set([...this.#held.values()].map(({ principal }) => principal).filter((each) => !each.operator)).size;
  }

  /** Number of valid keys, with the fixed keys. */
  get size(): number {
    return this.#held.size;
  }

  find(hash: string): Principal | undefined {
    const held = this.#held.get(hash);
    if (held === undefined || this.#expired.has(hash)) return undefined;
    if (held.until === Number.POSITIVE_INFINITY || held.until > Date.now()) return held.principal;
    this.#expired.add(hash);
    return undefined;
  }

  /** Checks every second whether another process has changed the store, until `dispose`. */
  follow(failed: (thrown: unknown) => void): void {
    const look = () => {
      try {
        this.#dropExpired();
        this.#look();
      } catch (thrown) {
        failed(thrown);
      }
    };
    look();
    this.#timer = setInterval(look, FOLLOW_MS);
    this.#timer.unref();
  }

  /** Other processes write their ledgers often and change keys rarely. */
  #look(): void {
    const version = this.#store?.version();
    if (this.#store === undefined || version === undefined || version === this.#version) return;
    if (this.#store.changes() !== this.#changes) return this.reload();
    this.#version = version;
    this.#written();
  }

  /** Writes only if there are keys to delete, because a write locks the state. */
  #dropExpired(): void {
    const now = Date.now();
    for (const [hash, { until }] of this.#held) if (until <= now) this.#expired.add(hash);
    const seen = [...this.#expired].filter((hash) => this.#held.has(hash));
    if (this.#store === undefined || (seen.length === 0 && this.#swept)) return;
    this.#store.dropExpired(seen, now);
    this.#swept = true;
    this.reload();
  }

  /** Reads the store again. */
  reload(): void {
    if (this.#store) {
      this.#version = this.#store.version();
      this.#changes = this.#store.changes();
    }
    this.replace(this.#store?.list() ?? []);
  }

  /** Replaces the stored keys. */
  replace(keys: readonly StoredGatewayKey[]): void {
    const held = new Map<string, Held>();
    for (const key of keys) {
      const { name, organization, user, admin } = key;
      const principal = { name, operator: false, ...defined({ organization, user, admin }) };
      for (const { hash, validUntil } of key.hashes) {
        const until = Math.min(validUntil ?? Number.POSITIVE_INFINITY, key.expiresAt ?? Number.POSITIVE_INFINITY);
        held.set(hash, { principal, until });
      }
    }
    const principal = { name: OPERATOR, operator: true };
    for (const hash of this.#fixed) held.set(hash, { principal, until: Number.POSITIVE_INFINITY });
    this.#reloaded(keys);
    this.#held = held;
  }
}
