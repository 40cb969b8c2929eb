import type { Endpoint, Model } from '../../catalog/model.ts';
import { priceOf } from '../../catalog/price.ts';
import type { Usage } from '../../wire/event.ts';
import type { Caller } from '../dispatch/caller.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import type { RequestContext } from '../http/request-context.ts';
import type { RelayedAnswer } from '../relay/relay-request.ts';
import { cappedCost, cappedUsage } from './usage-cap.ts';

/** An answer and the model that was to give it. */
export interface Metered extends RelayedAnswer {
  readonly model: Pick<Model, 'ref' | 'provider' | 'id' | 'cost'> & {
    readonly endpoint: Pick<Endpoint, 'kind'>;
    readonly limit?: Model['limit'];
  };
  readonly byok: boolean;
}

/** Bytes of a request's JSON, and characters of an answer, for one token. */
const A_TOKEN = 4;
/** Bytes of an event with one token, for an answer whose text is nowhere that we know. */
const AN_EVENT = 200;

/** Counts an answer: money at once, the ledger's row with the next batch. */
export function meter(deps: GatewayDeps, context: RequestContext, caller: Caller, metered: Metered): void {
  const { model, byok, outcome, firstByteMs } = metered;
  const { usage, estimated } = usageOf(deps, context, metered);
  const cost = costOf(deps, context, metered, usage, estimated);
  deps.ledger.record({
    at: Date.now(),
    requestId: context.id,
    key: caller.principal.name,
    account: caller.principal.account,
    organization: caller.organization?.id,
    endpoint: context.facts.route ?? context.path,
    model: model.ref,
    byok,
    outcome,
    usage,
    cost,
    estimated,
    durationMs: performance.now() - context.startedAt,
    firstByteMs,
  });
  deps.metrics.answer(model.ref, usage, cost, firstByteMs / 1000);
}

interface Counted {
  readonly usage: Usage;
  /** Not, or not all, as the upstream said it. */
  readonly estimated: boolean;
}

function usageOf(deps: GatewayDeps, context: RequestContext, metered: Metered): Counted {
  const { usage: said, outcome, characters, model } = metered;
  const known = said && cappedUsage(said, metered);
  if (known !== said) {
    const fields = {
      input: said?.input,
      output: said?.output,
      counted_input: known?.input,
      counted_output: known?.output,
    };
    deps.log.warn({ id: context.id, model: model.ref, ...fields }, 'usage capped: the request cannot cause so much');
  }
  // A count of 0 for what was read and written is none.
  const silent = known === undefined || known.input === 0 || (known.output === 0 && characters > 0);
  if (!silent && outcome === 'complete') return { usage: known, estimated: known !== said };
  return { usage: atLeast(known, metered.estimate ?? estimate(metered)), estimated: true };
}

/** What is known goes before the estimate, but an answer that broke off may have said its start alone. */
function atLeast(known: Usage | undefined, guessed: Usage): Usage {
  if (known === undefined) return guessed;
  const input = known.input === 0 ? guessed.input : known.input;
  return { ...known, input, output: Math.max(known.output, guessed.output) };
}

function estimate({ sent, received, characters }: Metered): Usage {
  const output = characters > 0 ? characters / A_TOKEN : received / AN_EVENT;
  return { input: Math.ceil(sent / A_TOKEN), output: Math.ceil(output) };
}

/**
 * USD; undefined when no price is known. What OpenRouter says that it charged counts before our prices; else the price
 * is that of the model, or of the one that answered in its place where that one is dearer (docs/gateway.md).
 */
function costOf(
  deps: GatewayDeps,
  context: RequestContext,
  { model, answeredBy }: Metered,
  usage: Usage,
  estimated: boolean,
): number | undefined {
  const own = model.cost && priceOf(model.cost, usage);
  if (model.endpoint.kind === 'openrouter' && usage.cost !== undefined) {
    const charged = cappedCost(usage.cost, usage);
    if (charged < usage.cost) {
      const fields = { id: context.id, model: model.ref, cost: usage.cost, counted_cost: charged };
      deps.log.warn(fields, 'usage capped: the request cannot cost so much');
    }
    return estimated ? Math.max(charged, own ?? 0) : charged;
  }
  if (answeredBy === undefined || isSameModel(model.id, answeredBy)) return own;
  const other = deps.registry().costOf(model.provider, answeredBy);
  return other === undefined ? own : Math.max(own ?? 0, priceOf(other, usage));
}

/** Vendors answer with the dated name of a model: `gpt-4o-2024-08-06` for `gpt-4o`, `…-2411` for `…-latest`. */
function isSameModel(asked: string, answered: string): boolean {
  if (asked === answered) return true;
  const base = asked.replace(/-latest$/, '');
  return answered === base || (answered.startsWith(base) && /^[-@:]\d{4}/.test(answered.slice(base.length)));
}
