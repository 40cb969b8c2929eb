import type { SvcError } from '../../wire/errors/svc-error.ts';
import type { Usage } from '../../wire/event.ts';

/** Processes an upstream's answer before it is sent to the client: inspects the bytes or translates their format. */
export interface ResponseTransform {
  readonly usage: Usage | undefined;
  /** Lower bound of the characters of text, reasoning and tool arguments, to estimate usage that is not reported. */
  readonly characters: number;
  /** The model that the answer names. */
  readonly model: string | undefined;
  /** The reason of the answer's end, if the gateway does not know it. */
  readonly unknownReason?: string | undefined;
  /** Takes whole frames of the upstream. Returns the bytes for the client, possibly none. */
  pass(frames: Buffer): Buffer;
  /** The error that the stream began with, if there was no output before it. */
  firstError(): SvcError | undefined;
  /** The error that the upstream sent after the output that `pass` has returned. Nothing follows it. */
  readonly failed?: SvcError | undefined;
  /** The bytes that complete the client's stream after the upstream's end; an error if the answer was cut off. */
  end(): TransformEnd;
  /** The last bytes of a stream that ends with an error. */
  fail(error: SvcError): Buffer;
  /** Takes the body of a whole answer. @throws SvcError if the body is an error or not an answer. */
  whole(body: Buffer): Buffer;
  /**
   * Makes a whole answer of a stream that was not requested. Absent: the answer must not be streamed.
   * @throws SvcError if the stream has an error or is cut off.
   */
  streamAsWhole?(body: Buffer): Buffer;
  /** Writes a whole answer as a stream. @throws SvcError if the body is an error or not an answer. */
  wholeAsStream(body: Buffer): Buffer;
}

export interface TransformEnd {
  readonly bytes: Buffer;
  readonly error?: SvcError;
}
