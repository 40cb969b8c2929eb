import { defined } from '../../base/json.ts';
import { isTimeZone } from '../../base/time-zone.ts';
import {
  BUDGET_MODES,
  BUDGET_PERIODS,
  canMatchModel,
  LIMIT_DEFAULTS,
  RATE_KINDS,
} from '../../config/settings/limit-values.ts';
import type { BudgetSettings, LimitSettings, RateSettings } from '../../config/settings/settings.ts';
import type { RateInput } from '../../protocol/admin-api/schemas.ts';
import { UsageError } from '../io.ts';
import { parseDecimal } from './option-values.ts';

export interface LimitOptions {
  readonly budget?: readonly string[] | undefined;
  readonly period?: string | undefined;
  readonly tz?: string | undefined;
  readonly mode?: string | undefined;
  readonly rpm?: readonly string[] | undefined;
  readonly tpm?: readonly string[] | undefined;
  readonly parallel?: readonly string[] | undefined;
}

/** Reads the limits of a key. A kind without an option is absent; `none` makes it empty. */
export function parseLimits(options: LimitOptions): Partial<LimitSettings> {
  const { budget, period, tz, mode, rpm, tpm, parallel } = options;
  if (budget === undefined && (period ?? tz ?? mode) !== undefined) {
    throw new UsageError('--period, --tz and --mode need --budget.');
  }
  const withRates = (rpm ?? tpm ?? parallel) !== undefined;
  return {
    ...(budget === undefined ? {} : { budgets: given(budget).map((text) => parseBudget(text, options)) }),
    ...(withRates ? { rates: parseRates({ requests: rpm, tokens: tpm, parallel }) } : {}),
  };
}

function given(values: readonly string[] = []): readonly string[] {
  return values.filter((value) => value !== 'none');
}

/** The limits of a key after an update: budgets are replaced as a whole, of the rates only the kinds that are given. */
export function changeLimits(before: readonly RateInput[], options: LimitOptions): Partial<LimitSettings> {
  const { rates: changed, budgets } = parseLimits(options);
  if (changed === undefined) return budgets === undefined ? {} : { budgets };
  const { rpm, tpm, parallel } = options;
  const byModel = new Map<string, Numbers>();
  for (const { model, ...rate } of before) {
    byModel.set(
      model,
      defined({
        requests: rpm === undefined ? rate.requests : undefined,
        tokens: tpm === undefined ? rate.tokens : undefined,
        parallel: parallel === undefined ? rate.parallel : undefined,
      }),
    );
  }
  for (const { model, ...rate } of changed) byModel.set(model, { ...byModel.get(model), ...rate });
  const rates = [...byModel].map(([model, numbers]) => ({ ...numbers, model }));
  return {
    ...defined({ budgets }),
    rates: rates.filter((rate) => (rate.requests ?? rate.tokens ?? rate.parallel) !== undefined),
  };
}

/** `20`, `20/month` or `5/day:openai/*` */
function parseBudget(text: string, options: LimitOptions): BudgetSettings {
  const { period = LIMIT_DEFAULTS.period, tz = LIMIT_DEFAULTS.timeZone } = options;
  const mode = BUDGET_MODES.find((each) => each === (options.mode ?? LIMIT_DEFAULTS.mode));
  const [amount = '', model = LIMIT_DEFAULTS.model] = splitModel(text);
  const [number = '', ownPeriod = period, ...rest] = amount.split('/');
  const usd = parseDecimal(number);
  const known = BUDGET_PERIODS.find((each) => each === ownPeriod);
  if (usd === undefined || rest.length > 0) {
    throw new UsageError('--budget must be a number that is at least 0, such as 20, 20/month or 5/day:openai/*.');
  }
  if (known === undefined) throw new UsageError(`The period of a budget must be ${BUDGET_PERIODS.join(', ')}.`);
  if (mode === undefined) throw new UsageError(`--mode must be ${BUDGET_MODES.join(' or ')}.`);
  if (!isTimeZone(tz)) throw new UsageError(`--tz must be a time zone such as Europe/Berlin; “${tz}” is unknown.`);
  return { usd, period: known, timeZone: tz, mode, model };
}

type Numbers = Pick<RateSettings, 'requests' | 'tokens' | 'parallel'>;
const RATE_OPTIONS = { requests: '--rpm', tokens: '--tpm', parallel: '--parallel' } as const;

/** `60` or `10:openai/*`. The rates of one model become one rate. */
function parseRates(options: Readonly<Record<keyof Numbers, readonly string[] | undefined>>): RateSettings[] {
  const byModel = new Map<string, Numbers>();
  for (const kind of RATE_KINDS) {
    for (const text of given(options[kind])) {
      const [number = '', model = LIMIT_DEFAULTS.model] = splitModel(text);
      const amount = parseDecimal(number);
      if (amount === undefined || amount < 1 || !Number.isSafeInteger(amount)) {
        throw new UsageError(
          `${RATE_OPTIONS[kind]} must be a whole number that is at least 1, such as 60 or 10:openai/*.`,
        );
      }
      const before = byModel.get(model);
      // Of two values, both must hold.
      byModel.set(model, { ...before, [kind]: Math.min(amount, before?.[kind] ?? amount) });
    }
  }
  return [...byModel].map(([model, numbers]) => ({ ...numbers, model }));
}

/** @throws UsageError for models that do not exist under any configuration. */
function splitModel(text: string): string[] {
  const colon = text.indexOf(':');
  if (colon < 0) return [text];
  const model = text.slice(colon + 1);
  if (canMatchModel(model)) return [text.slice(0, colon), model];
  throw new UsageError(`“${text}”: after the colon must be a model such as openai/gpt-5, openai/* or *.`);
}
