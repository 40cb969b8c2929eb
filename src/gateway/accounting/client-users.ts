/** Users that clients of one key may name; further ones count as the key. */
const MAX_USERS = 1_000;

/** Bounds the users that clients invent, because sums by user are kept for long. In memory: for the life of a process. */
export class ClientUsers {
  readonly #named = new Map<string, Set<string>>();

  /** The user of a row: that of the key, else the one that the client names, else none. */
  of(key: string, keyUser: string | undefined, named: string | undefined): string {
    if (keyUser !== undefined || named === undefined) return keyUser ?? '';
    const known = this.#named.get(key) ?? new Set();
    this.#named.set(key, known);
    if (!known.has(named) && known.size >= MAX_USERS) return key;
    known.add(named);
    return named;
  }
}
