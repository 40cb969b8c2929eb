import type { Io } from '../io.ts';

/** Characters: more than any model takes. */
const MOST = 16 * 1024 * 1024;

/** Whether a person types it, rather than a file or another program. */
export function isTyped(input: Io['input']): boolean {
  return 'isTTY' in input && input.isTTY === true;
}

/** All of what is piped in, as UTF-8. @throws Error when it is too much; what the signal throws when it fires. */
export async function readPiped({ input, signal }: Pick<Io, 'input' | 'signal'>): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  const stop = () => 'destroy' in input && typeof input.destroy === 'function' && input.destroy();
  signal.addEventListener('abort', stop, { once: true });
  try {
    for await (const chunk of input) {
      const bytes = Buffer.from(chunk);
      size += bytes.length;
      if (size > MOST) throw new Error('What is piped in is larger than 16 MB.');
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
