import type { JsonObject } from '../../base/json.ts';
import type { Model } from '../../catalog/model.ts';
import type { Credential } from '../../config/settings/origin.ts';
import { isStaleConnection } from '../../provider/retry.ts';
import { asSvcError, type SvcError } from '../../wire/errors/svc-error.ts';
import type { Usage } from '../../wire/event.ts';
import type { FormatName } from '../../wire/format-name.ts';
import { allows, credentialFor } from '../access/organization.ts';
import { type Metered, meter } from '../accounting/metering.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import { type JsonBody, parseBody, readBody } from '../http/request-body.ts';
import type { RequestContext } from '../http/request-context.ts';
import type { Route } from '../http/router.ts';
import type { RelayedAnswer } from '../relay/relay-request.ts';
import { admit, type Caller, identify, reserveFallback, withinBudget } from './caller.ts';
import { refuseOtherModels } from './model-fields.ts';
import { findModel } from './requested-model.ts';

/** The properties of a model that the pipeline needs, from the registry or from a special list. */
export type ServedModel = Pick<Model, 'ref' | 'provider' | 'key' | 'id' | 'endpoint' | 'cost'> &
  Partial<Pick<Model, 'limit'>>;

/** A model that may answer, with the requested variant. */
export interface Candidate<M extends ServedModel = Model> {
  readonly model: M;
  /** `vendor/model:variant`. */
  readonly variant: string | undefined;
}

/** The part of the pipeline that depends on the route: how the body is read and the answer is written. */
export interface InferenceRoute<M extends ServedModel> {
  /** Path below the base path. */
  readonly path: string;
  /** The format of error bodies that clients of the route expect. */
  readonly format?: FormatName;
  /** Reads the body. @throws SvcError 400, 413, 499, 503. */
  read(context: RequestContext, caller: Caller): Promise<InferenceRequest<M>>;
}

/** A request whose body was read. */
export interface InferenceRequest<M extends ServedModel> {
  /** The requested model. @throws SvcError 400 model_not_found. */
  model(): Candidate<M> | Promise<Candidate<M>>;
  /** Checks the rest of the body, after the check that the caller may use the model. @throws SvcError 400. */
  check?(model: M): void;
  /** Whether the request can be sent again if the upstream had closed the idle connection. */
  readonly repeatable: boolean;
  /** Models to try in order if the requested model fails before its first byte. */
  fallbacks?(caller: Caller, model: M): readonly Candidate<M>[];
  /**
   * Sends the request to the model's upstream and the answer, forwarded or translated, to the client.
   *
   * @returns the answer to account for; undefined if there is nothing to account for.
   * @throws SvcError if it fails before anything was sent to the client.
   */
  send(candidate: Candidate<M>, byok: Credential | undefined): Promise<RelayedAnswer | undefined>;
}

export function inferenceRoute<M extends ServedModel>(deps: GatewayDeps, route: InferenceRoute<M>): Route {
  const { path, format } = route;
  return {
    method: 'POST',
    path,
    ...(format === undefined ? {} : { format }),
    handle: (context) => serveInference(deps, context, route),
  };
}

/**
 * All steps of an inference request in order. The origin was checked before (origin-check.ts). No step before the
 * upstream's answer waits for the disk.
 */
async function serveInference<M extends ServedModel>(
  deps: GatewayDeps,
  context: RequestContext,
  route: InferenceRoute<M>,
): Promise<void> {
  // Key, rates, organization: 401, 429, 403.
  const caller = identify(deps, context);
  // Body: 400, 413.
  const request = await route.read(context, caller);
  // Model: 400.
  const requested = await request.model();
  context.logFields.model = requested.model.ref;
  // Policy of the organization, budgets, rates of the model: 403, 402, 429.
  admit(deps, context, caller, requested.model);
  request.check?.(requested.model);
  // Credential, upstream, relay or translation, accounting; then the same with each fallback.
  const candidates = [requested, ...(request.fallbacks?.(caller, requested.model) ?? [])];
  for (const [index, candidate] of candidates.entries()) {
    const error = await attempt(deps, context, caller, request, candidate);
    if (error === undefined) return;
    const next = candidates[index + 1]?.model;
    if (next === undefined || error.status < 503 || context.response.destroyed) throw error;
    const fields = { id: context.id, model: candidate.model.ref, next: next.ref, error: error.message };
    deps.log.warn(fields, 'fallback');
    reserveFallback(context, caller, next);
  }
}

