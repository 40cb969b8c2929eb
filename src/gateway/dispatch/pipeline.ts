import { setTimeout as sleep } from 'node:timers/promises';
import type { Dispatcher } from 'undici';
import { defined } from '../../base/json.ts';
import type { Model } from '../../catalog/model.ts';
import type { Credential } from '../../config/settings/origin.ts';
import { isStaleConnection } from '../../provider/retry.ts';
import type { Transport } from '../../provider/transport/transport.ts';
import { asSvcError, type SvcError } from '../../wire/errors/svc-error.ts';
import type { Usage } from '../../wire/event.ts';
import type { FormatName } from '../../wire/format-name.ts';
import { allows, credentialFor, denies, notAllowed, requireAllowed } from '../access/organization.ts';
import { recordFailedAttempt, recordUnanswered } from '../accounting/failures.ts';
import { type Accounting, type Metered, meter } from '../accounting/metering.ts';
import { HEARTBEAT_MS } from '../http/heartbeat.ts';
import { type JsonBody, parseBody, readBody } from '../http/request-body.ts';
import type { RequestContext } from '../http/request-context.ts';
import type { Route } from '../http/router.ts';
import { type Entrant, Race } from '../pools/hedge.ts';
import { type AttemptResult, mayTryAnother } from '../pools/member-health.ts';
import { orderMembers } from '../pools/member-order.ts';
import type { AttemptOptions, RelayedAnswer } from '../relay/relay-request.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { bodyFormat } from './body-format.ts';
import { type Access, admit, type Caller, identify, prepare, reserve, withinBudget } from './caller.ts';
import { findMedia } from './estimate.ts';
import { refuseOtherModels, withoutFallbacks } from './model-fields.ts';
import type { Candidate, Models, ServedModel } from './models.ts';
import { outputLimit } from './output-limit.ts';
import { readPriceDemands } from './price-demands.ts';
import { findModel } from './requested-model.ts';

/** The dependencies of the steps of an inference request. */
export type Inference = Models &
  Access &
  Accounting & {
    readonly transport: Transport;
    /** The connections of `transport`, to forward bytes. */
    readonly dispatcher: Dispatcher;
    /** Absent: nothing is recorded. */
    readonly telemetry?: Telemetry | undefined;
    /** Milliseconds of silence after which a stream gets a heartbeat, default 15 seconds. */
    readonly heartbeatMs?: number | undefined;
  };

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
  /** Whether the client wants a stream. Then it gets heartbeats while it waits. */
  readonly stream?: boolean;
  /** Whether the request can be sent again if the upstream had closed the idle connection. */
  readonly repeatable: boolean;
  /** The beginning of the prompt, which identifies the conversation (prompt-head.ts). */
  promptHead?(): string;
  /** Models to try in order if the requested model fails before its first byte. */
  fallbacks?(ref: string): readonly Candidate<M>[];
  /**
   * Sends the request to the model's upstream and the answer, forwarded or translated, to the client.
   *
   * @returns the answer to account for; undefined if there is nothing to account for.
   * @throws SvcError if it fails before anything was sent to the client.
   */
  send(
    candidate: Candidate<M>,
    byok: Credential | undefined,
    options: AttemptOptions,
  ): Promise<RelayedAnswer | undefined>;
}

export function inferenceRoute<M extends ServedModel>(deps: Inference, route: InferenceRoute<M>): Route {
  const { path, format } = route;
  return {
    method: 'POST',
    path,
    ...defined({ format }),
    handle: async (context) => {
      try {
        await serveInference(deps, context, route);
      } catch (thrown) {
        recordUnanswered(deps, context, asSvcError(thrown));
        throw thrown;
      }
    },
  };
}

/**
 * All steps of an inference request in order. The origin was checked before (origin-check.ts). No step before the
 * upstream's answer waits for the disk.
 */
