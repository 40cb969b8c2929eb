import type { Account } from '../../src/gateway/access/account.ts';
import type { LedgerRow } from '../../src/gateway/accounting/ledger.ts';

let rows = 0;

/** A row of a request of its own that cost half a USD. */
export function ledgerRow(account: Account, more: Partial<LedgerRow> = {}): LedgerRow {
  rows += 1;
  return {
    requestId: `r${rows}`,
    attempt: 1,
    at: 1,
    key: 'k',
    account,
    organization: '',
    user: '',
    tags: undefined,
    endpoint: '/chat/completions',
    model: 'p/m',
    provider: 'p',
    byok: false,
    outcome: 'complete',
    usage: { input: 1, output: 1 },
    cost: 500_000_000,
    estimated: false,
    waitMs: 0,
    firstByteMs: 1,
    durationMs: 1,
    ...more,
  };
}