/** Tries one upstream. Returns its failure if nothing was sent to the client, so that a fallback can be tried. */
async function attempt<M extends ServedModel>(
  deps: GatewayDeps,
  context: RequestContext,
  caller: Caller,
  request: InferenceRequest<M>,
  candidate: Candidate<M>,
): Promise<SvcError | undefined> {
  const { model } = candidate;
  for (let again = request.repeatable; ; again = false) {
    let byok = false;
    context.attempts += 1;
    const sentAt = performance.now();
    try {
      const credential = credentialFor(caller.organization, model, deps.settings());
      byok = credential !== undefined;
      const answer = await request.send(candidate, credential);
      if (answer) account(deps, context, caller, { ...answer, model, byok, sentAt });
      return undefined;
    } catch (thrown) {
      const error = withContextLimit(asSvcError(thrown), model);
      if (again && isStaleConnection(error) && !context.response.destroyed) continue;
      // Errors of an upstream name the provider. Others are refusals of the gateway itself.
      if (error.usage) accountFailed(deps, context, caller, { model, byok, sentAt, usage: error.usage });
      if (error.provider === undefined) context.logFields.errorType = error.errorType;
      else noteFailure(deps, context, model, error, byok);
      return error;
    }
  }
}

/** Accounts for an attempt that failed before anything was sent to the client. The provider reported its usage. */
function accountFailed(
  deps: GatewayDeps,
  context: RequestContext,
  caller: Caller,
  failed: Pick<Metered, 'model' | 'byok' | 'sentAt'> & { readonly usage: Usage },
): void {
  const nothing = { firstByteMs: 0, sent: 0, received: 0, characters: 0, answeredBy: undefined };
  meter(deps, context, caller, { ...nothing, ...failed, outcome: 'failed', estimate: failed.usage });
}

/** Adds the model's context window to an error that does not state it. */
function withContextLimit(error: SvcError, { limit }: ServedModel): SvcError {
  if (error.context === undefined || error.context.limit !== undefined || !limit?.context) return error;
  return error.with({ context: { ...error.context, limit: limit.context } });
}

function account(deps: GatewayDeps, context: RequestContext, caller: Caller, answer: Metered): void {
  if (answer.error) noteFailure(deps, context, answer.model, answer.error, answer.byok);
  if (answer.outcome === 'client-gone') context.logFields.errorType = 'client_disconnect';
  meter(deps, context, caller, answer);
}

/** The configured fallbacks of a model that the caller's policy and budget allow. */
export function configuredFallbacks(
  deps: GatewayDeps,
  context: RequestContext,
  caller: Caller,
  model: ServedModel,
): Candidate[] {
  const refs = deps.settings().gateway.fallback.get(model.ref);
  if (refs === undefined) return [];
  const registry = deps.registry();
  return refs.flatMap((ref) => {
    const found = findModel(registry, ref);
    // Policies name models without variants.
    if (found === undefined || !allows(caller.organization, found.model.ref)) return [];
    return withinBudget(context, caller, found.model) ? found : [];
  });
}

/** Reads a JSON body that names a model only in `model`. @throws SvcError 400, 413, 499, 503. */
export async function readJsonBody(deps: GatewayDeps, context: RequestContext): Promise<JsonBody> {
  const body = parseBody(await readBody(context, deps.settings().gateway.maxBodyBytes));
  refuseOtherModels(body.value);
  context.readLabels(body.value);
  context.size = { bytes: body.bytes.length, output: outputLimit(body.value) };
  return body;
}

/** The maximum of output tokens in the three formats, for all answers (`n`). */
function outputLimit({ max_tokens, max_completion_tokens, max_output_tokens, n }: JsonObject): number | undefined {
  const most = [max_completion_tokens, max_tokens, max_output_tokens].find((each) => typeof each === 'number');
  if (most === undefined) return undefined;
  return Math.max(0, most) * (typeof n === 'number' ? Math.max(1, n) : 1);
}

/** Counts a failure. If only the operator of the gateway can fix it, it is logged as an error. */
function noteFailure(
  deps: GatewayDeps,
  context: RequestContext,
  model: Pick<Model, 'ref' | 'provider'>,
  error: SvcError,
  byok: boolean,
): void {
  context.logFields.errorType = error.errorType;
  if (error.errorType === 'client_disconnect') return;
  deps.metrics.upstreamError(model.provider, error.errorType);
  const { upstreamStatus, code } = error;
  const ours = !byok && (upstreamStatus === 401 || upstreamStatus === 402 || upstreamStatus === 403);
  const fields = { id: context.id, model: model.ref, provider: model.provider, upstreamStatus, code };
  if (ours) {
    const what = upstreamStatus === 402 ? 'is out of funds' : 'is refused';
    deps.log.error({ ...fields, alert: 'provider-account' }, `the gateway’s own account at ${model.provider} ${what}`);
  } else deps.log.warn({ ...fields, error: error.message }, 'the upstream failed');
}
