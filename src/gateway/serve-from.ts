import type { Model } from '../catalog/model.ts';
import type { Credential } from '../config/origin.ts';
import { asGatewayError, type GatewayError } from '../wire/errors.ts';
import type { AnswerTap } from './answer-tap.ts';
import { type Caller, withinBudget } from './caller.ts';
import type { Exchange } from './exchange.ts';
import { meter } from './metering.ts';
import { allows, byokOf } from './organization.ts';
import type { GatewayParts } from './parts.ts';
import { relay } from './relay.ts';
import type { RelayOutcome, RelayRequest } from './relay-request.ts';
import { type AskedModel, findModel } from './requested-model.ts';

/** A request to one upstream. */
export interface Attempt {
  readonly origin: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly tap: AnswerTap;
  /** The client asked for a stream. */
  readonly stream?: boolean;
}

type MakeAttempt = (asked: AskedModel, byok: Credential | undefined) => Attempt;

/**
 * Has the asked model answer, or one that configuration names for when it fails before its first byte.
 * @throws GatewayError of the last one that was tried, while nothing was sent to the client.
 */
export async function serveFrom(
  parts: GatewayParts,
  exchange: Exchange,
  caller: Caller,
  asked: AskedModel,
  make: MakeAttempt,
): Promise<void> {
  const models = [asked, ...fallbacks(parts, caller, asked.model)];
  for (const [index, each] of models.entries()) {
    const error = await attempt(parts, exchange, caller, each, make);
    if (error === undefined) return;
    const { model } = each;
    const next = models[index + 1]?.model;
    if (next === undefined || error.status < 503 || exchange.response.destroyed) throw error;
    parts.log.warn({ id: exchange.id, model: model.ref, next: next.ref, error: error.message }, 'fallback');
  }
}

/** The configured list without what the caller's policy or budget would not allow by itself. */
function fallbacks(parts: GatewayParts, caller: Caller, model: Model): AskedModel[] {
  const refs = parts.settings().gateway.fallback.get(model.ref);
  if (refs === undefined) return [];
  const registry = parts.registry();
  return refs.flatMap((ref) => {
    const found = findModel(registry, ref);
    // Policies name models, whichever variant of one is used.
    if (found === undefined || !allows(caller.organization, found.model.ref)) return [];
    return withinBudget(caller, found.model) ? found : [];
  });
}

/** A failure that the next upstream may make good; anything else is thrown. */
async function attempt(
  parts: GatewayParts,
  exchange: Exchange,
  caller: Caller,
  asked: AskedModel,
  make: MakeAttempt,
): Promise<GatewayError | undefined> {
  const { model } = asked;
  for (let again = true; ; again = false) {
    const byok = byokOf(caller.organization, model, parts.settings());
    try {
      const made = make(asked, byok);
      const outcome = await relay(exchange, relayRequest(parts, model, made, byok !== undefined));
      account(parts, exchange, caller, model, outcome, { byok: byok !== undefined, sent: made.body.length });
      return undefined;
    } catch (thrown) {
      const error = asGatewayError(thrown);
      // A kept connection that the upstream closed meanwhile: the request never reached it.
      if (again && isStaleConnection(error) && !exchange.response.destroyed) continue;
      noteFailure(parts, exchange, model, error, byok !== undefined);
      return error;
    }
  }
}

function relayRequest(
  { dispatcher }: GatewayParts,
  { provider, endpoint }: Model,
  { origin, path, headers, body, tap, stream }: Attempt,
  byok: boolean,
): RelayRequest {
  const { timeout, chunkTimeout } = endpoint;
  return {
    dispatcher,
    origin,
    path,
    headers,
    body,
    tap,
    provider,
    byok,
    stream: stream === true,
    timeout,
    chunkTimeout,
  };
}

function account(
  parts: GatewayParts,
  exchange: Exchange,
  caller: Caller,
  model: Model,
  { error, ended, model: answeredBy, ...answer }: RelayOutcome,
  { byok, sent }: { readonly byok: boolean; readonly sent: number },
): void {
  if (error) noteFailure(parts, exchange, model, error, byok);
  if (ended === 'client-gone') exchange.facts.errorType = 'client_disconnect';
  meter(parts, exchange, caller, { model, byok, outcome: ended, sent, answeredBy, ...answer });
}

const STALE = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);

function isStaleConnection(error: GatewayError): boolean {
  return error.errorType === 'network_error' && error.code !== undefined && STALE.has(error.code);
}

/** Counts a failure; one that only whoever runs the gateway can mend is said loudly. */
export function noteFailure(
  parts: GatewayParts,
  exchange: Exchange,
  model: Pick<Model, 'ref' | 'provider'>,
  error: GatewayError,
  byok: boolean,
): void {
  parts.metrics.upstreamError(model.provider, error.errorType);
  exchange.facts.errorType = error.errorType;
  const { upstreamStatus, code } = error;
  const ours = !byok && (upstreamStatus === 401 || upstreamStatus === 402 || upstreamStatus === 403);
  const fields = { id: exchange.id, model: model.ref, provider: model.provider, upstreamStatus, code };
  if (ours) {
    const what = upstreamStatus === 402 ? 'is out of funds' : 'is refused';
    parts.log.error({ ...fields, alert: 'provider-account' }, `the gateway’s own account at ${model.provider} ${what}`);
  } else parts.log.warn({ ...fields, error: error.message }, 'the upstream failed');
}

/** Runs something that may fail at the upstream, and counts the failure. */
export async function countingFailures<T>(
  parts: GatewayParts,
  exchange: Exchange,
  model: Pick<Model, 'ref' | 'provider'>,
  byok: boolean,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    const error = asGatewayError(thrown);
    noteFailure(parts, exchange, model, error, byok);
    throw error;
  }
}
