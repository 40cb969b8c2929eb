import type { IncomingHttpHeaders } from 'node:http';
import { firstCharacter, isEventStreamType, isStreamText, singleHeader } from '../../provider/answer-start.ts';
import { CredentialFilter } from '../../provider/credential-filter.ts';
import { errorsWithoutCredentials, withoutCredentials } from '../../provider/echoed-credentials.ts';
import type { SvcError } from '../../wire/errors/svc-error.ts';
import { emptyAnswer, excessiveAnswer, notJson, webPage } from '../../wire/errors/upstream-errors.ts';
import { vendorError } from '../../wire/errors/vendor-errors.ts';
import { isTooDeep, MAX_DEPTH } from '../http/json-limits.ts';
import type { RequestContext } from '../http/request-context.ts';
import type { RelayRequest } from './relay-request.ts';

/**
 * Writes the answer to the client: removes echoed credentials, applies the transform and writes head and body. An
 * error before any output is thrown, because the next upstream may still answer.
 */
export class ClientAnswer {
  readonly #context: RequestContext;
  readonly #request: RelayRequest;
  readonly #filter: CredentialFilter;

  constructor(context: RequestContext, request: RelayRequest) {
    this.#context = context;
    this.#request = request;
    this.#filter = new CredentialFilter(request.target.headers);
  }

  /** Writes frames of a stream. Returns false if the client must drain before more is written. @throws SvcError */
  writeFrames(frames: Buffer): boolean {
    const { response } = this.#context;
    const { transform, target } = this.#request;
    refuseDepth(frames, true);
    // Removes possible credentials from errors and certain credentials from everything else.
    const passed = transform.pass(errorsWithoutCredentials(this.#filter.push(frames), target.headers));
    if (!this.#context.answerBegun) {
      // An error before any output can still be sent with its own HTTP status.
      const early = transform.firstError();
      if (early) throw early;
      if (passed.length > 0) this.#begin().writeStreamHead();
    }
    const accepted = passed.length === 0 || response.write(passed);
    if (passed.length > 0) this.#context.touchHeartbeat();
    if (transform.failed) throw transform.failed;
    return accepted;
  }

  /** Ends a stream. Returns the error if the upstream cut it off. @throws SvcError */
  endStream(): SvcError | undefined {
    const { response } = this.#context;
    const { transform, model } = this.#request;
    const { bytes, error } = transform.end();
    if (!this.#context.answerBegun) {
      const early = transform.firstError() ?? error ?? (bytes.length === 0 ? emptyAnswer(model.provider) : undefined);
      if (early) throw early;
      this.#begin().writeStreamHead();
    }
    response.end(bytes);
    return error;
  }

  /** Sends an answer that the upstream did not stream. @throws SvcError */
  sendWhole(status: number, headers: IncomingHttpHeaders, received: Buffer): void {
    const { target, transform, stream, anyBody } = this.#request;
    const contentType = singleHeader(headers['content-type']) ?? '';
    const body = errorsWithoutCredentials(this.#filter.whole(received), target.headers);
    if (status < 200 || status >= 300) throw this.#upstreamError(status, headers, body);
    const isStream = anyBody === true ? isEventStreamType(contentType) : isStreamText(body);
    refuseDepth(body, isStream);
    if (!stream && isStream && transform.streamAsWhole !== undefined) {
      const folded = transform.streamAsWhole(body);
      this.#begin().sendBytes(200, folded, { 'content-type': 'application/json' });
      return;
    }
    if (anyBody !== true) {
      const start = firstCharacter(body);
      if (start === '<') throw webPage(contentType);
      if (start !== '{') throw notJson(contentType, body.toString('utf8', 0, 100));
    }
    if (stream) {
      const passed = transform.wholeAsStream(body);
      this.#begin().writeStreamHead().end(passed);
      return;
    }
    const declared = anyBody === true ? withoutCredentials(contentType, target.headers) : '';
    const type = declared === '' ? 'application/json' : declared;
    const whole = transform.whole(body);
    this.#begin().sendBytes(200, whole, { 'content-type': type });
  }

  /** From here on this upstream answers, and no other. */
  #begin(): RequestContext {
    this.#request.attempt?.race?.claim();
    this.#request.attempt?.begun?.();
    return this.#context;
  }

  #upstreamError(status: number, headers: IncomingHttpHeaders, body: Buffer): SvcError {
    const { target, model, byok } = this.#request;
    const header = (name: string) => singleHeader(headers[name]);
    const bodyText = withoutCredentials(body.toString('utf8'), target.headers);
    return vendorError({ provider: model.provider, status, header, bodyText, byok });
  }

  /** Ends an answer that has begun with an error in the client's format. */
  endWithError(error: SvcError): void {
    const { response } = this.#context;
    try {
      response.end(this.#request.transform.fail(error));
    } catch {
      // If the transform can't write the error in the client's format, the connection is closed.
      response.destroy();
    }
  }
}

/** @throws SvcError for JSON that can't be written again, here or at the client: writing it is recursive. */
function refuseDepth(bytes: Buffer, stream: boolean): void {
  if (isTooDeep(bytes, stream)) throw excessiveAnswer(`more than ${MAX_DEPTH} levels`);
}
