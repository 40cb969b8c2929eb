import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { GatewayError } from '../wire/errors.ts';
import type { Usage } from '../wire/event.ts';
import type { AnswerTap } from './answer-tap.ts';

/** One upstream request and what its answer goes through. */
export interface RelayRequest {
  readonly dispatcher: Dispatcher;
  readonly origin: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | Readable;
  readonly tap: AnswerTap;
  readonly provider: string;
  /** The client asked for a stream. */
  readonly stream: boolean;
  /** The answer may be something else than JSON (a transcript as text). */
  readonly anyBody?: boolean;
  /** The credential is the caller's own (spec 5.5). */
  readonly byok: boolean;
  /** Milliseconds until the first byte of the body; false: no limit. */
  readonly timeout: number | false;
  /** Milliseconds between pieces of a stream. */
  readonly chunkTimeout?: number | undefined;
}

export interface RelayOutcome {
  readonly usage: Usage | undefined;
  /** How it ended after the head was sent. */
  readonly ended: 'complete' | 'client-gone' | 'failed';
  readonly error?: GatewayError;
  /** Milliseconds from the request to the first byte of its body. */
  readonly firstByteMs: number;
  /** Bytes of the answer, as the upstream wrote them. */
  readonly received: number;
  /** Of the answer's text, reasoning and tool arguments, at least, where the usage is not known for sure. */
  readonly characters: number;
  /** The model that the answer names. */
  readonly model: string | undefined;
}
