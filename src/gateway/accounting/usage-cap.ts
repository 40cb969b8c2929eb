import type { Model } from '../../catalog/model.ts';
import type { Usage } from '../../wire/event.ts';

/** What bounds the tokens of a request. */
export interface Bounds {
  /** Bytes of the request. */
  readonly sent: number;
  /** Bytes of the answer. */
  readonly received: number;
  readonly model: { readonly limit?: Model['limit'] };
}

/** Of a model whose limits are not known: as many as most take. */
const UNKNOWN_LIMIT = { context: 200_000, output: 100_000 };
/** USD for a million tokens, beyond the dearest model; and USD for tools that the vendor runs. */
const MOST_PER_MILLION = 1_000;
const MOST_FOR_TOOLS = 1;

/**
 * The usage, or less where a provider says more than the request can cause: no text has more tokens than bytes, and
 * what the bytes do not show (files and images by address, results of the vendor's tools, hidden reasoning) is within
 * the model's limits. The same object where nothing is cut.
 */
export function cappedUsage(usage: Usage, { sent, received, model: { limit } }: Bounds): Usage {
  const input = Math.min(usage.input, sent + (limit?.context || UNKNOWN_LIMIT.context));
  const output = Math.min(usage.output, received + (limit?.output || UNKNOWN_LIMIT.output));
  const { cacheRead = 0, cacheWrite = 0, reasoning = 0 } = usage;
  const read = Math.min(cacheRead, input);
  const written = Math.min(cacheWrite, input - read);
  const thought = Math.min(reasoning, output);
  const same = [
    usage.input - input,
    usage.output - output,
    cacheRead - read,
    cacheWrite - written,
    reasoning - thought,
  ];
  if (same.every((difference) => difference === 0)) return usage;
  return {
    ...usage,
    input,
    output,
    ...(usage.cacheRead === undefined ? {} : { cacheRead: read }),
    ...(usage.cacheWrite === undefined ? {} : { cacheWrite: written }),
    ...(usage.reasoning === undefined ? {} : { reasoning: thought }),
  };
}

/** What a provider says that it charged, or what so many tokens can cost at most. @param usage already capped. */
export function cappedCost(cost: number, usage: Usage): number {
  return Math.min(cost, ((usage.input + usage.output) * MOST_PER_MILLION) / 1_000_000 + MOST_FOR_TOOLS);
}
