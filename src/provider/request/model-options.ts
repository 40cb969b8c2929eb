import { mergeDeep } from '../../base/json.ts';
import type { Model } from '../../catalog/model.ts';
import { revealOptions } from '../../config/settings/secret.ts';
import { msg, SvcError } from '../../wire/errors/svc-error.ts';

/** Merges the model's `options` and the variant's fields into the body. They may replace any field except `model`. */
export function withOptions(model: Model, body: Record<string, unknown>, variant?: string): Record<string, unknown> {
  const chosen = variant === undefined ? undefined : model.variants.get(variant);
  if (variant !== undefined && chosen === undefined) {
    const known = [...model.variants.keys()].join(', ') || 'none';
    throw new SvcError({
      errorType: 'invalid_request',
      message: msg('{0} has no variant "{1}" (it has: {2}).', model.ref, variant, known),
      param: 'variant',
    });
  }
  const { disabled: _, ...fields } = chosen ?? {};
  const optioned = withFields(body, revealOptions(model.options));
  return chosen === undefined ? optioned : withFields(optioned, revealOptions(fields));
}

/**
 * A limit of the answer in the fields replaces that of the body, also under the other name: OpenAI and Azure refuse a
 * request with both ("Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported").
 */
function withFields(body: Record<string, unknown>, fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const merged = mergeDeep(body, fields);
  const limit = [fields.max_completion_tokens, fields.max_tokens].find((value) => typeof value === 'number');
  const hasBoth = typeof merged.max_tokens === 'number' && typeof merged.max_completion_tokens === 'number';
  if (limit === undefined || !hasBoth) return merged;
  const { max_tokens: _, ...rest } = merged;
  return { ...rest, max_completion_tokens: limit };
}
