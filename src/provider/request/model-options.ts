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
  const optioned = mergeDeep(body, revealOptions(model.options));
  if (chosen === undefined) return optioned;
  const { disabled: _, ...fields } = chosen;
  return mergeDeep(optioned, revealOptions(fields));
}
