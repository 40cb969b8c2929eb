import { ACCOUNT_PROBLEMS, type SvcError } from '../../wire/errors/svc-error.ts';
import type { Log } from '../accounting/log.ts';

/** The result of an attempt: an answer, a failure of the upstream, or neither (the client left, the gateway refused). */
export type AttemptResult =
  | { readonly firstByteMs: number }
  | { readonly error: SvcError; readonly byok: boolean }
  | undefined;

/** The health of a member as operators see it. */
export interface MemberReport {
  readonly member: string;
  /** Requests that are being answered. */
  readonly inFlight: number;
  /** Milliseconds until the member is tried again; 0: it is available. */
  readonly coolingMs: number;
  /** The failure that caused the cool-down. */
  readonly cause?: string | undefined;
  /** When it was, in Unix milliseconds. */
  readonly failedAt?: number | undefined;
  /** Typical time to the first byte, in milliseconds; undefined before the first answer. */
  readonly firstByteMs?: number | undefined;
}

/** An attempt at a member. */
export interface MemberAttempt {
  /** To be called when the member's output begins: a member that recovers gets requests again at once. */
  begun(): void;
  /** Must be called once at its end. */
  end(result: AttemptResult): void;
}

interface State {
  inFlight: number;
  /** Failures since the last answer. */
  failures: number;
  /** End of the cool-down by the clock; 0: there is none. */
  until: number;
  cause: string | undefined;
  failedAt: number | undefined;
  /** The cool-down is because of the account. */
  account: boolean;
  /** After the cool-down, one request tries whether the member answers again. */
  probing: boolean;
  firstByteMs: number | undefined;
  measuredAt: number;
}

interface CoolDown {
  /** Of the first failure; doubles with each further one. */
  readonly firstMs: number;
  readonly maxMs: number;
}

/** The provider refuses the gateway's account, or a quota of the account for a long time is used up. */
const ACCOUNT: CoolDown = { firstMs: 60_000, maxMs: 600_000 };
const RATE: CoolDown = { firstMs: 5_000, maxMs: 60_000 };
const TIMEOUT: CoolDown = { firstMs: 10_000, maxMs: 120_000 };
const FAILURE: CoolDown = { firstMs: 1_000, maxMs: 60_000 };
/** Longest `Retry-After` of a rate limit that is believed, so that a wrong one does not remove a member for a day. */
const MAX_RETRY_AFTER_MS = 600_000;
/** The share of a new measurement in the typical time to the first byte. */
const NEW_SHARE = 0.3;
/** Time after which an old measurement counts half, so that a member that was slow is tried again. */
const FORGET_MS = 15_000;

/** Which members of pools answer, and how fast. In memory: each process finds out by itself; operators see all workers together. */
export class MemberHealth {
  readonly #states = new Map<string, State>();
  readonly #log: Log;
  readonly #now: () => number;

  constructor(log: Log, now: () => number = () => performance.now()) {
    this.#log = log;
    this.#now = now;
  }

  /** Whether a member may get a request. After a cool-down, only one request at a time until it answers. */
  isAvailable(member: string): boolean {
    const state = this.#states.get(member);
    if (state === undefined || state.until === 0) return true;
    return !state.probing && this.#now() >= state.until;
  }

