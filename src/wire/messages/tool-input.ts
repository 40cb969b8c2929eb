import { isObject, ownEntry, parseJson } from '../../base/json.ts';

/*
 * Messages has the input of a tool as JSON values, the other formats have it as text. A JavaScript number holds about 16
 * digits, so a longer number is replaced by its source text, which `JSON.stringify` writes unchanged.
 */

declare global {
  interface JSON {
    /** ECMAScript proposal "JSON.parse source text access". The type library and older editors do not have it. */
    readonly rawJSON?: (source: string) => object;
  }
}

/** The value of a number with fewer characters does not change. */
const LONG = 16;

/** `input` must be an object. Empty text becomes `{}`, and other invalid JSON is wrapped in an object. */
export function toolInput(json: string): Readonly<Record<string, unknown>> {
  if (json.trim() === '') return {};
  const value = parseJson(json);
  if (value === undefined) return { arguments: json };
  restoreNumbers(json, { holder: [value], key: 0, exact: true });
  return isObject(value) ? value : { arguments: value };
}

/**
 * Restores the long numbers in the inputs of `tool_use` blocks, in a request, an answer or an event.
 * @param parsed the value of `json`. It is changed.
 */
export function restoreToolInputs(parsed: unknown, json: string): void {
  if (json.includes('"tool_use"')) restoreNumbers(json, { holder: [parsed], key: 0, exact: false });
}

/** A position in a parsed JSON text. */
interface Position {
  readonly holder: unknown;
  /** In an object, undefined until the name of the next member is read. */
  key: string | number | undefined;
  /** Whether long numbers are restored. */
  readonly exact: boolean;
}

/** Reads a valid JSON text and walks through its value at the same time. Strings are skipped. */
function restoreNumbers(json: string, root: Position): void {
  if (JSON.rawJSON === undefined) return;
  const outer: Position[] = [];
  let position = root;
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === 0x22) {
      const end = findClosingQuote(json, at);
      position.key ??= readName(json.slice(at, end + 1));
      at = end;
    } else if (code === 0x7b || code === 0x5b) {
      outer.push(position);
      position = enter(position, code === 0x5b ? 0 : undefined);
    } else if (code === 0x7d || code === 0x5d) {
      position = outer.pop() ?? root;
    } else if (code === 0x2c) {
      position.key = typeof position.key === 'number' ? position.key + 1 : undefined;
    } else if (position.exact && isDigit(code)) {
      const end = findEndOfNumber(json, at);
      const start = json.charCodeAt(at - 1) === 0x2d ? at - 1 : at;
      if (end - start >= LONG) restoreNumber(position, json.slice(start, end), JSON.rawJSON);
      at = end - 1;
    }
  }
}

/** The first position inside the object or list at a position. */
function enter(position: Position, key: number | undefined): Position {
  const { holder } = position;
  const isInput = position.key === 'input' && isObject(holder) && holder.type === 'tool_use';
  return { holder: readCurrent(position), key, exact: position.exact || isInput };
}

/** Of two members with one name, the parsed value has only the second. */
function readCurrent({ holder, key }: Position): unknown {
  if (Array.isArray(holder)) return holder[Number(key)];
  return isObject(holder) ? ownEntry(holder, String(key)) : undefined;
}

function restoreNumber(position: Position, source: string, rawJSON: (source: string) => object): void {
  const { holder, key } = position;
  const value = readCurrent(position);
  if (typeof value !== 'number' || value !== Number(source) || String(value) === source) return;
  if (typeof holder === 'object' && holder !== null && key !== undefined) Reflect.set(holder, key, rawJSON(source));
}

function readName(quoted: string): string {
  return quoted.includes('\\') ? String(parseJson(quoted)) : quoted.slice(1, -1);
}

function findClosingQuote(json: string, open: number): number {
  let end = json.indexOf('"', open + 1);
  while (end >= 0 && isEscaped(json, end)) end = json.indexOf('"', end + 1);
  return end < 0 ? json.length : end;
}

function isEscaped(json: string, at: number): boolean {
  let start = at;
  while (json.charCodeAt(start - 1) === 0x5c) start -= 1;
  return (at - start) % 2 === 1;
}

function findEndOfNumber(json: string, start: number): number {
  let end = start + 1;
  while (isPartOfNumber(json.charCodeAt(end))) end += 1;
  return end;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/** A digit or one of `.`, `+`, `-`, `e`, `E`. */
function isPartOfNumber(code: number): boolean {
  return isDigit(code) || code === 0x2e || code === 0x2b || code === 0x2d || code === 0x65 || code === 0x45;
}
