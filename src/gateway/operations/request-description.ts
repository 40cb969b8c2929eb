import { toUsd } from '../../base/money.ts';
import type { Request } from '../../protocol/admin-api/shared-schemas.ts';
import type { Usage } from '../../wire/event.ts';
import type { EndedRequest } from '../accounting/request-history.ts';
import type { UsageRow } from '../state/ledger-columns.ts';

/** A request as the admin API shows it. */
export function describeRequest({ row, attempts }: EndedRequest): Request {
  return {
    id: row.requestId,
    at: new Date(row.at).toISOString(),
    key: row.key,
    organization: row.organization || null,
    user: row.user || null,
    endpoint: row.endpoint,
    model: row.model || null,
    provider: row.provider || null,
    attempts,
    ...describeEnd(row),
    duration_ms: Math.round(row.durationMs),
  };
}

/** How a request or an attempt ended, with its usage and cost. */
export function describeEnd(row: UsageRow) {
  return {
    outcome: row.outcome,
    status: row.status ?? null,
    error_type: row.errorType ?? null,
    tokens: describeTokens(row.usage),
    cost: row.cost === undefined ? null : toUsd(row.cost),
    byok: row.byok,
    estimated: row.estimated,
    estimate_reason: row.estimateReason ?? null,
    served: [...(row.usage?.served ?? [])],
    first_byte_ms: row.firstByteMs > 0 ? Math.round(row.firstByteMs) : null,
  };
}

function describeTokens(usage: Usage | undefined): Request['tokens'] {
  return {
    input: usage?.input ?? null,
    output: usage?.output ?? null,
    cache_read: usage?.cacheRead ?? null,
    cache_write: usage?.cacheWrite ?? null,
    cache_write_1h: usage?.cacheWrite1h ?? null,
    reasoning: usage?.reasoning ?? null,
  };
}
