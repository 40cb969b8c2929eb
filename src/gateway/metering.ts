import type { Model } from '../catalog/model.ts';
import type { Usage } from '../wire/event.ts';
import type { Caller } from './caller.ts';
import type { Exchange } from './exchange.ts';
import type { GatewayParts } from './parts.ts';
import { priceOf } from './price.ts';

/** What is known of an answer when it is over. */
export interface Metered {
  readonly model: Pick<Model, 'ref' | 'cost'>;
  readonly byok: boolean;
  readonly usage: Usage | undefined;
  /** `complete`, `client-gone` or `failed`. */
  readonly outcome: string;
  /** Milliseconds from the upstream request to the first byte of its answer. */
  readonly firstByteMs: number;
  /** Bytes of the request and of the answer, for a guess where the upstream said nothing. */
  readonly bytes: { readonly sent: number; readonly received: number };
}

/** Bytes of JSON around one token: of a request, and of an answer's streamed event. */
const BYTES_A_TOKEN = { sent: 4, received: 200 };

/** Counts an answer: money at once, the ledger's row with the next batch. */
export function meter(parts: GatewayParts, exchange: Exchange, caller: Caller, metered: Metered): void {
  const { model, byok, outcome, firstByteMs } = metered;
  const estimated = metered.usage === undefined || outcome !== 'complete';
  const usage = estimated ? atLeast(metered.usage, guess(metered.bytes)) : metered.usage;
  const cost = model.cost === undefined ? undefined : priceOf(model.cost, usage);
  parts.ledger.record({
    at: Date.now(),
    requestId: exchange.id,
    key: caller.principal.name,
    account: caller.principal.account,
    organization: caller.organization?.id,
    endpoint: exchange.facts.route ?? exchange.path,
    model: model.ref,
    byok,
    outcome,
    usage,
    cost,
    estimated,
    durationMs: performance.now() - exchange.startedAt,
    firstByteMs,
  });
  parts.metrics.answer(model.ref, usage, cost, firstByteMs / 1000);
}

/** What is known goes before the guess, but an answer that broke off may have said its start alone. */
function atLeast(known: Usage | undefined, guessed: Usage): Usage {
  if (known === undefined) return guessed;
  return { ...known, output: Math.max(known.output, guessed.output) };
}

function guess({ sent, received }: Metered['bytes']): Usage {
  return { input: Math.ceil(sent / BYTES_A_TOKEN.sent), output: Math.ceil(received / BYTES_A_TOKEN.received) };
}
