import type { Transform } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { defined } from '../../base/json.ts';
import { msg, SvcError } from '../../wire/errors/svc-error.ts';

/**
 * Decodes a `Content-Encoding` that an upstream used although it was not requested. Emits data at each flush of the
 * upstream, so that a frame does not wait for the next one.
 *
 * @throws SvcError upstream_invalid_response for an unknown encoding: its bytes would be parsed as the answer.
 */
export function contentDecoder(encoding: string, provider?: string): Transform {
  switch (encoding.trim().toLowerCase()) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip({ flush: constants.Z_SYNC_FLUSH });
    case 'deflate':
      return createInflate({ flush: constants.Z_SYNC_FLUSH });
    case 'br':
      return createBrotliDecompress({ flush: constants.BROTLI_OPERATION_FLUSH });
  }
  const providerName = provider ?? 'The provider';
  throw new SvcError({
    errorType: 'upstream_invalid_response',
    message: msg('{0} answered in the encoding {1}, which was not requested.', providerName, encoding.slice(0, 40)),
    ...defined({ provider }),
  });
}

/** Whether a `Content-Encoding` changes the bytes. */
export function isEncoded(encoding: string | undefined): encoding is string {
  const name = encoding?.trim().toLowerCase() ?? '';
  return name !== '' && name !== 'identity';
}