  /** Milliseconds until the end of the cool-down. */
  coolingMs(member: string): number {
    const until = this.#states.get(member)?.until ?? 0;
    return until === 0 ? 0 : Math.max(0, until - this.#now());
  }

  inFlight(member: string): number {
    return this.#states.get(member)?.inFlight ?? 0;
  }

  /** Typical milliseconds to the first byte; 0 if it is not known (any more). */
  firstByteMs(member: string): number {
    const state = this.#states.get(member);
    if (state?.firstByteMs === undefined) return 0;
    return state.firstByteMs * 2 ** (-(this.#now() - state.measuredAt) / FORGET_MS);
  }

  /** Counts an attempt at a member of a pool. */
  begin(member: string): MemberAttempt {
    const state = this.#state(member);
    let probe = state.until !== 0 && !state.probing && this.#now() >= state.until;
    if (probe) state.probing = true;
    state.inFlight += 1;
    const endProbe = () => {
      if (probe) state.probing = false;
      probe = false;
    };
    return {
      begun: () => {
        if (!probe) return;
        endProbe();
        this.#answered(member, state, 0);
      },
      end: (result) => {
        state.inFlight -= 1;
        endProbe();
        if (result === undefined) return;
        if ('error' in result) this.#failed(member, state, result.error, result.byok);
        else this.#answered(member, state, result.firstByteMs);
      },
    };
  }

  /** Notes the result of an attempt at a model that was named itself. Only a used-up account causes a pause. */
  noteAccount(model: string, result: AttemptResult): void {
    if (result === undefined) return;
    const state = this.#states.get(model);
    if ('error' in result) {
      const { error, byok } = result;
      if (!byok && coolDownKind(error) === ACCOUNT) this.#failed(model, state ?? this.#state(model), error, byok);
    } else if (state?.account === true) this.#answered(model, state, 0);
  }

  /** Whether a model is left alone because its account is used up or refused. */
  isUsedUp(model: string): boolean {
    return this.#states.get(model)?.account === true && this.coolingMs(model) > 0;
  }

  report(): MemberReport[] {
    return [...this.#states].map(([member, { inFlight, cause, failedAt, firstByteMs }]) => {
      const coolingMs = this.coolingMs(member);
      return { member, inFlight, coolingMs, ...(coolingMs > 0 ? { cause, failedAt } : {}), firstByteMs };
    });
  }

  #state(member: string): State {
    const found = this.#states.get(member);
    if (found) return found;
    const state: State = {
      inFlight: 0,
      failures: 0,
      until: 0,
      cause: undefined,
      failedAt: undefined,
      account: false,
      probing: false,
      firstByteMs: undefined,
      measuredAt: 0,
    };
    this.#states.set(member, state);
    return state;
  }

  #answered(member: string, state: State, firstByteMs: number): void {
    if (state.until !== 0) this.#log.info({ member }, 'the member of a pool answers again');
    state.failures = 0;
    state.until = 0;
    state.account = false;
    if (firstByteMs <= 0) return;
    const known = state.firstByteMs ?? firstByteMs;
    state.firstByteMs = known + (firstByteMs - known) * NEW_SHARE;
    state.measuredAt = this.#now();
  }

  #failed(member: string, state: State, error: SvcError, byok: boolean): void {
    const wait = byok && isAccountProblem(error) ? undefined : coolDown(error, state.failures);
    // The client's request is the reason. The upstream works.
    if (wait === undefined) return this.#answered(member, state, 0);
    state.failures += 1;
    // Requests that were sent before the first failure must not shorten the cool-down that it caused.
    state.until = Math.max(state.until, this.#now() + wait);
    state.cause = error.errorType;
    state.account = coolDownKind(error) === ACCOUNT;
    state.failedAt = Date.now();
    const fields = { member, error: error.errorType, upstreamStatus: error.upstreamStatus, byok };
    this.#log.warn({ ...fields, ms: Math.round(wait) }, 'the member of a pool gets no requests for a while');
  }
}

/**
 * Whether another model may answer a request that failed with this error: the request itself is not the reason.
 *
 * @param byok the organization's own credential was used. If that is refused, the organization must hear of it, and not
 * get answers that the gateway pays for.
 */
export function mayTryAnother(error: SvcError, byok: boolean): boolean {
  if (byok && isAccountProblem(error)) return false;
  // A provider that does not have the model answers 404, but so does one that does not find a part of the request.
  return error.status >= 503 || error.upstreamStatus === 404 || coolDown(error, 0) !== undefined;
}

function isAccountProblem({ errorType }: SvcError): boolean {
  return ACCOUNT_PROBLEMS.some((problem) => problem === errorType);
}

/** Milliseconds without requests after a failure; undefined if the failure is not the upstream's. */
function coolDown(error: SvcError, failures: number): number | undefined {
  const kind = coolDownKind(error);
  if (kind === undefined) return undefined;
  const wait = Math.min(kind.firstMs * 2 ** Math.min(failures, 20), kind.maxMs);
  if (error.retryAfterMs === undefined) return wait;
  // Google names seconds although its quota of a day is used up.
  if (kind === ACCOUNT) return Math.max(error.retryAfterMs, wait);
  return Math.min(Math.max(error.retryAfterMs, 1_000), MAX_RETRY_AFTER_MS);
}

function coolDownKind({ errorType, hiddenProblem, provider, status, quotaUsedUp }: SvcError): CoolDown | undefined {
  if (provider === undefined) return undefined;
  if (quotaUsedUp) return ACCOUNT;
  switch (hiddenProblem ?? errorType) {
    case 'client_disconnect':
      return undefined;
    case 'insufficient_credits':
    case 'authentication_required':
      return ACCOUNT;
    // OpenRouter also answers 403 to a prompt that its moderation refuses.
    case 'model_not_allowed':
    case 'rate_limit_exceeded':
      return RATE;
    case 'upstream_timeout':
      return TIMEOUT;
    default:
      return status >= 500 ? FAILURE : undefined;
  }
}