async function serveInference<M extends ServedModel>(
  deps: Inference,
  context: RequestContext,
  route: InferenceRoute<M>,
): Promise<void> {
  context.record = deps.telemetry?.begin(context);
  // Key, rates, organization: 401, 429, 403.
  const caller = await identify(deps, context);
  // Body: 400, 413.
  const request = await route.read(context, caller);
  // Model: 400.
  const requested = await request.model();
  context.logFields.model = requested.model.ref;
  // Policy of the organization, budgets, rates of the model: 403, 402, 429.
  requireAllowed(caller.organization, requested.model.ref);
  const attempts = { deps, context, caller, request };
  for (const { model } of requested.pool?.members ?? [requested]) await prepare(context, caller, model);
  const candidates = requestedCandidates(attempts, requested);
  await admit(deps, context, caller, candidates[0]?.model ?? requested.model);
  request.check?.(requested.model);
  for (const fallback of request.fallbacks?.(requested.model.ref) ?? []) {
    if (allows(caller.organization, fallback.model.ref)) candidates.push(...usable(attempts, fallback));
  }
  if (request.stream === true) context.startHeartbeat(deps.heartbeatMs ?? HEARTBEAT_MS);
  await tryInOrder(attempts, usedUpLast(attempts, candidates), requested.pool?.settings.hedgeAfter);
}

/** A model whose account is used up is tried after its fallbacks. Members of pools are in order already. */
function usedUpLast<M extends ServedModel>(
  { deps, caller }: Attempts<M>,
  candidates: readonly Candidate<M>[],
): readonly Candidate<M>[] {
  if (candidates.length < 2) return candidates;
  const left = candidates.filter(
    ({ pool, model }) => pool === undefined && deps.pools.health.isUsedUp(healthName(caller, model)),
  );
  return left.length === 0 ? candidates : [...candidates.filter((each) => !left.includes(each)), ...left];
}

/** The members of a pool in order, or the model itself. @throws SvcError 403 if no member of the pool may be used. */
function requestedCandidates<M extends ServedModel>(attempts: Attempts<M>, requested: Candidate<M>): Candidate<M>[] {
  const { organization } = attempts.caller;
  // The check of the budget reports that it is used up.
  if (requested.pool === undefined) return [requested];
  const candidates = usable(attempts, requested);
  if (candidates.length > 0) return candidates;
  for (const { model } of requested.pool.members)
    if (!denies(organization, model.ref)) return [{ ...requested, model }];
  throw notAllowed(organization, requested.model.ref);
}

/** The models behind a name that the caller's policy and budget allow, in the order in which they are tried. */
function usable<M extends ServedModel>(
  { deps, context, caller, request }: Attempts<M>,
  { model, variant, pool }: Candidate<M>,
): Candidate<M>[] {
  if (pool === undefined) return withinBudget(context, caller, model) ? [{ model, variant }] : [];
  const { principal, organization } = caller;
  const ordered = orderMembers({
    pool,
    members: pool.members.filter(
      (member) => !denies(organization, member.model.ref) && withinBudget(context, caller, member.model),
    ),
    health: deps.pools.health,
    name: (member) => healthName(caller, member),
    conversation: pool.settings.affinity ? `${principal.name}\0${request.promptHead?.() ?? ''}` : undefined,
  });
  return ordered.map((member) => ({ model: member, variant, pool }));
}

/** An organization's own account may be refused while the gateway's account works, and the reverse. */
function healthName({ organization }: Caller, { ref, provider }: ServedModel): string {
  return organization?.byok.has(provider) ? `${ref} (${organization.id})` : ref;
}

/** The parts that an attempt needs. */
interface Attempts<M extends ServedModel> {
  readonly deps: Inference;
  readonly context: RequestContext;
  readonly caller: Caller;
  readonly request: InferenceRequest<M>;
}

/** Credential, upstream, relay or translation, accounting; then the same with the next candidate. */
async function tryInOrder<M extends ServedModel>(
  attempts: Attempts<M>,
  candidates: readonly Candidate<M>[],
  hedgeAfter: number | undefined,
): Promise<void> {
  const { deps, context, caller } = attempts;
  const waiting = [...candidates];
  for (let candidate = waiting.shift(); candidate !== undefined; candidate = waiting.shift()) {
    const error =
      hedgeAfter === undefined || waiting.length === 0
        ? await attempt(attempts, candidate, undefined)
        : await hedged(attempts, candidate, waiting, hedgeAfter);
    if (error === undefined) return;
    const next = waiting[0]?.model;
    const byok = caller.organization?.byok.has(candidate.model.provider) === true;
    if (next === undefined || !mayTryAnother(error, byok) || context.response.destroyed) throw error;
    const fields = { id: context.id, model: candidate.model.ref, next: next.ref, error: error.message };
    deps.log.warn(fields, 'fallback');
  }
}

