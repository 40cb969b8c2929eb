import type { UsageRow } from './state-under-test.ts';

let rows = 0;

/** A row of a request of its own that cost half a USD. */
export function ledgerRow(more: Partial<UsageRow> = {}): UsageRow {
  rows += 1;
  return {
    requestId: `r${rows}`,
    attempt: 1,
    at: 1,
    key: 'k',
    organization: '',
    user: '',
    tags: undefined,
    endpoint: '/chat/completions',
    model: 'p/m',
    provider: 'p',
    byok: false,
    outcome: 'complete',
    counted: true,
    usage: { input: 1, output: 1 },
    cost: 500_000_000,
    estimated: false,
    waitMs: 0,
    firstByteMs: 1,
    durationMs: 1,
    ...more,
  };
}

/** Limits with one budget for the life of a key, in nano-USD, or one rate of requests. */
export function limited(limits: { readonly nano?: number; readonly rpm?: number }) {
  const { nano, rpm } = limits;
  return {
    budgets:
      nano === undefined
        ? []
        : [{ usd: nano / 1e9, period: 'total' as const, timeZone: 'UTC', mode: 'soft' as const, model: '*' }],
    rates: rpm === undefined ? [] : [{ requests: rpm, model: '*' }],
  };
}
