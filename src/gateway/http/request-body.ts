import { isUtf8 } from 'node:buffer';
import { isObject, type JsonObject } from '../../base/json.ts';
import { SvcError } from '../../wire/errors/svc-error.ts';
import { restoreToolInputs } from '../../wire/messages/tool-input.ts';
import { findExceededLimit } from './json-limits.ts';
import type { RequestContext } from './request-context.ts';

const NOT_UTF8 = 'The body is not valid UTF-8.';

function isCompressed(encoding: string | undefined): boolean {
  return encoding !== undefined && encoding !== '' && encoding.toLowerCase() !== 'identity';
}

/**
 * Reads a body of at most `limit` bytes.
 * @throws SvcError 400 for a compressed body; 413; 503 when all requests together hold too much memory; 499 when the
 * client disconnected.
 */
export function readBody({ request, tickBatch, held }: RequestContext, limit: number): Promise<Buffer> {
  const declared = Number(request.headers['content-length'] ?? 0);
  if (declared > limit) return Promise.reject(tooLarge(limit));
  if (isCompressed(request.headers['content-encoding'])) return Promise.reject(compressed());
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const take = (chunk: Buffer) => {
      length += chunk.length;
      try {
        if (length > limit) throw tooLarge(limit);
        held.add(chunk.length);
        chunks.push(chunk);
      } catch (thrown) {
        request.off('data', take).pause();
        chunks.length = 0;
        reject(thrown);
      }
    };
    request.on('data', take);
    const whole = () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, length));
    request.on('end', () => tickBatch.later(whole));
    request.on('error', () => reject(clientGone()));
    request.on('aborted', () => reject(clientGone()));
  });
}

/** A JSON object with its original text. */
export interface JsonBody {
  readonly bytes: Buffer;
  readonly text: string;
  readonly value: JsonObject;
}

/** Parses a JSON object. @throws SvcError 400 with the parser's position or the exceeded limit. */
export function parseBody(body: Buffer): JsonBody {
  // Decoding replaces invalid bytes. The checked body would then differ from the body that the upstream parses.
  if (!isUtf8(body)) throw new SvcError({ errorType: 'invalid_request', message: NOT_UTF8 });
  const text = body.toString('utf8');
  const excess = findExceededLimit(text);
  if (excess !== undefined) {
    throw new SvcError({ errorType: 'invalid_request', message: `The body has ${excess}.` });
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
    restoreToolInputs(value, text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'unreadable';
    throw new SvcError({
      errorType: 'invalid_request',
      message: `The body is not JSON: ${reason.slice(0, 200)}`,
      action: 'Send a JSON object.',
    });
  }
  if (isObject(value)) return { bytes: body, text, value };
  throw new SvcError({ errorType: 'invalid_request', message: 'The body must be a JSON object.' });
}

export function tooLarge(limit: number): SvcError {
  return new SvcError({
    errorType: 'request_too_large',
    message: `The body is larger than ${limit} bytes.`,
    action: 'Send less, or raise gateway.maxBodyBytes.',
  });
}

export function clientGone(): SvcError {
  return new SvcError({ errorType: 'client_disconnect', message: 'The client disconnected.' });
}

function compressed(): SvcError {
  const message = 'The body is compressed. Send it without `Content-Encoding`.';
  return new SvcError({ errorType: 'invalid_request', message });
}

/** An error costs more than the rest of the end of a request, and nobody reads it after the answer was sent. */
const ANSWERED = clientGone();

/** Aborts when the client leaves, also after its answer. */
export function whenLeft({ response }: RequestContext): AbortSignal {
  const left = new AbortController();
  if (response.destroyed) left.abort(clientGone());
  else response.once('close', () => left.abort(response.writableFinished ? ANSWERED : clientGone()));
  return left.signal;
}
