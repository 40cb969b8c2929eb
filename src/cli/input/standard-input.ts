import type { Io } from '../io.ts';

/** In bytes; more than any model accepts. */
const MAX_BYTES = 16 * 1024 * 1024;

/** Whether the input is a terminal, not a file or another program. */
export function isTyped(input: Io['input']): boolean {
  return 'isTTY' in input && input.isTTY === true;
}

/** Reads all piped input as UTF-8. @throws Error if it is too large, or the signal's reason if the signal fires. */
export async function readPiped({ input, signal }: Pick<Io, 'input' | 'signal'>): Promise<string> {
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
  return Buffer.concat(chunks).toString('utf8');
}
