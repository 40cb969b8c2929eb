export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value as an object, or an empty one. */
export function objectOrEmpty(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** The value as a list, or an empty one. */
export function arrayOrEmpty(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/**
 * Appends to a list. `list.push(...more)` passes each item as an argument, and about 100,000 arguments overflow the
 * stack.
 */
export function append<T>(list: T[], more: readonly T[]): void {
  for (const each of more) list.push(each);
}

/** The value if it is a non-empty string. */
export function nonEmptyString(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The value if it is a finite number. */
export function finiteNumber(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** More tokens than any real request has. Sums of smaller counts remain exact integers. */
const MAX_TOKENS = 1e12;

/** The value if it is a valid token count. Some vendors send negative and broken counts. */
export function tokenCount(value: unknown): number | undefined {
  return Number.isInteger(value) ? readAmount(value) : undefined;
}

/** Like `tokenCount`, but fractions are allowed. */
export function readAmount(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 && value <= MAX_TOKENS ? value : undefined;
}

/** Characters that JSON escapes, and surrogates, which `JSON.stringify` checks one by one. */
const ESCAPED = /[\u0000-\u001f"\\\ud800-\udfff]/;

/** A text as a JSON string. Most pieces of a stream need no escape, and this test is faster than `JSON.stringify`. */
export function quoteJson(text: string): string {
  return ESCAPED.test(text) ? JSON.stringify(text) : `"${text}"`;
}

/**
 * A value as JSON for a request. A text that is cut to a length may contain half of an emoji. Servers that read JSON as
 * UTF-8 refuse the whole request for it ("no low surrogate in string"), and every later request of the conversation.
 */
export function requestJson(value: unknown): string {
  const text = JSON.stringify(value);
  // `JSON.stringify` escapes only unpaired surrogates. After an even number of backslashes, `ud83d` is plain text.
  if (!text.includes('\\ud')) return text;
  return text.replace(/(?<!\\)(\\+)ud[89a-f][0-9a-f]{2}/g, (whole, slashes: string) =>
    slashes.length % 2 === 0 ? whole : `${slashes.slice(1)}\ufffd`,
  );
}

/**
 * The entry of a table for an untrusted name: inherited members such as `constructor` and `__proto__` are not entries.
 */
export function ownEntry<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

/** The object without some members, or the same object if it has none of them. */
export function omit(object: JsonObject, names: readonly string[]): JsonObject {
  const present = names.filter((name) => Object.hasOwn(object, name));
  if (present.length === 0) return object;
  return Object.fromEntries(Object.entries(object).filter(([name]) => !present.includes(name)));
}

/** Parses JSON. Returns `undefined` if the text is not valid JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** `T`, where every member that may be undefined is optional. */
export type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** The object without its undefined members. */
export function defined<T extends Record<string, unknown>>(members: T): Defined<T> {
  const result: Record<string, unknown> = {};
  for (const key in members) if (members[key] !== undefined) result[key] = members[key];
  return result as Defined<T>;
}

/** `base` with `over` merged in: objects member by member, everything else replaced. Neither is changed. */
export function mergeDeep(base: JsonObject, over: JsonObject): Record<string, unknown> {
  const result: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(over)) {
    const present = result[key];
    const merged = isObject(present) && isObject(value) ? mergeDeep(present, value) : value;
    // `__proto__` from a config file must stay an ordinary key.
    Object.defineProperty(result, key, { value: merged, enumerable: true, writable: true, configurable: true });
  }
  return result;
}
