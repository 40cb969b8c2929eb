import * as z from 'zod';
import * as limits from '../../config/schema/limits.ts';
import { LIMIT_DEFAULTS } from '../../config/settings/limit-values.ts';
import { ESTIMATE_REASONS } from './estimate-reason.ts';
import { ADMIN_SCOPES, KEY_STATES } from './key-properties.ts';
import { count, milliseconds, name, nameOrNull, replica, request, time, tokens, usd } from './shared-schemas.ts';

export { BUDGET_PERIODS } from '../../config/settings/limit-values.ts';
export { ADMIN_SCOPES, KEY_STATES, type KeyState } from './key-properties.ts';
export { type Replica, type Request, request } from './shared-schemas.ts';

/**
 * The rights of a caller. `own`: see the usage, the requests and the budgets of its own key. `read`: see everything.
 * `keys`: also change the keys of others. `all`: also create and change admin keys.
 */
export const SCOPES = ['own', ...ADMIN_SCOPES] as const;
const scope = z.enum(SCOPES);
/** The scopes that a key can be created with. */
export const adminScope = z.enum(ADMIN_SCOPES);

export const session = z.object({
  /** Name of the key; `local` for a one-time link. */
  name,
  scope,
  version: z.string(),
  /** IANA name of the time zone of the gateway's machine. */
  time_zone: z.string(),
  /** Each call with the cookie needs this value in `X-Session-Secret`. Only the answer to the sign-in has it. */
  secret: nameOrNull,
  /** When the session ends. Null for a request with a key. */
  expires_at: time.nullable(),
});

export const sessionInput = z.union([
  z.strictObject({ key: z.string().min(1).max(500) }),
  z.strictObject({ token: z.string().min(1).max(500) }),
]);

export const link = z.object({ token: z.string(), path: z.string(), expires_at: time });

/** A budget in the names of the API. */
const budgetFields = {
  usd: limits.budget.shape.usd,
  period: limits.budget.shape.period,
  time_zone: limits.budget.shape.timeZone,
  mode: limits.budget.shape.mode,
  model: limits.budget.shape.model,
};
const limitedModel = limits.limitedModel.max(300).default(LIMIT_DEFAULTS.model);

const budgetInput = z.strictObject({
  usd: budgetFields.usd.max(1_000_000),
  period: budgetFields.period.default(LIMIT_DEFAULTS.period),
  time_zone: budgetFields.time_zone.max(100).default(LIMIT_DEFAULTS.timeZone),
  mode: budgetFields.mode.default(LIMIT_DEFAULTS.mode),
  /** Models that count: `*`, `vendor/*` or one model. */
  model: limitedModel,
});

const rate = z.strictObject({ ...limits.rate.shape, model: limitedModel });

export const key = z.object({
  name,
  organization: nameOrNull,
  user: nameOrNull,
  /** Null: the key has no access to the admin API beyond its own usage. */
  admin: adminScope.nullable(),
  state: z.enum(KEY_STATES),
  /** Of all time. */
  spent: usd,
  budgets: z.array(
    z.object({
      ...budgetFields,
      /** In the current window. */
      spent: usd,
      window_start: time.nullable(),
      window_end: time.nullable(),
    }),
  ),
  rates: z.array(rate),
  created_at: time,
  expires_at: time.nullable(),
  revoked_at: time.nullable(),
  /** Of the last quarter of an hour with a request, to within 15 minutes. */
  last_used_at: time.nullable(),
});

/** Names of keys and users. */
export const KEY_NAME = /^[\w.@-]{1,100}$/;
const newName = z
  .string()
  .regex(KEY_NAME)
  .meta({ expected: '1 to 100 letters, digits, dots, hyphens, underscores or @' });

/** The key of the session. A session needs it for a new secret of an admin key; a request with a key does not. */
const confirmKey = z.string().min(1).max(500).optional();

export const newKey = z.strictObject({
  name: newName.refine((text) => text !== 'operator' && text !== 'local'),
  organization: z.string().max(200).optional(),
  user: newName.optional(),
  admin: adminScope.optional(),
  budgets: z.array(budgetInput).max(50).default([]),
  rates: z.array(rate).max(50).default([]),
  expires_at: time.optional(),
  confirm_key: confirmKey,
});