/**
 * Sends the request to a second candidate too if the first one has sent nothing for a time. The one that sends
 * something first answers; the other request is cancelled.
 */
async function hedged<M extends ServedModel>(
  attempts: Attempts<M>,
  first: Candidate<M>,
  waiting: Candidate<M>[],
  afterMs: number,
): Promise<SvcError | undefined> {
  const { deps, context } = attempts;
  const race = new Race();
  const entrant = race.enter();
  const running = attempt(attempts, first, entrant);
  const settled = new AbortController();
  const slow = await Promise.race([
    running.then(() => false),
    sleep(afterMs, true, { signal: settled.signal }).catch(() => false),
  ]);
  settled.abort();
  const second = slow && !race.won && !context.response.destroyed ? waiting.shift() : undefined;
  if (second === undefined) return running;
  deps.log.info({ id: context.id, model: first.model.ref, next: second.model.ref, ms: afterMs }, 'hedged');
  const other = race.enter();
  const [error, otherError] = await Promise.all([running, attempt(attempts, second, other)]);
  return error === undefined || otherError === undefined ? undefined : otherError;
}

const NO_OPTIONS: AttemptOptions = {};

/** Tries one upstream. Returns its failure if nothing was sent to the client, so that a fallback can be tried. */
async function attempt<M extends ServedModel>(
  { deps, context, caller, request }: Attempts<M>,
  candidate: Candidate<M>,
  race: Entrant | undefined,
): Promise<SvcError | undefined> {
  const { model } = candidate;
  if (candidate.pool) context.logFields.member = model.ref;
  const name = healthName(caller, model);
  const member = candidate.pool && deps.pools.health.begin(name);
  const upstream = deps.health.begin(model.ref);
  const ended = (result: AttemptResult) => {
    if (member) member.end(result);
    else deps.pools.health.noteAccount(name, result);
    upstream(result);
  };
  // Attempts that ended without an answer, of which it is not known yet whether the upstream read them.
  const unknown: Failed[] = [];
  for (let again = request.repeatable; ; again = false) {
    let byok = false;
    let giveBack: (() => void) | undefined;
    context.attempts += 1;
    const sent = { model, attempt: context.attempts, sentAt: performance.now() };
    const record = context.record?.attempt(model);
    const options = record || race || member ? { race, headers: record?.headers, begun: member?.begun } : NO_OPTIONS;
    try {
      giveBack = reserve(context, caller, model);
      const credential = credentialFor(caller.organization, model, deps.settings());
      byok = credential !== undefined;
      const answer = await request.send(candidate, credential, options);
      record?.end({ answer });
      ended(attemptResult(answer, byok));
      if (answer) account(deps, context, caller, { ...answer, ...sent, byok });
      return undefined;
    } catch (thrown) {
      const error = withContextLimit(asSvcError(thrown), model);
      record?.end({ error });
      if (race?.lost) {
        ended(undefined);
        return error;
      }
      const cut = isStaleConnection(error) && error.sent;
      if (cut) unknown.push({ ...sent, byok, error });
      const atOnce = performance.now() - sent.sentAt < STALE_MS;
      if (again && atOnce && isStaleConnection(error) && !context.response.destroyed) continue;
      ended({ error, byok });
      // Errors of an upstream name the provider. Others are refusals of the gateway itself.
      if (error.usage) accountFailed(deps, context, caller, { ...sent, byok, error, usage: error.usage });
      // The connection was not stale: the upstream ends it each time, or after a while.
      else if (cut) for (const each of unknown) accountFailed(deps, context, caller, each);
      else if (error.provider !== undefined) recordFailedAttempt(deps, context, caller, { ...sent, byok, error });
      if (error.provider === undefined) context.logFields.errorType = error.errorType;
      else noteFailure(deps, context, model, error);
      return error;
    } finally {
      giveBack?.();
    }
  }
}

