import type { IncomingHttpHeaders } from 'node:http';
import type { Wire } from './answers.ts';

/** A request as it arrived. */
export interface ReceivedRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  /** The body if it is a JSON object. */
  readonly body: Record<string, unknown>;
  readonly wire: Wire;
  readonly scenario: string;
  /** 1-based: how many requests of this scenario have come. */
  readonly occurrence: number;
  /** Resolves when the answer is over or the socket was closed before it: `true` when closed early. */
  readonly closed: Promise<boolean>;
  /** Resolves when the client has read the head of the answer and `bytes` of its body. */
  readonly clientHasRead: (bytes: number) => Promise<void>;
}
