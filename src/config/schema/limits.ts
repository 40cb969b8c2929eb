/**
 * The only definition of budgets and rates. The configuration, the admin API, the page, the terminal and the copy of the
 * keys on disk use these schemas and their types.
 */
import * as z from 'zod';
import { BUDGET_MODES, BUDGET_PERIODS, canMatchModel, LIMIT_OWNERS } from '../settings/limit-values.ts';

/** A pattern of models: one model, `provider/*`, or `*` for all. */
export const limitedModel = z
  .string()
  .refine(canMatchModel)
  .meta({ expected: 'a model such as openai/gpt-5, openai/* or *' });

/** An amount that may be spent in each period. */
export const budget = z.object({
  usd: z.number().min(0),
  period: z.enum(BUDGET_PERIODS),
  /** IANA name of the time zone of the period. */
  timeZone: z.string(),
  /** `hard`: requests reserve their estimated cost. */
  mode: z.enum(BUDGET_MODES),
  /** Models that count. */
  model: z.string(),
});

const amount = z.int().gt(0);

export const rate = z.object({
  /** Per minute. */
  requests: amount.exactOptional(),
  /** Per minute, input and output. */
  tokens: amount.exactOptional(),
  /** At a time. */
  parallel: amount.exactOptional(),
  model: z.string(),
});

/** Each user or each key has the limit; absent: all that it applies to share it. */
export const sharedBy = z.enum(LIMIT_OWNERS);

/** The limits of a key, as they are stored. */
export const limits = z.object({ budgets: z.array(budget), rates: z.array(rate) });
