import type { SvcError } from '../../wire/errors/svc-error.ts';
import type { ServedModel } from '../dispatch/models.ts';
import type { RelayedAnswer } from '../relay/relay-request.ts';

/** Records requests and their attempts. */
export interface Telemetry {
  /** Begins the record of a request. */
  begin(request: RecordedRequest): RequestRecord;
  /** Sends all records. Resolves also if that fails. */
  close(): Promise<void>;
}

/** The parts of a client's request that are recorded. */
export interface RecordedRequest {
  readonly id: string;
  readonly request: { readonly method?: string | undefined };
  /** Set while the request is handled. */
  readonly logFields: Readonly<Partial<Record<'route' | 'key' | 'organization' | 'model' | 'errorType', string>>>;
  header(name: string): string | undefined;
}

/** The record of one request of a client. */
export interface RequestRecord {
  /** Begins the record of a request to an upstream. */
  attempt(model: ServedModel): AttemptRecord;
  /** @param status of the answer; 499 if the client left. */
  end(status: number): void;
}

/** The record of one request to an upstream. */
export interface AttemptRecord {
  /** Headers that connect the upstream's record with this one; undefined if it is not recorded. */
  readonly headers: Readonly<Record<string, string>> | undefined;
  end(result: AttemptEnd): void;
}

export type AttemptEnd = { readonly answer: RelayedAnswer | undefined } | { readonly error: SvcError };
