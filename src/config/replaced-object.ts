import type { Entry, ObjectTree, Place, Tree } from './tree.ts';
import { child, plain } from './tree.ts';

/** An object in which some members are others or left out (`undefined`); all the rest is as it was. */
export function withMembers(tree: ObjectTree, members: ReadonlyMap<string, Tree | undefined>): ObjectTree {
  return new ReplacedObject(tree, members);
}

/** Made when they are asked for: its entries, and its plain value where that of the object below is at hand. */
class ReplacedObject implements ObjectTree {
  readonly type = 'object';
  readonly place: Place;
  readonly #under: ObjectTree;
  readonly #over: ReadonlyMap<string, Tree | undefined>;
  #entries: ReadonlyMap<string, Entry> | undefined;
  #plain: Readonly<Record<string, unknown>> | undefined;

  constructor(under: ObjectTree, over: ReadonlyMap<string, Tree | undefined>) {
    this.place = under.place;
    this.#under = under;
    this.#over = over;
  }

  member(key: string): Tree | undefined {
    return this.#over.has(key) ? this.#over.get(key) : child(this.#under, key);
  }

  get entries(): ReadonlyMap<string, Entry> {
    this.#entries ??= this.#madeEntries();
    return this.#entries;
  }

  get plain(): Readonly<Record<string, unknown>> {
    this.#plain ??= this.#madePlain();
    return this.#plain;
  }

  #madeEntries(): ReadonlyMap<string, Entry> {
    const entries = new Map(this.#under.entries);
    for (const [key, value] of this.#over) {
      const entry = entries.get(key);
      if (entry === undefined) continue;
      if (value === undefined) entries.delete(key);
      else entries.set(key, { key: entry.key, value });
    }
    return entries;
  }

  #madePlain(): Readonly<Record<string, unknown>> {
    const fields: Record<string, unknown> = { ...plain(this.#under) };
    for (const [key, value] of this.#over) {
      if (value === undefined) delete fields[key];
      // A key like any other here; an assignment would change the prototype.
      else if (key === '__proto__') Object.defineProperty(fields, key, { value: plain(value), enumerable: true });
      else fields[key] = plain(value);
    }
    return fields;
  }
}
