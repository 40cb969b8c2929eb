/** Values in limits (schema/limits.ts). In a file without zod, because the terminal starts without the schemas. */

/** The periods of budgets: all time, or calendar periods. */
export const BUDGET_PERIODS = ['total', 'day', 'week', 'month'] as const;
export const BUDGET_MODES = ['soft', 'hard'] as const;
export const RATE_KINDS = ['requests', 'tokens', 'parallel'] as const;
/** Each of them has the limit. */
export const LIMIT_OWNERS = ['user', 'key'] as const;

/** Values of members that are absent. */
export const LIMIT_DEFAULTS = { period: 'total', timeZone: 'UTC', mode: 'soft', model: '*' } as const;

/** Whether a pattern can match the reference of a model: `*` anywhere, or `provider/model`. */
export function canMatchModel(pattern: string): boolean {
  return /^\S+$/.test(pattern) && (pattern.includes('*') || /^[^/]+\/./.test(pattern));
}
