import type { Readable } from 'node:stream';
import type { Model } from '../../catalog/model.ts';
import type { UpstreamTarget } from '../../provider/upstream-target.ts';
import type { SvcError } from '../../wire/errors/svc-error.ts';
import type { Usage } from '../../wire/event.ts';
import type { ResponseTransform } from './response-transform.ts';

/** One upstream request and what its answer goes through. */
export interface RelayRequest {
  readonly target: Omit<UpstreamTarget, 'url'>;
  /** Its provider is named in errors, its endpoint has the time limits. */
  readonly model: Pick<Model, 'provider' | 'endpoint'>;
  readonly body: Buffer | Readable;
  readonly transform: ResponseTransform;
  /** The credential is the caller's own (spec 5.5). */
  readonly byok: boolean;
  /** The client asked for a stream. */
  readonly stream: boolean;
  /** The answer may be something else than JSON (a transcript as text). */
  readonly anyBody?: boolean;
}

/** What is known of an answer when it is over. */
export interface RelayedAnswer {
  readonly usage: Usage | undefined;
  /** How it ended after the head was sent. */
  readonly outcome: 'complete' | 'client-gone' | 'failed';
  readonly error?: SvcError | undefined;
  /** Milliseconds from the request to the first byte of its body. */
  readonly firstByteMs: number;
  /** Bytes of the request. */
  readonly sent: number;
  /** Bytes of the answer, as the upstream wrote them. */
  readonly received: number;
  /** Of the answer's text, reasoning and tool arguments, at least, where the usage is not known for sure. */
  readonly characters: number;
  /** The model that the answer names. */
  readonly answeredBy: string | undefined;
  /** Tokens instead of an estimate by bytes and characters, where no usage is reported. */
  readonly estimate?: Usage;
}
