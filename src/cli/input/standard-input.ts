import { isUtf8 } from 'node:buffer';
import type { Io } from '../io.ts';

/** In bytes; more than any model accepts. */
const MAX_BYTES = 16 * 1024 * 1024;

/** Whether the input is a terminal, not a file or another program. */
export function isTyped(input: Io['input']): boolean {
  return 'isTTY' in input && input.isTTY === true;
}

/**
 * Reads all piped input as text: UTF-8, or UTF-16 with a byte order mark, which is not part of the text. Warns about
 * bytes that are not UTF-8.
 *
 * @throws Error if it is too large or no text, or the signal's reason if the signal fires.
 */
export async function readPiped({ input, signal, err }: Pick<Io, 'input' | 'signal' | 'err'>): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  const stop = () => 'destroy' in input && typeof input.destroy === 'function' && input.destroy();
  signal.addEventListener('abort', stop, { once: true });
  try {
    for await (const chunk of input) {
      const bytes = Buffer.from(chunk);
      size += bytes.length;
      if (size > MAX_BYTES) throw new Error('The piped input is larger than 16 MB.');
      chunks.push(bytes);
    }
  } catch (thrown) {
    signal.throwIfAborted();
    throw thrown;
  } finally {
    signal.removeEventListener('abort', stop);
  }
  signal.throwIfAborted();
  const bytes = Buffer.concat(chunks);
  const text = decodeText(bytes);
  if (text.includes('\uFFFD') && !isUtf16(bytes) && !isUtf8(bytes))
    await err('warning: The piped input is not UTF-8. Characters that can’t be read are replaced.\n');
  return text;
}

/** A larger share of unreadable characters is no text. */
const MAX_UNREADABLE = 0.1;

/** @throws Error if the bytes are no text. */
function decodeText(bytes: Buffer): string {
  const label = isUtf16(bytes) ? (bytes[0] === 0xff ? 'utf-16le' : 'utf-16be') : 'utf-8';
  // A byte order mark is dropped.
  const text = new TextDecoder(label).decode(bytes);
  const unreadable = text.match(/[\uFFFD\u0000-\u0006\u000e-\u001a\u001c-\u001f]/g)?.length ?? 0;
  if (text.includes('\0') || unreadable > text.length * MAX_UNREADABLE)
    throw new Error('The piped input is binary, not text. Pipe a text in UTF-8 or UTF-16.');
  return text;
}

function isUtf16(bytes: Buffer): boolean {
  return (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
}
