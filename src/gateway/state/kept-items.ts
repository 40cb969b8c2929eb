/** Milliseconds for which an item is kept. */
const KEPT_MS = 60 * 60 * 1000;
/** Maximum characters of the items of one owner, and of all owners. */
const MAX_OF_OWNER = 4 * 1024 * 1024;
const MAX = 32 * 1024 * 1024;

interface KeptItem {
  readonly owner: string;
  readonly id: string;
  /** The item as JSON. */
  readonly json: string;
  readonly until: number;
}

/**
 * The output items of answers that were translated to Responses, in memory. A client that does not set `store: false`
 * refers to them by `item_reference` (the AI SDK does), and the upstream does not know them. The oldest items are
 * removed first.
 */
export class KeptItems {
  readonly #now: () => number;
  /** Items by owner and id. The order of a map is the order of insertion, so the first item is the oldest. */
  readonly #owners = new Map<string, Map<string, KeptItem>>();
  readonly #all = new Set<KeptItem>();
  readonly #lengths = new Map<string, number>();
  #length = 0;

  /** @param now Unix milliseconds. */
  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** Number of items in memory. */
  get size(): number {
    return this.#all.size;
  }

  /** @param owner the key, and the organization that it acts for. */
  keep(owner: string, id: string, json: string): void {
    this.#removeOld();
    const known = this.#owners.get(owner)?.get(id);
    if (known) this.#remove(known);
    if (json.length > MAX_OF_OWNER) return;
    const item: KeptItem = { owner, id, json, until: this.#now() + KEPT_MS };
    const items = this.#owners.get(owner) ?? new Map<string, KeptItem>();
    this.#owners.set(owner, items.set(id, item));
    this.#all.add(item);
    this.#count(owner, json.length);
    for (const oldest of items.values()) {
      if (this.#lengthOf(owner) <= MAX_OF_OWNER) break;
      this.#remove(oldest);
    }
    for (const oldest of this.#all) {
      if (this.#length <= MAX) break;
      this.#remove(oldest);
    }
  }

  /** The JSON of an item. */
  find(owner: string, id: string): string | undefined {
    this.#removeOld();
    return this.#owners.get(owner)?.get(id)?.json;
  }

  #removeOld(): void {
    const now = this.#now();
    for (const item of this.#all) {
      if (item.until > now) return;
      this.#remove(item);
    }
  }

  #remove(item: KeptItem): void {
    const { owner, id, json } = item;
    if (!this.#all.delete(item)) return;
    const items = this.#owners.get(owner);
    items?.delete(id);
    if (items?.size === 0) this.#owners.delete(owner);
    this.#count(owner, -json.length);
  }

  #lengthOf(owner: string): number {
    return this.#lengths.get(owner) ?? 0;
  }

  #count(owner: string, length: number): void {
    this.#length += length;
    const total = this.#lengthOf(owner) + length;
    if (total === 0) this.#lengths.delete(owner);
    else this.#lengths.set(owner, total);
  }
}