/** The outcome of an answer for the upstream's health. A client that left has none. */
function attemptResult(answer: RelayedAnswer | undefined, byok: boolean): AttemptResult {
  if (answer === undefined || answer.outcome === 'client-gone') return undefined;
  return answer.error ? { error: answer.error, byok } : { firstByteMs: answer.firstByteMs };
}

/** Milliseconds after which a connection that ends was not an idle one that the upstream had closed. */
const STALE_MS = 2_000;

type Failed = Pick<Metered, 'model' | 'byok' | 'attempt' | 'sentAt'> & { readonly error: SvcError };

/**
 * Accounts for an attempt that failed before anything was sent to the client: with the usage that the provider reported,
 * or an estimate if it may have read the request.
 */
function accountFailed(
  deps: Accounting,
  context: RequestContext,
  caller: Caller,
  { usage, ...failed }: Failed & { readonly usage?: Usage },
): void {
  const sent = context.size?.bytes ?? 0;
  const nothing = { firstByteMs: 0, sent, received: 0, characters: 0, usage: undefined, answeredBy: undefined };
  const status = failed.error.upstreamStatus;
  meter(deps, context, caller, {
    ...nothing,
    ...failed,
    status,
    superseded: true,
    outcome: 'failed',
    ...(usage === undefined ? {} : { usage, estimate: usage }),
  });
}

/** Adds the model's context window to an error that does not state it. */
function withContextLimit(error: SvcError, { limit }: ServedModel): SvcError {
  if (error.context === undefined || error.context.limit !== undefined || !limit?.context) return error;
  return error.with({ context: { ...error.context, limit: limit.context } });
}

function account(deps: Accounting, context: RequestContext, caller: Caller, answer: Metered): void {
  if (answer.error) noteFailure(deps, context, answer.model, answer.error);
  if (answer.outcome === 'client-gone') context.logFields.errorType = 'client_disconnect';
  const { unknownReason } = answer;
  if (unknownReason !== undefined && deps.health.isNewReason(answer.model.ref, unknownReason)) {
    const fields = { id: context.id, model: answer.model.ref, reason: unknownReason };
    deps.log.warn(fields, 'the provider ended an answer with a reason that is not known');
  }
  meter(deps, context, caller, answer);
}

/** The configured fallbacks of a model. */
export function configuredFallbacks(deps: Models, model: string): Candidate[] {
  const refs = deps.settings().gateway.fallback.get(model);
  return refs?.flatMap((ref) => findModel(deps, ref) ?? []) ?? [];
}

/** Reads a JSON body that names a model only in `model`. @throws SvcError 400, 413, 499, 503. */
export async function readJsonBody(deps: Pick<Models, 'settings'>, context: RequestContext): Promise<JsonBody> {
  const read = parseBody(await readBody(context, deps.settings().gateway.maxBodyBytes));
  const body = context.format === 'messages' ? withoutFallbacks(read) : read;
  if (body !== read) context.warn('Not sent: `fallbacks`, which selects other models than `model`');
  refuseOtherModels(body.value);
  context.readLabels(body.value);
  context.size = {
    bytes: body.bytes.length,
    output: outputLimit(body.value, bodyFormat(context.format, body.value)),
    media: findMedia(body.bytes, body.value),
    demands: readPriceDemands(body.bytes, body.value),
  };
  return body;
}

/** Counts a failure. If only the operator of the gateway can fix it, it is logged as an error. */
function noteFailure(
  deps: Pick<Accounting, 'metrics' | 'log'>,
  context: RequestContext,
  model: Pick<Model, 'ref' | 'provider'>,
  error: SvcError,
): void {
  context.logFields.errorType = error.errorType;
  if (error.errorType === 'client_disconnect') return;
  deps.metrics.upstreamError(model.provider, error.errorType);
  const { upstreamStatus, code, hiddenProblem } = error;
  const fields = { id: context.id, model: model.ref, provider: model.provider, upstreamStatus, code };
  if (hiddenProblem) {
    const what = hiddenProblem === 'insufficient_credits' ? 'is out of funds' : 'is refused';
    deps.log.error({ ...fields, alert: 'provider-account' }, `the gateway’s own account at ${model.provider} ${what}`);
  } else deps.log.warn({ ...fields, error: error.message }, 'the upstream failed');
}
