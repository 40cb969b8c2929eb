import type { Model } from '../../catalog/model.ts';
import type { Usage } from '../../wire/event.ts';

/** Values that limit the tokens of a request. */
export interface Bounds {
  /** Bytes of the request. */
  readonly sent: number;
  /** Bytes of the answer. */
  readonly received: number;
  readonly model: { readonly limit?: Model['limit'] };
}

/** For a model whose limits are not known. Most models have these limits or lower ones. */
export const UNKNOWN_LIMIT = { context: 200_000, output: 100_000 };
/** USD per million tokens, more than the most expensive model costs; and USD for tools that the vendor runs. */
const MAX_PER_MILLION = 1_000;
const MAX_FOR_TOOLS = 1;

/**
 * Limits the reported usage to the most that the request can cause. A text has at most as many tokens as bytes. Content that
 * is not in the bytes (files and images by URL, results of the vendor's tools, hidden reasoning) is within the
 * model's limits. Returns the same object if nothing changes.
 */
export function cappedUsage(usage: Usage, { sent, received, model: { limit } }: Bounds): Usage {
  const input = Math.min(usage.input, sent + (limit?.context || UNKNOWN_LIMIT.context));
  const output = Math.min(usage.output, received + (limit?.output || UNKNOWN_LIMIT.output));
  const { cacheRead = 0, cacheWrite = 0, cacheWrite1h = 0, reasoning = 0 } = usage;
  const { inputAudio = 0, outputAudio = 0, outputImage = 0 } = usage;
  const read = Math.min(cacheRead, input);
  const written = Math.min(cacheWrite, input - read);
  const writtenForHour = Math.min(cacheWrite1h, written);
  const thought = Math.min(reasoning, output);
  const heard = Math.min(inputAudio, input - read - written);
  const spoken = Math.min(outputAudio, output);
  const drawn = Math.min(outputImage, output - spoken);
  const same = [
    usage.input - input,
    usage.output - output,
    cacheRead - read,
    cacheWrite - written,
    cacheWrite1h - writtenForHour,
    reasoning - thought,
    inputAudio - heard,
    outputAudio - spoken,
    outputImage - drawn,
  ];
  if (same.every((difference) => difference === 0)) return usage;
  return {
    ...usage,
    input,
    output,
    ...(usage.cacheRead === undefined ? {} : { cacheRead: read }),
    ...(usage.cacheWrite === undefined ? {} : { cacheWrite: written }),
    ...(usage.cacheWrite1h === undefined ? {} : { cacheWrite1h: writtenForHour }),
    ...(usage.reasoning === undefined ? {} : { reasoning: thought }),
    ...(usage.inputAudio === undefined ? {} : { inputAudio: heard }),
    ...(usage.outputAudio === undefined ? {} : { outputAudio: spoken }),
    ...(usage.outputImage === undefined ? {} : { outputImage: drawn }),
  };
}

/** Limits the cost that a provider reports to the maximum cost of the tokens. @param usage already capped. */
export function cappedCost(cost: number, usage: Usage): number {
  return Math.min(cost, ((usage.input + usage.output) * MAX_PER_MILLION) / 1_000_000 + MAX_FOR_TOOLS);
}
