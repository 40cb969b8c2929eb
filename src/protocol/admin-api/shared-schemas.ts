import * as z from 'zod';
import { ESTIMATE_REASONS } from './estimate-reason.ts';

/** Times are ISO 8601 in UTC, money is USD, durations are milliseconds. */
export const time = z.string().meta({ format: 'date-time' });
export const usd = z.number();
export const count = z.number().int();
export const milliseconds = z.number();
export const name = z.string();
export const nameOrNull = z.string().nullable();

export const tokens = z.object({
  input: count.nullable(),
  output: count.nullable(),
  cache_read: count.nullable(),
  cache_write: count.nullable(),
  cache_write_1h: count.nullable(),
  reasoning: count.nullable(),
});

/** A request without its contents, which the gateway never stores. */
export const request = z.object({
  id: z.string(),
  /** When it ended. */
  at: time,
  key: name,
  organization: nameOrNull,
  user: nameOrNull,
  endpoint: z.string(),
  /** The model that answered, or the requested one. Null: not known when it was refused. */
  model: nameOrNull,
  provider: nameOrNull,
  outcome: z.string(),
  /** HTTP status. Null for requests of older releases. */
  status: count.nullable(),
  error_type: nameOrNull,
  /** Requests to upstreams. */
  attempts: count,
  tokens,
  /** Null: no price is known. */
  cost: usd.nullable(),
  byok: z.boolean(),
  estimated: z.boolean(),
  /** Why the tokens are estimated. Null: they are not, or an older release wrote the request. */
  estimate_reason: z.enum(ESTIMATE_REASONS).nullable(),
  /** The service that the provider reports, if it is not the standard: a service tier, a speed, a region. */
  served: z.array(z.string()),
  first_byte_ms: milliseconds.nullable(),
  duration_ms: milliseconds,
});

/** The description of a process of the gateway by itself. */
export const replicaFacts = z.object({
  version: z.string(),
  host: z.string(),
  pid: count,
  /** Where it listens, as it knows it. */
  address: nameOrNull,
  started_at: time,
  /** Of the effective configuration, so that differences show. */
  config_hash: z.string(),
  active_requests: count,
  /** It ends when its requests have ended. */
  draining: z.boolean(),
  /** Rows that the state does not have yet. */
  ledger_rows_waiting: count,
  ledger: z.enum(['ok', 'failing']),
  memory_bytes: count,
});
export const replica = replicaFacts.extend({
  id: z.string(),
  /** The process that answers. */
  self: z.boolean(),
  /** The time of its last heartbeat. A process that has ended is left out after five minutes. */
  seen_at: time,
});
export type Request = z.infer<typeof request>;
export type ReplicaFacts = z.infer<typeof replicaFacts>;
export type Replica = z.infer<typeof replica>;
