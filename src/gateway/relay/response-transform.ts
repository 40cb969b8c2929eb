import type { SvcError } from '../../wire/errors/svc-error.ts';
import type { Usage } from '../../wire/event.ts';

/** What stands between an upstream's answer and the client: it looks at bytes, or writes them in another format. */
export interface ResponseTransform {
  readonly usage: Usage | undefined;
  /** Of the text, the reasoning and the tool arguments so far, at least: for an estimate where no usage is said. */
  readonly characters: number;
  /** The model that the answer names. */
  readonly model: string | undefined;
  /** Whole frames of the upstream in, bytes for the client out (maybe none yet). */
  pass(frames: Buffer): Buffer;
  /** The failure that the stream began with, while nothing was said. */
  firstError(): SvcError | undefined;
  /** What the client's format still lacks when the upstream's stream is over; an error if it was cut short. */
  end(): TransformEnd;
  /** An error as the last thing of a stream. */
  fail(error: SvcError): Buffer;
  /** A whole answer's body. @throws SvcError when it is an error or none. */
  whole(body: Buffer): Buffer;
  /** A whole answer to a client that asked for a stream. @throws SvcError when it is an error or none. */
  wholeAsStream(body: Buffer): Buffer;
}

export interface TransformEnd {
  readonly bytes: Buffer;
  readonly error?: SvcError;
}
