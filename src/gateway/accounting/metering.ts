import { toNano, toUsd } from '../../base/money.ts';
import type { Endpoint, Model } from '../../catalog/model.ts';
import { chargedPrices, computePrice } from '../../catalog/price.ts';
import type { ModelCost } from '../../config/settings/configured-model.ts';
import type { EstimateReason } from '../../protocol/admin-api/estimate-reason.ts';
import { servedBy } from '../../provider/profile/rules.ts';
import type { Usage } from '../../wire/event.ts';
import { textTokens } from '../../wire/prompt-size.ts';
import type { Caller } from '../dispatch/caller.ts';
import type { Models } from '../dispatch/models.ts';
import type { LogFields, RequestContext } from '../http/request-context.ts';
import type { LiveRequests } from '../operations/live-requests.ts';
import type { RelayedAnswer } from '../relay/relay-request.ts';
import type { UsageRow } from '../state/ledger-columns.ts';
import type { Ledger } from './ledger.ts';
import type { Log } from './log.ts';
import type { ChosenLabels, Metrics } from './metrics.ts';
import { writePrices } from './price-text.ts';
import type { UpstreamHealth } from './upstream-health.ts';
import { cappedCost, cappedUsage } from './usage-cap.ts';

/** Ledger, metrics and log of answers. */
export interface Accounting extends Pick<Models, 'settings' | 'registry'> {
  readonly ledger: Ledger;
  readonly metrics: Metrics;
  readonly health: UpstreamHealth;
  readonly log: Log;
  /** Pages that show requests as they end. */
  readonly live: LiveRequests;
}

/** An answer and the requested model. */
export interface Metered extends RelayedAnswer {
  readonly model: Pick<Model, 'ref' | 'provider' | 'id' | 'cost'> & {
    readonly endpoint: Pick<Endpoint, 'kind' | 'baseURL'>;
    readonly limit?: Model['limit'];
  };
  readonly byok: boolean;
  /** Number of the attempt within its request, from 1. */
  readonly attempt: number;
  /** Another row ends the request: the attempt failed before anything was sent to the client. */
  readonly superseded?: true;
  /** The upstream's, if the client did not get it. */
  readonly status?: number | undefined;
  readonly errorType?: string;
  /** Milliseconds of `performance.now()` when the attempt began. */
  readonly sentAt: number;
}

/** Bytes of an event with one token, for answers whose text is not in a known field. */
const AN_EVENT = 200;

/** Accounts for an answer. The cost counts immediately; the ledger row is written with the next batch. */
export function meter(deps: Accounting, context: RequestContext, caller: Caller, metered: Metered): void {
  const { model, byok, outcome, firstByteMs, sentAt } = metered;
  const { usage, reason } = countUsage(deps, context, metered);
  const estimated = reason !== undefined;
  const { usd, prices } = computeCost(deps, context, metered, usage, estimated);
  const cost = usd === undefined ? undefined : toNano(usd);
  if (cost === undefined && !byok && deps.health.isNewlyUnpriced(model.ref)) {
    deps.log.warn({ model: model.ref }, 'the model has no price: what its requests cost is not known, and not counted');
  }
  const { principal, organization } = caller;
  const { labels } = context;
  const row: UsageRow = {
    at: Date.now(),
    requestId: context.id,
    attempt: metered.attempt,
    key: principal.name,
    organization: organization?.id ?? '',
    user: deps.ledger.users.of(principal.name, principal.user, labels.user),
    tags: labels.tags,
    endpoint: context.logFields.route ?? context.path,
    model: model.ref,
    provider: model.provider,
    byok,
    outcome,
    counted: metered.superseded !== true,
    status: metered.status ?? context.response.statusCode,
    errorType: metered.error?.errorType ?? metered.errorType,
    prices,
    usage,
    cost,
    estimated,
    estimateReason: reason,
    waitMs: sentAt - context.startedAt,
    durationMs: performance.now() - context.startedAt,
    firstByteMs,
  };
  deps.ledger.record(row);
  deps.live.ended({ row, attempts: context.attempts });
  caller.limits?.used(usage.input + usage.output);
  const chosen = metricLabels(deps, principal.name, organization?.id);
  deps.metrics.answer(model.ref, chosen, { usage, cost: usd, firstByteSeconds: firstByteMs / 1000 });
  addToLog(context.logFields, usage, usd, firstByteMs);
}

function metricLabels(deps: Accounting, key: string, organization: string | undefined): ChosenLabels {
  const { metricLabels } = deps.settings().gateway;
  return {
    ...(metricLabels.has('key') ? { key } : {}),
    ...(metricLabels.has('organization') ? { organization: organization ?? '' } : {}),
  };
}