/** Absent: unchanged. */
export const keyChange = z.strictObject({
  budgets: z.array(budgetInput).max(50).optional(),
  rates: z.array(rate).max(50).optional(),
});

export const rotation = z.strictObject({
  /** How long the old key stays valid, such as `24h`; `0` ends it at once. */
  grace: z.string().max(20).default('24h'),
  confirm_key: confirmKey,
});

export const revocation = z.strictObject({
  /** Ends the running requests of the key. */
  cut: z.boolean().default(false),
});

/** The only answer that contains a key. It can't be read again. */
export const issuedKey = z.object({ key, secret: z.string() });

const limit = z.coerce.number().int().min(1).max(200).default(50);
const cursor = z.string().max(200).optional();
const filter = z
  .string()
  .max(300)
  .regex(/^\P{Cc}*$/u)
  .meta({ expected: 'text without control characters' })
  .optional();
/** ISO 8601, a date in `tz`, or a duration before now such as `7d`. */
const moment = z.string().max(40).optional();

export const keyQuery = z.strictObject({
  /** Part of the name, the user or the organization. */
  search: z.string().max(200).optional(),
  state: z.enum(KEY_STATES).optional(),
  organization: filter,
  user: filter,
  limit,
  cursor,
});

export const keyPage = z.object({
  data: z.array(key),
  /** `cursor` of the next page. */
  next: nameOrNull,
  /** Number of keys on all pages. */
  total: count,
});

export const usageQuery = z.strictObject({
  since: moment,
  /** Not included. */
  until: moment,
  /** Comma-separated: model, key, user, organization, provider, outcome, hour, day, week, month, tag:NAME. */
  by: z.string().max(300).default(''),
  tz: z.string().max(100).default('UTC'),
  /** Divides the period: each row then has `start`. */
  step: z.enum(['quarter', 'hour', 'day', 'week', 'month']).optional(),
  key: filter,
  user: filter,
  organization: filter,
  model: filter,
  provider: filter,
  /** With `step`: rows only of this many groups, the most expensive ones. */
  top: z.coerce.number().int().min(1).max(50).optional(),
  /** `previous` adds the total of the period of the same length before `since`. */
  compare: z.enum(['previous']).optional(),
  format: z.enum(['json', 'csv']).default('json'),
  /** Also has the reasons why usage is estimated. Reads all rows of the time, so it takes longer. */
  reasons: z.enum(['true']).optional(),
});

/** Sums of the ledger. A row also has a member for each name in `by`, with null for no name. */
const usageSums = z.object({
  /** Requests that ended, with those that failed. */
  requests: count,
  /** Requests that failed or were refused. */
  failures: count,
  /** Part of `failures`: the gateway refused the request. */
  refused: count,
  /** Requests whose client left before the answer was complete. They are no failures. */
  client_gone: count,
  input_tokens: count,
  output_tokens: count,
  /** Part of `input_tokens`. */
  cache_read_tokens: count,
  /** Part of `input_tokens`. */
  cache_write_tokens: count,
  /** Part of `cache_write_tokens` that is kept for an hour. */
  cache_write_1h_tokens: count,
  reasoning_tokens: count,
  cost: usd,
  /** Part of the cost that organizations paid with their own credentials. */
  byok_cost: usd,
  /** Requests whose tokens are estimated because the upstream did not report them. */
  estimated_requests: count,
  /** Time to the first byte of an answer, to within 15 %. Null: no answer, or grouped by tag. */
  first_byte_p50_ms: milliseconds.nullable(),
  first_byte_p95_ms: milliseconds.nullable(),
  first_byte_p99_ms: milliseconds.nullable(),
  /** Output tokens per second of `output_ms`. */
  output_tokens_per_second: z.number().nullable(),
  /**
   * Time in which answers were made, of all requests together: from the first byte of an answer to its end, and of an
   * answer that was sent all at once, from its request.
   */
  output_ms: milliseconds,
  /** With `reasons`: why attempts are estimated, with their number: `client_left 2, not_reported 1`. */
  estimate_reasons: z.string().nullable().exactOptional(),
  /**
   * Requests of models without a price, whose cost is not known. With `reasons`; and with `step` in `groups` and `total`:
   * answers that cost nothing, of models that have no price now.
   */
  unpriced_requests: count.exactOptional(),
});

