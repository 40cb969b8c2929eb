import type { UsageRow } from '../../src/gateway/state/ledger-columns.ts';

const DAY = 86_400_000;
const MODELS = ['mistral/large', 'mistral/codestral', 'openai/gpt-large', 'up/m'] as const;
const PEOPLE = ['ann', 'bob', 'chen', 'dora', 'emil'] as const;

/** Requests of 12 days, more of them by day, of several models, keys and users, with fractions of cents. */
export function ledgerOfTeam(now = Date.now(), count = 3_000): Partial<UsageRow>[] {
  let seed = 7;
  const random = () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed / 2_147_483_647;
  };
  return Array.from({ length: count }, (_, n) => {
    const age = random() ** 1.3 * 12 * DAY;
    const hour = new Date(now - age).getUTCHours();
    const quiet = hour < 6 || hour > 20;
    const person = PEOPLE[Math.floor(random() * PEOPLE.length)] ?? 'ann';
    const model = MODELS[Math.floor(random() ** 2 * MODELS.length)] ?? 'up/m';
    const output = Math.round(100 + random() * 1_800);
    const input = Math.round(1_000 + random() * 30_000);
    const firstByteMs = Math.round(120 + random() ** 4 * 3_000);
    return {
      requestId: `request-${n}`,
      at: Math.round(now - age - (quiet ? 8 * 3_600_000 : 0)),
      key: `${person}-laptop`,
      user: person,
      organization: person < 'c' ? 'acme' : '',
      model,
      provider: model.split('/')[0] ?? '',
      outcome: random() < 0.03 ? 'failed' : random() < 0.03 ? 'client-gone' : 'complete',
      usage: { input, output, cacheRead: Math.round(input * random() * 0.8) },
      cost: Math.round((input * 0.4 + output * 1.6) * 1_000 + random() * 1_000),
      firstByteMs,
      durationMs: firstByteMs + Math.round(output * (8 + random() * 10)),
    };
  });
}
