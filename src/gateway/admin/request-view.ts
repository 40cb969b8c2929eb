import { toNano, toUsd } from '../../base/money.ts';
import { priceTerms } from '../../catalog/price.ts';
import type { Prices } from '../../config/settings/configured-model.ts';
import type { Usage } from '../../wire/event.ts';
import { readPrices } from '../accounting/price-text.ts';
import type { EndedRequest } from '../accounting/request-history.ts';
import type { UsageRow } from '../state/ledger-columns.ts';
import type * as api from './api/schemas.ts';

/** A request as the admin API shows it. */
export function describeRequest({ row, attempts }: EndedRequest): api.Request {
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

/** @param rows all rows of a request, in the order of its attempts. */
export function describeDetail(rows: readonly UsageRow[], last: UsageRow): api.RequestDetail {
  const tries = rows.filter(({ attempt }) => attempt > 0);
  return {
    ...describeRequest({ row: last, attempts: tries.length }),
    tags: { ...last.tags },
    tries: tries.map((row) => ({
      attempt: row.attempt,
      model: row.model,
      provider: row.provider,
      ...describeEnd(row),
      wait_ms: Math.round(row.waitMs),
      end_ms: Math.round(row.durationMs),
    })),
    price: describePrice(last),
  };
}

function describeEnd(row: UsageRow) {
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

function describeTokens(usage: Usage | undefined): api.Request['tokens'] {
  return {
    input: usage?.input ?? null,
    output: usage?.output ?? null,
    cache_read: usage?.cacheRead ?? null,
    cache_write: usage?.cacheWrite ?? null,
    cache_write_1h: usage?.cacheWrite1h ?? null,
    reasoning: usage?.reasoning ?? null,
  };
}

function describePrice({ usage, cost, prices, status }: UsageRow): api.RequestDetail['price'] {
  if (cost === undefined || usage === undefined) return { lines: [], total: null, basis: 'none' };
  const total = toUsd(cost);
  const known = prices === undefined ? undefined : readPrices(prices);
  if (known === undefined) return { lines: [], total, basis: status === undefined ? 'unknown' : 'reported' };
  return { lines: priceLines(known, usage), total, basis: 'prices' };
}

function priceLines(prices: Prices, usage: Usage): api.PriceLine[] {
  return priceTerms(prices, usage).map(({ kind, count, price }) => {
    return { kind, tokens: count, usd_per_million: price, cost: toUsd(toNano((count * price) / 1_000_000)) };
  });
}
