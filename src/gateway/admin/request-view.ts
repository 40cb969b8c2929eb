import { toNano, toUsd } from '../../base/money.ts';
import { priceTerms } from '../../catalog/price.ts';
import type { Prices } from '../../config/settings/configured-model.ts';
import type * as api from '../../protocol/admin-api/schemas.ts';
import type { Usage } from '../../wire/event.ts';
import { readPrices } from '../accounting/price-text.ts';
import { describeEnd, describeRequest } from '../operations/request-description.ts';
import type { UsageRow } from '../state/ledger-columns.ts';

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