/** `start` is a time if `step` was given. */
const usageRow = usageSums.catchall(z.union([z.string(), z.number(), z.null()]));

export const usageAnswer = z.object({
  /** Null: from the beginning. */
  since: time.nullable(),
  until: time,
  time_zone: z.string(),
  by: z.array(z.string()),
  step: z.string().nullable(),
  rows: z.array(usageRow),
  total: usageSums,
  /** With `step`: the sums of each step over all groups. */
  steps: z.array(usageRow),
  /** With `step`: the sums of each group over the whole period, the most expensive ones. */
  groups: z.array(usageRow),
  /** Number of all groups. */
  group_count: count,
  /** With `step`: models that have no price. What they cost is not known, and not in the sums. Older releases send none. */
  unpriced_models: z.array(z.string()).default([]),
  /** With `compare`. */
  previous: usageSums.nullable(),
});

export const OUTCOMES = ['complete', 'client-gone', 'failed', 'refused'] as const;

export const requestQuery = z.strictObject({
  key: filter,
  user: filter,
  organization: filter,
  model: filter,
  provider: filter,
  /** `failures`: failed and refused. */
  outcome: z.enum([...OUTCOMES, 'failures']).optional(),
  since: moment,
  until: moment,
  tz: z.string().max(100).default('UTC'),
  limit,
  cursor,
});

export const requestPage = z.object({ data: z.array(request), next: nameOrNull });

const attempt = z.object({
  /** From 1. */
  attempt: count,
  model: name,
  provider: name,
  outcome: z.string(),
  status: count.nullable(),
  error_type: nameOrNull,
  byok: z.boolean(),
  estimated: z.boolean(),
  /** Why the tokens are estimated. Null: they are not, or an older release wrote the request. */
  estimate_reason: z.enum(ESTIMATE_REASONS).nullable(),
  /** The service that the provider reports, if it is not the standard: a service tier, a speed, a region. */
  served: z.array(z.string()),
  tokens,
  cost: usd.nullable(),
  /** From the arrival of the request to the start of the attempt. */
  wait_ms: milliseconds,
  /** From the start of the attempt to the first byte. Null: there was none. */
  first_byte_ms: milliseconds.nullable(),
  /** From the arrival of the request to the end of the attempt. */
  end_ms: milliseconds,
});

const priceLine = z.object({
  kind: z.enum([
    ...(['input', 'input_audio', 'cache_read', 'cache_write', 'cache_write_1h', 'output', 'reasoning'] as const),
    ...(['output_audio', 'output_image', 'calls'] as const),
  ]),
  /** For `calls`, the number of calls. */
  tokens: count,
  usd_per_million: usd,
  cost: usd,
});

export const requestDetail = request.extend({
  tags: z.record(z.string(), z.string()),
  tries: z.array(attempt),
  /** The sum that made the price. */
  price: z.object({
    lines: z.array(priceLine),
    total: usd.nullable(),
    /**
     * `prices`: the lines add up to the total. `reported`: the provider reported the cost. `unknown`: an older release
     * wrote the request without its prices. `none`: no price is known.
     */
    basis: z.enum(['prices', 'reported', 'unknown', 'none']),
  }),
});

/** Data of the event `sample`, once a second while not all requests are shown. */
export const liveSample = z.object({ shown: count, total: count });

/** Whose requests a limit counts together: those that match each member that is not null. */
const budgetScope = z.object({ key: nameOrNull, user: nameOrNull, organization: nameOrNull });

const budget = z.object({
  scope: budgetScope,
  ...budgetFields,
  spent: usd,
  /** Null: a budget for all time. */
  window_start: time.nullable(),
  window_end: time.nullable(),
  /** At the rate of the window so far, for `total` of the last 7 days. Null: not within the window, or never. */
  runs_out_at: time.nullable(),
});
export const budgetList = z.object({ data: z.array(budget) });

