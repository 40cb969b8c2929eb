import type { Readable } from 'node:stream';
import type { Model } from '../../catalog/model.ts';
import type { UpstreamTarget } from '../../provider/upstream-target.ts';
import type { SvcError } from '../../wire/errors/svc-error.ts';
import type { Usage } from '../../wire/event.ts';
import type { Format } from '../../wire/format.ts';
import type { Entrant } from '../pools/hedge.ts';
import type { ResponseTransform } from './response-transform.ts';

/** The additions of an attempt to a request to an upstream. */
export interface AttemptOptions {
  /** The same request is sent to another upstream too. */
  readonly race?: Entrant | undefined;
  /** Called before the first byte of the answer is sent to the client. */
  readonly begun?: (() => void) | undefined;
  /** Headers for the upstream, in addition to those of the target. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** One upstream request and the transform of its answer. */
export interface RelayRequest {
  readonly target: Omit<UpstreamTarget, 'url'>;
  /** The provider is named in errors. The endpoint has the time limits. */
  readonly model: Pick<Model, 'provider' | 'endpoint'>;
  readonly body: Buffer | Readable;
  readonly transform: ResponseTransform;
  /** The credential is the caller's own (spec 5.5). */
  readonly byok: boolean;
  /** The client requested a stream. */
  readonly stream: boolean;
  readonly attempt?: AttemptOptions;
  /** The answer may be other than JSON (a transcript as text). */
  readonly anyBody?: boolean;
  /** The framing of a streamed answer. Absent: server-sent events. */
  readonly framing?: Format['framing'];
}

/** The result of a relayed answer, for accounting. */
export interface RelayedAnswer {
  readonly usage: Usage | undefined;
  /** How the answer ended after its head was sent. */
  readonly outcome: 'complete' | 'client-gone' | 'failed';
  readonly error?: SvcError | undefined;
  /** Milliseconds from the request to the first byte of the answer's body. */
  readonly firstByteMs: number;
  /** Bytes of the request. */
  readonly sent: number;
  /** Bytes of the answer as the upstream sent them. */
  readonly received: number;
  /** Lower bound of the characters of text, reasoning and tool arguments, for answers without complete usage. */
  readonly characters: number;
  /** The model that the answer names. */
  readonly answeredBy: string | undefined;
  /** The reason of the answer's end, if the gateway does not know it. */
  readonly unknownReason?: string | undefined;
  /** Estimated usage if none is reported. Replaces the estimate by bytes and characters. */
  readonly estimate?: Usage;
}
