import type { SvcError } from '../../wire/errors/svc-error.ts';
import type { Caller } from '../dispatch/caller.ts';
import type { RequestContext } from '../http/request-context.ts';
import type { UsageRow } from '../state/ledger-columns.ts';
import type { Accounting, Metered } from './metering.ts';

/** Writes an attempt that failed and cost nothing to the ledger. */
export function recordFailedAttempt(
  deps: Pick<Accounting, 'ledger'>,
  context: RequestContext,
  { principal, organization }: Caller,
  failed: Pick<Metered, 'model' | 'byok' | 'attempt' | 'sentAt'> & { readonly error: SvcError },
): void {
  const { model, byok, attempt, sentAt, error } = failed;
  deps.ledger.recordFree({
    ...commonFields(deps, context, principal.name, error),
    attempt,
    key: principal.name,
    organization: organization?.id ?? '',
    model: model.ref,
    provider: model.provider,
    byok,
    outcome: 'failed',
    counted: false,
    status: error.upstreamStatus,
    waitMs: sentAt - context.startedAt,
  });
}

/** Writes the end of a request that got an error instead of an answer. */
export function recordUnanswered(
  deps: Pick<Accounting, 'ledger' | 'live'>,
  context: RequestContext,
  error: SvcError,
): void {
  const { key = '', organization = '', model = '' } = context.logFields;
  const failed = context.attempts > 0 && error.provider !== undefined;
  const outcome = error.errorType === 'client_disconnect' ? 'client-gone' : failed ? 'failed' : 'refused';
  const row: UsageRow = {
    ...commonFields(deps, context, key, error),
    attempt: 0,
    key,
    organization,
    model,
    provider: error.provider ?? '',
    byok: false,
    outcome,
    counted: true,
    status: error.status,
    waitMs: 0,
  };
  deps.ledger.recordFree(row);
  deps.live.ended({ row, attempts: context.attempts });
}

/** No tokens, no cost. */
function commonFields(deps: Pick<Accounting, 'ledger'>, context: RequestContext, key: string, error: SvcError) {
  const { labels } = context;
  return {
    at: Date.now(),
    requestId: context.id,
    user: deps.ledger.users.of(key, context.keyUser, labels.user),
    tags: labels.tags,
    endpoint: context.logFields.route ?? '',
    errorType: error.errorType,
    usage: undefined,
    cost: undefined,
    estimated: false,
    firstByteMs: 0,
    durationMs: performance.now() - context.startedAt,
  } satisfies Partial<UsageRow>;
}
