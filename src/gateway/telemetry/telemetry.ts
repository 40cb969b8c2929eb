import type { TelemetrySettings } from '../../config/settings/settings.ts';
import type { SvcError } from '../../wire/errors/svc-error.ts';
import type { ServedModel } from '../dispatch/pipeline.ts';
import type { Log } from '../gateway-deps.ts';
import type { RequestContext } from '../http/request-context.ts';
import type { RelayedAnswer } from '../relay/relay-request.ts';

/** Records requests and their attempts. */
export interface Telemetry {
  /** Begins the record of a request. */
  begin(context: RequestContext): RequestRecord;
  /** Sends what is recorded. Resolves also if that fails. */
  close(): Promise<void>;
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

/** Opens what the configuration asks for. The packages are loaded only then. */
export async function openTelemetry(settings: TelemetrySettings | undefined, log: Log): Promise<Telemetry | undefined> {
  if (settings === undefined) return undefined;
  const { OpenTelemetry } = await import('./open-telemetry.ts');
  return new OpenTelemetry(settings, log);
}
