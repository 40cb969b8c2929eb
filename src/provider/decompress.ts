import type { Readable, Transform } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';

/** Bytes of a body whose `content-encoding` an upstream sent although nobody asked for it. */
export function decompress(body: Readable, encoding: string): AsyncIterable<Uint8Array> {
  const transform = decoder(encoding.trim().toLowerCase());
  if (transform === undefined) return body;
  body.on('error', (error) => transform.destroy(error));
  // Leaving early destroys the transform; the body's owner destroys the body.
  return body.pipe(transform);
}

function decoder(encoding: string): Transform | undefined {
  // Flushing early lets a frame out as soon as the upstream flushed it.
  if (encoding === 'gzip' || encoding === 'x-gzip') return createGunzip({ flush: constants.Z_SYNC_FLUSH });
  if (encoding === 'deflate') return createInflate({ flush: constants.Z_SYNC_FLUSH });
  if (encoding === 'br') return createBrotliDecompress({ flush: constants.BROTLI_OPERATION_FLUSH });
  return undefined;
}
