import { isUtf8 } from 'node:buffer';

/**
 * Text of a file that is not UTF-8 as a whole, from which the same bytes can be made again. In a line that is not UTF-8,
 * each byte above 127 is the lone surrogate U+DC00 + byte, as in Python's `surrogateescape` (PEP 383).
 */
const KEPT = /[\uDC80-\uDCFF]/;
const ALL_KEPT = /[\uDC80-\uDCFF]/g;

export function decodeKeepingBytes(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const lines: string[] = [];
  for (let start = 0; start < buffer.length; ) {
    const end = buffer.indexOf(10, start) + 1 || buffer.length;
    const line = buffer.subarray(start, end);
    lines.push(isUtf8(line) ? line.toString('utf8') : keepBytes(line));
    start = end;
  }
  return lines.join('');
}

export function encodeKeptBytes(text: string): Uint8Array {
  const lines = text.split(/(?<=\n)/);
  return Buffer.concat(lines.map((line) => (hasKeptBytes(line) ? encodeLine(line) : Buffer.from(line))));
}

/** The text as an editor shows it: U+FFFD for each byte that is not UTF-8. */
export function showKeptBytes(text: string): string {
  return text
    .split(/(?<=\n)/)
    .map((line) => (hasKeptBytes(line) ? line.replace(ALL_KEPT, '\uFFFD') : line))
    .join('');
}

/**
 * The 1-based number of the first line with kept bytes that a change touches. A part of a character in another encoding
 * can look like an ASCII character, so such a line stays as it is.
 */
export function touchedKeptLine(before: string, after: string): number | undefined {
  const kept = keptLines(after);
  return keptLines(before).find(({ text }, index) => kept[index]?.text !== text)?.number;
}

/** Lines of the text with bytes that are not UTF-8. */
export function keptLines(text: string): readonly { readonly number: number; readonly text: string }[] {
  return text.split('\n').flatMap((line, index) => (hasKeptBytes(line) ? [{ number: index + 1, text: line }] : []));
}

/** The second half of a surrogate pair is no kept byte. */
function hasKeptBytes(line: string): boolean {
  return KEPT.test(line) && !line.isWellFormed();
}

function keepBytes(line: Buffer): string {
  return line.toString('latin1').replace(/[\x80-\xFF]/g, (byte) => String.fromCharCode(0xdc00 + byte.charCodeAt(0)));
}

function encodeLine(line: string): Buffer {
  return Buffer.from(
    line.replace(ALL_KEPT, (kept) => String.fromCharCode(kept.charCodeAt(0) - 0xdc00)),
    'latin1',
  );
}
