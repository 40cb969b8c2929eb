/**
 * Private keys whose start is outside the text, because the text is a part of a file. A key with its start is one of
 * the `BLOCKS` in secret-patterns.ts.
 */

/** Two or more lines of 60 to 76 characters of Base64. They may be quoted strings and end in `\n`. */
const BASE64_LINES =
  /(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{60,77}(?:(?![A-Za-z0-9+/])(?:[^A-Za-z0-9]|\\[nr]){1,80}[A-Za-z0-9+/]{60,77}(?![A-Za-z0-9+/]))+/g;
/** Lines of a key are shorter, with indentation and quotes. The limit keeps the search linear. */
const MAX_LINE_LENGTH = 200;
const KEY_END = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
/** Two words that are not separated by characters of Base64, or brackets and other signs of code. */
const CODE = /[A-Za-z0-9][^A-Za-z0-9+/=]+[A-Za-z0-9]|[(){}[\]:_$&!?]/;

/** Empty lines, and the characters between quoted lines. */
const BETWEEN_LINES = /^[\s'"`+,]*$/;

/** The ranges of text that may be the rest of a private key. */
export function findKeyParts(text: string): [number, number][] {
  const parts: [number, number][] = [];
  for (const { 0: lines, index } of text.matchAll(BASE64_LINES)) {
    if (isBase64(lines)) parts.push([index, index + lines.length]);
  }
  for (const { 0: marker, index } of text.matchAll(KEY_END)) {
    const start = keyStart(text, index);
    if (start < index) parts.push([start, index + marker.length]);
  }
  return parts;
}

/** Base64 has 16 % digits and 41 % letters of each case. Paths and names have few digits or upper-case letters. */
function isBase64(text: string): boolean {
  const count = (pattern: RegExp) => (text.match(pattern) ?? []).length;
  return count(/[0-9]/g) * 25 >= text.length && count(/[A-Z]/g) * 8 >= text.length;
}

/** Start of the lines of Base64 before the end marker of a key; the marker's own start if there are none. */
function keyStart(text: string, marker: number): number {
  let at = lineStart(text, marker);
  if (/[A-Za-z0-9]/.test(text.slice(at, marker))) return marker;
  let start = marker;
  while (at > 0) {
    const above = lineStart(text, at - 1);
    const line = text.slice(above, at - 1).replace(/(?:\\r)?\\?$/, '');
    const isKey = /[A-Za-z0-9]/.test(line) && !CODE.test(line);
    if (!isKey && !BETWEEN_LINES.test(line)) return start;
    if (isKey) start = above;
    at = above;
  }
  return start;
}

/**
 * Start of the line that ends at an offset. Lines end with LF, or with `\n` in a string. A longer line than
 * `MAX_LINE_LENGTH` is not read to its start.
 */
function lineStart(text: string, end: number): number {
  const start = Math.max(0, end - MAX_LINE_LENGTH);
  const near = text.slice(start, end);
  const lineFeed = near.lastIndexOf('\n') + 1;
  const escaped = near.lastIndexOf('\\n');
  return start + (escaped < lineFeed ? lineFeed : escaped + 2);
}
