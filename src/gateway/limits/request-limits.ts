import { toUsd } from '../../base/money.ts';
import { SvcError } from '../../wire/errors/svc-error.ts';
import { describeBudget } from './alerts.ts';
import type { Budget } from './budget.ts';
import { describeScope } from './limit-rules.ts';
import type { CallerLimits } from './limits.ts';
import { describeRates, type Excess, type Rate, takeRequest, takeTokens } from './rate.ts';

/** The probable use of a request. */
export interface Estimate {
  readonly tokens: number;
  /** Nano-USD; 0 if the request costs nothing, or the organization pays for it with its own credential. */
  readonly nano: number;
  /** The model has no price: the cost of the request is not known. */
  readonly unpriced?: boolean;
}

/** An estimate of which only the cost counts. */
export type CostEstimate = Omit<Estimate, 'tokens'>;

/** A used-up budget refuses all models that are not known to be free. */
const LEAST_NANO = 1;

/** Seconds after which a running request of an average length has ended. */
const RESERVED_WAIT_MS = 2_000;

/** Milliseconds after which a refused request may be repeated, because a share was not granted in time. */
const AGAIN_MS = 1_000;

/** The limits of one request: its reservations, which it gives back when it ends. */
export class RequestLimits {
  readonly #limits: CallerLimits;
  readonly #addHeaders: (headers: Readonly<Record<string, string>>) => void;
  readonly #admitsUnpriced: (model: string) => boolean;
  readonly #running: Rate[] = [];
  #tokens: { readonly rates: readonly Rate[]; readonly amount: number } | undefined;
  /** The reservations of running attempts, by model. */
  readonly #reserved = new Map<string, { readonly budgets: readonly Budget[]; readonly nano: number }>();

  /**
   * @param addHeaders adds headers to the answer, also to a refusal.
   * @param admitsUnpriced whether hard budgets admit a model without a price.
   */
  constructor(
    limits: CallerLimits,
    addHeaders: (headers: Readonly<Record<string, string>>) => void,
    admitsUnpriced: (model: string) => boolean,
  ) {
    this.#limits = limits;
    this.#addHeaders = addHeaders;
    this.#admitsUnpriced = admitsUnpriced;
  }

  /**
   * Takes the request of the rates for all models, before its model is known. Waits if this process has no share, and
   * the limit is not reached.
   *
   * @throws SvcError 429 rate_limit_exceeded.
   */
  async enter(): Promise<void> {
    const { general, ofModels } = this.#limits;
    await this.#take(general);
    // Otherwise the model decides which limit is shown.
    if (ofModels.length === 0) describeRates(general, 'requests', this.#addHeaders);
  }

  /**
   * Waits for a share of each budget that has enough left, if this process has none that is large enough: only the first
   * requests of a key, and the last ones of a budget, do. Undefined: nothing to wait for.
   */
  prepare(model: string, { nano: known, unpriced = false }: CostEstimate): Promise<unknown> | undefined {
    const nano = unpriced ? LEAST_NANO : known;
    if (nano === 0) return undefined;
    const waits = this.#limits.budgets.flatMap((budget) =>
      budget.countsModel(model) && mayBeGranted(budget, nano) ? [whenGranted(budget, nano)] : [],
    );
    return waits.length === 0 ? undefined : Promise.all(waits);
  }

