/** Members of all objects. 200,000 members with different names take the parser about as long as 24 MB of text. */
const MAX_MEMBERS = 200_000;
/** Objects, lists and list items. */
const MAX_VALUES = 1_000_000;
/** `JSON.stringify` is recursive, so deep nesting overflows the stack. */
export const MAX_DEPTH = 500;
/** A shorter text can't exceed any of the limits. */
const HARMLESS_LENGTH = 4 * MAX_DEPTH;

/**
 * Describes the limit that a JSON text exceeds; undefined if it exceeds none. One pass that skips strings and stops at
 * the limit: 10 MB of member names or brackets would block the parser, and all other requests, for seconds.
 */
export function findExceededLimit(json: string): string | undefined {
  if (json.length < HARMLESS_LENGTH) return undefined;
  let members = 0;
  let values = 0;
  let depth = 0;
  for (let at = 0; at < json.length; at += 1) {
    switch (json.charCodeAt(at)) {
      case 0x22: // "
        at = findStringEnd(json, at) - 1;
        break;
      case 0x3a: // :
        if (++members > MAX_MEMBERS) return `more than ${MAX_MEMBERS} members of objects`;
        break;
      case 0x2c: // ,
        if (++values > MAX_VALUES) return `more than ${MAX_VALUES} values`;
        break;
      case 0x7b: // {
      case 0x5b: // [
        if (++depth > MAX_DEPTH) return `more than ${MAX_DEPTH} levels`;
        if (++values > MAX_VALUES) return `more than ${MAX_VALUES} values`;
        break;
      case 0x7d: // }
      case 0x5d: // ]
        depth -= 1;
    }
  }
  return undefined;
}

/**
 * Whether JSON in bytes has more levels than allowed. Stricter than a parser: a string ends with its line.
 *
 * @param stream the bytes are whole server-sent events, each with JSON of its own. Only lines of data count.
 */
export function isTooDeep(bytes: Buffer, stream: boolean): boolean {
  if (bytes.length <= MAX_DEPTH) return false;
  let depth = 0;
  let inString = false;
  /** Index of the first byte of the line. */
  let line = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === 0x0a) {
      // A blank line ends the event.
      if (stream && at === line) depth = 0;
      inString = false;
      line = at + 1;
    } else if (stream && at === line && byte !== 0x64 && byte !== 0x0d) {
      const end = bytes.indexOf(0x0a, at);
      if (end < 0) return false;
      at = end - 1;
      line = at;
    } else if (inString) {
      if (byte === 0x5c) at += 1;
      else if (byte === 0x22) inString = false;
    } else if (byte === 0x22) inString = true;
    else if (byte === 0x7b || byte === 0x5b) {
      depth += 1;
      if (depth > MAX_DEPTH) return true;
    } else if (byte === 0x7d || byte === 0x5d) depth -= 1;
  }
  return false;
}

/** Index after the closing quote of the string that opens at `at`. */
export function findStringEnd(json: string, at: number): number {
  let end = json.indexOf('"', at + 1);
  while (end >= 0) {
    let backslashes = 0;
    while (json.charCodeAt(end - 1 - backslashes) === 0x5c) backslashes += 1;
    if (backslashes % 2 === 0) return end + 1;
    end = json.indexOf('"', end + 1);
  }
  return json.length;
}