/** Something that needs a person. */
const concern = z.discriminatedUnion('kind', [
  /** Used by 80 % or more, or by 20 % and runs out in its window. */
  z.object({ kind: z.literal('budget'), budget }),
  /** Fails, or gets no requests until a time. */
  z.object({ kind: z.literal('provider'), id: z.string(), problem: z.string(), until: time.nullable() }),
  /** A process can't write its ledger. */
  z.object({ kind: z.literal('ledger'), replica: z.string(), rows: count }),
  /** Expires within 14 days. */
  z.object({ kind: z.literal('key'), name, expires_at: time }),
]);
export const concernList = z.object({ data: z.array(concern) });

const organization = z.object({
  id: z.string(),
  name,
  allow: z.array(z.string()).nullable(),
  deny: z.array(z.string()),
  /** Providers for which the organization has its own credential. */
  byok: z.array(z.string()),
  rates: z.array(rate),
  keys: count,
});
export const organizationList = z.object({ data: z.array(organization) });

/** The state of an upstream since the gateway started. */
const health = z.object({
  /** `unknown`: no request yet. `cooling`: gets no requests until `cooling_until`. */
  state: z.enum(['ok', 'failing', 'cooling', 'unknown']),
  cooling_until: time.nullable(),
  last_error: nameOrNull,
  last_error_at: time.nullable(),
  in_flight: count,
  first_byte_ms: milliseconds.nullable(),
});

const price = z.object({
  /** USD per million tokens. */
  input: usd,
  output: usd,
  cache_read: usd.nullable(),
  cache_write: usd.nullable(),
  cache_write_1h: usd.nullable(),
});

const model = z.object({
  id: z.string(),
  name,
  provider: z.string(),
  price: price.nullable(),
  context: count,
  health,
  /** Only of a pool. */
  pool: z
    .object({
      strategy: z.string(),
      affinity: z.boolean(),
      members: z.array(z.object({ model: z.string(), weight: z.number(), health })),
    })
    .nullable(),
});
export const modelList = z.object({ data: z.array(model) });

const provider = z.object({
  id: z.string(),
  name,
  models: count,
  formats: z.array(z.string()),
  /** Why the provider can't be called. */
  problem: nameOrNull,
  health,
});
export const providerList = z.object({ data: z.array(provider) });

export const replicaList = z.object({ data: z.array(replica) });

const auditEntry = z.object({
  id: count,
  at: time,
  /** Name of the key, `local` for a one-time link, or `cli:USER`. */
  who: z.string(),
  /** Such as `key.create`. */
  action: z.string(),
  /** The changed object, such as the name of a key. */
  target: z.string(),
  /** Address of the client, or `terminal`. */
  source: z.string(),
  details: z.record(z.string(), z.unknown()),
});
export const auditQuery = z.strictObject({ who: filter, action: filter, target: filter, limit, cursor });
export const auditPage = z.object({ data: z.array(auditEntry), next: nameOrNull });

export type Scope = z.infer<typeof scope>;
export type Session = z.infer<typeof session>;
export type Key = z.infer<typeof key>;
export type BudgetInput = z.infer<typeof budgetInput>;
export type RateInput = z.infer<typeof rate>;
export type IssuedKey = z.infer<typeof issuedKey>;
export type UsageSums = z.infer<typeof usageSums>;
export type UsageRow = z.infer<typeof usageRow>;
export type UsageAnswer = z.infer<typeof usageAnswer>;
export type RequestDetail = z.infer<typeof requestDetail>;
export type Attempt = z.infer<typeof attempt>;
export type PriceLine = z.infer<typeof priceLine>;
export type Budget = z.infer<typeof budget>;
export type BudgetScope = z.infer<typeof budgetScope>;
export type Concern = z.infer<typeof concern>;
export type Organization = z.infer<typeof organization>;
export type Health = z.infer<typeof health>;
export type Model = z.infer<typeof model>;
export type Provider = z.infer<typeof provider>;
export type AuditEntry = z.infer<typeof auditEntry>;
