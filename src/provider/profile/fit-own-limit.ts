import { finiteNumber, type JsonObject, objectOrEmpty } from '../../base/json.ts';
import type { Model } from '../../catalog/model.ts';

/** The limits of output tokens in each format. */
const FIELDS = ['max_tokens', 'max_completion_tokens', 'max_output_tokens'] as const;

/**
 * Lowers a limit above the model's own in a body that the client wrote for this format: a pool or a fallback may answer
 * with a smaller model than the client knows. A thinking budget stays below it. Returns the same object if nothing
 * changes.
 */
export function fitOwnLimit({ limit }: Pick<Model, 'limit'>, body: JsonObject): JsonObject {
  if (limit.output <= 0) return body;
  const high = FIELDS.filter((field) => (finiteNumber(body[field]) ?? 0) > limit.output);
  if (high.length === 0) return body;
  const lowered = { ...body, ...Object.fromEntries(high.map((field) => [field, limit.output])) };
  const thinking = objectOrEmpty(body.thinking);
  const budget = finiteNumber(thinking.budget_tokens);
  if (budget === undefined || budget < limit.output) return lowered;
  return { ...lowered, thinking: { ...thinking, budget_tokens: Math.floor(limit.output * 0.95) } };
}