  /**
   * Takes the request of all other rates, and its estimated cost of hard budgets. Waits as `enter`.
   *
   * @throws SvcError 402 usage_limit_exceeded, 429 rate_limit_exceeded.
   */
  async admit(model: string, estimate: Estimate): Promise<void> {
    this.reserve(model, estimate);
    const { general, ofModels } = this.#limits;
    const matching = ofModels.filter((rate) => rate.countsModel(model));
    await this.#take(matching);
    const counted = matching.length === 0 ? general : [...general, ...matching];
    if (ofModels.length > 0) describeRates(counted, 'requests', this.#addHeaders);
    const excess = await whenTaken(() => takeTokens(counted, estimate.tokens));
    describeRates(counted, 'tokens', this.#addHeaders);
    if (excess !== undefined) throw tooFast(excess);
    this.#tokens = { rates: counted, amount: estimate.tokens };
  }

  /** Reserves the estimated cost of an attempt, once for each model. @throws SvcError 402 usage_limit_exceeded. */
  reserve(model: string, { nano: known, unpriced = false }: CostEstimate): void {
    const nano = unpriced ? LEAST_NANO : known;
    if (nano === 0 || this.#reserved.has(model)) return;
    const budgets = this.#limits.budgets.filter((budget) => budget.countsModel(model));
    const strict = unpriced && !this.#admitsUnpriced(model) && budgets.find(({ rule }) => rule.hard);
    if (strict) throw priceUnknown(strict, model);
    const over = budgets.find((budget) => !budget.allows(nano));
    if (over !== undefined) throw usedUp(over, nano);
    const hard = budgets.filter(({ rule }) => rule.hard);
    for (const budget of hard) budget.reserved += nano;
    this.#reserved.set(model, { budgets: hard, nano });
  }

  /** Must be called when the attempt has ended. */
  unreserve(model: string): void {
    const reserved = this.#reserved.get(model);
    for (const budget of reserved?.budgets ?? []) budget.reserved -= reserved?.nano ?? 0;
    this.#reserved.delete(model);
  }

  /** Whether budgets are left for a model, if it is tried after the others. */
  allows(model: string, { nano: known, unpriced = false }: CostEstimate): boolean {
    const nano = unpriced ? LEAST_NANO : known;
    if (nano === 0) return true;
    const refused = unpriced && !this.#admitsUnpriced(model);
    return this.#limits.budgets.every((budget) => {
      if (!budget.countsModel(model)) return true;
      if (refused && budget.rule.hard) return false;
      let own = 0;
      for (const reserved of this.#reserved.values()) if (reserved.budgets.includes(budget)) own += reserved.nano;
      return budget.allows(nano - own);
    });
  }

  /** Corrects the estimated tokens. */
  used(tokens: number): void {
    if (this.#tokens === undefined) return;
    const { rates, amount } = this.#tokens;
    for (const rate of rates) if (rate.rule.tokens !== undefined) rate.add('tokens', tokens - amount);
    // A fallback adds to the use of the attempts before.
    this.#tokens = { rates, amount: 0 };
  }

  /** Must be called when the request has ended. */
  release(): void {
    for (const model of [...this.#reserved.keys()]) this.unreserve(model);
    for (const rate of this.#running.splice(0)) rate.run(-1);
  }

  async #take(rates: readonly Rate[]): Promise<void> {
    const excess = await whenTaken(() => takeRequest(rates));
    if (excess !== undefined) {
      describeRates(rates, 'requests', this.#addHeaders);
      throw tooFast(excess);
    }
    this.#running.push(...rates);
  }
}

/** Whether this process has no share that is large enough, and the budget has. */
function mayBeGranted(budget: Budget, nano: number): boolean {
  const { share, rule } = budget;
  if (share?.reachable !== true || budget.allows(nano)) return false;
  const left = rule.nano - budget.spent();
  return left > 0 && (!rule.hard || nano <= left);
}

async function whenGranted(budget: Budget, nano: number): Promise<void> {
  const { share } = budget;
  if (share === undefined) return;
  let requested = false;
  share.waiting += nano;
  await share.waits.until(() => {
    if (!mayBeGranted(budget, nano)) return undefined;
    // A request that was sent before does not contain this need.
    const granted = requested && share.needed < nano;
    requested = true;
    share.need(nano);
    const window = share.window(budget.window().start);
    if (!granted || window === undefined) return 'grant';
    return window.peers > 0 ? 'peers' : undefined;
  });
  share.waiting -= nano;
}

/** Takes something of rates, and waits if only this process has no share. @returns a limit that stays exceeded. */
async function whenTaken(take: () => Excess | undefined): Promise<Excess | undefined> {
  let excess = take();
  for (;;) {
    const share = excess?.rate.shares?.[excess.of];
    if (share === undefined) return excess;
    const isSame = () => excess?.rate.shares?.[excess.of] === share;
    await share.waits.until(() => {
      excess = take();
      return excess !== undefined && isSame() ? share.awaits(excess.amount) : undefined;
    });
    if (excess === undefined || isSame()) return excess;
  }
}

const UNITS = { requests: 'requests per minute', tokens: 'tokens per minute', parallel: 'requests at a time' } as const;

function tooFast({ rate: { rule, shares }, of, limit, waitMs, amount }: Excess): SvcError {
  const models = rule.model === '*' ? '' : ` to ${rule.model}`;
  const ofAll = shares?.[of].reaches(amount) !== false;
  const part = ofAll ? '' : ', and this gateway has no free part of them';
  return new SvcError({
    errorType: 'rate_limit_exceeded',
    message: `${capitalized(describeScope(rule.scope))} may send ${limit} ${UNITS[of]}${models}${part}.`,
    retryable: true,
    retryAfterMs: waitMs,
  });
}

/** A hard budget can't hold for a model whose requests cost an unknown amount. */
function priceUnknown({ rule }: Budget, model: string): SvcError {
  return new SvcError({
    errorType: 'usage_limit_exceeded',
    message: `${capitalized(describeBudget(rule))}, is hard, and the price of ${model} is not known.`,
    action:
      'Use a model with a price. If you run this gateway, set `cost` of the model, or allow it in `gateway.unpricedModels`.',
  });
}

function usedUp(budget: Budget, nano: number): SvcError {
  const { rule, reserved } = budget;
  const { end } = budget.window();
  const left = rule.nano - budget.spent();
  const name = `${capitalized(describeBudget(rule))},`;
  const share = budget.share?.window(budget.window().start);
  const enough = left > 0 && (!rule.hard || nano <= left);
  if (budget.share !== undefined) {
    budget.share.need(nano);
    if (enough && (!budget.share.usable || share === undefined || share.free > 0)) return shareSpent(name);
  }
  // Reservations that running requests do not spend are free again when they end; also those of peers.
  const waits = enough && ((rule.hard && reserved > 0) || (share !== undefined && share.peers > 0));
  const small = rule.hard && left > 0 && !waits;
  const retryAfterMs = waits ? RESERVED_WAIT_MS : end - Date.now();
  return new SvcError({
    errorType: 'usage_limit_exceeded',
    message: waits
      ? `${name} is reserved by running requests.`
      : small
        ? `${name} has ${toUsd(left)} USD left, and this request may cost ${toUsd(nano)} USD.`
        : `${name} is used up${Number.isFinite(end) ? ` until ${new Date(end).toISOString()}` : ''}.`,
    action: small
      ? 'Send less, set a lower max_tokens, or request a larger budget.'
      : 'Use a free model, or request a larger budget.',
    ...(Number.isFinite(retryAfterMs) ? { retryAfterMs } : {}),
  });
}

/** The budget is not used up, but this gateway's share of it is. */
function shareSpent(name: string): SvcError {
  return new SvcError({
    errorType: 'temporarily_unavailable',
    message: `${name} is not used up, but this gateway’s share of it is, and the database has not granted more.`,
    retryable: true,
    retryAfterMs: AGAIN_MS,
  });
}

function capitalized(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