function addToLog(fields: LogFields, usage: Usage, usd: number | undefined, firstByteMs: number): void {
  fields.inputTokens = (fields.inputTokens ?? 0) + usage.input;
  fields.outputTokens = (fields.outputTokens ?? 0) + usage.output;
  if (usage.cacheRead) fields.cachedTokens = (fields.cachedTokens ?? 0) + usage.cacheRead;
  // Nano-USD: the sum of fractions has no digits of rounding.
  if (usd !== undefined) fields.costUsd = toUsd(toNano(fields.costUsd ?? 0) + toNano(usd));
  if (firstByteMs > 0) fields.firstByteMs = Math.round(firstByteMs * 100) / 100;
}

interface Counted {
  readonly usage: Usage;
  /** Why at least a part differs from the usage that the upstream reported; absent if nothing does. */
  readonly reason: EstimateReason | undefined;
}

function countUsage(deps: Accounting, context: RequestContext, metered: Metered): Counted {
  const { usage: reported, outcome, characters, model } = metered;
  const known = reported && cappedUsage(reported, metered);
  if (known !== reported) {
    const fields = {
      input: reported?.input,
      output: reported?.output,
      counted_input: known?.input,
      counted_output: known?.output,
    };
    deps.log.warn(
      { id: context.id, model: model.ref, ...fields },
      'usage capped: the request cannot cause this number of tokens',
    );
  }
  // A count of 0 although there was input or output counts as not reported.
  const silent = known === undefined || known.input === 0 || (known.output === 0 && characters > 0);
  if (!silent && outcome === 'complete') return { usage: known, reason: known === reported ? undefined : 'capped' };
  const guessed = metered.estimate ?? estimate(context, metered);
  return { usage: atLeast(known, guessed), reason: estimateReason(metered) };
}

function estimateReason({ outcome, usage }: Metered): EstimateReason {
  if (outcome === 'client-gone') return 'client_left';
  if (outcome === 'failed') return 'interrupted';
  return usage === undefined ? 'not_reported' : 'partly_reported';
}

/** Prefers known values to the estimate. An answer that was cut off may report only its first tokens. */
function atLeast(known: Usage | undefined, guessed: Usage): Usage {
  if (known === undefined) return guessed;
  const input = known.input === 0 ? guessed.input : known.input;
  return { ...known, input, output: Math.max(known.output, guessed.output) };
}

/** Images, files and audio are counted as such, not by their bytes (prompt-size.ts). */
function estimate({ size }: RequestContext, { sent, received, characters }: Metered): Usage {
  const output = characters > 0 ? textTokens(characters) : Math.ceil(received / AN_EVENT);
  const { bytes = 0, tokens = 0 } = size?.media ?? {};
  return { input: textTokens(Math.max(0, sent - bytes)) + tokens, output };
}

interface Charged {
  /** USD; undefined if no price is known. */
  readonly usd: number | undefined;
  /** The prices that made it (price-text.ts); undefined if the provider reported the cost. */
  readonly prices: string | undefined;
}

/** Hosts, besides OpenRouter's, whose answers state their cost, with the fees of tools (`readReportedUsage`). */
const STATES_COST = ['perplexity.ai', 'x.ai'];

/**
 * USD; undefined if no price is known. The cost that OpenRouter or a host of `STATES_COST` reports overrides our prices,
 * unless it is 0 for a model with a price: proxies write that. Otherwise the price is that of the model, or of the model
 * that answered in its place if that is higher (docs/gateway.md).
 */
function computeCost(
  deps: Accounting,
  context: RequestContext,
  { model, answeredBy }: Metered,
  usage: Usage,
  estimated: boolean,
): Charged {
  const own = model.cost && computePrice(model.cost, usage);
  const free = usage.cost === 0 && own !== undefined && own > 0;
  if (usage.cost !== undefined && !free && (model.endpoint.kind === 'openrouter' || servedBy(model, [], STATES_COST))) {
    const charged = cappedCost(usage.cost, usage);
    if (charged < usage.cost) {
      const fields = { id: context.id, model: model.ref, cost: usage.cost, counted_cost: charged };
      deps.log.warn(fields, 'usage capped: the request cannot cause this cost');
    }
    return { usd: estimated ? Math.max(charged, own ?? 0) : charged, prices: undefined };
  }
  if (answeredBy === undefined || isSameModel(model.id, answeredBy)) return priced(model.cost, usage, own);
  const other = deps.registry().findCost(model.provider, answeredBy);
  const higher = other && computePrice(other, usage);
  const same = higher === undefined || higher < (own ?? 0);
  return same ? priced(model.cost, usage, own) : priced(other, usage, higher);
}

function priced(cost: ModelCost | undefined, usage: Usage, usd: number | undefined): Charged {
  return { usd, prices: cost && writePrices(chargedPrices(cost, usage)) };
}

/** Vendors report the dated name of a model: `gpt-4o-2024-08-06` for `gpt-4o`, `…-2411` for `…-latest`. */
function isSameModel(requested: string, answered: string): boolean {
  if (requested === answered) return true;
  const base = requested.replace(/-latest$/, '');
  return answered === base || (answered.startsWith(base) && /^[-@:]\d{4}/.test(answered.slice(base.length)));
}
