import type { Model } from '../../catalog/model.ts';
import type { Format } from '../../wire/format.ts';
import { type StartsInside, withReasoningTags } from '../../wire/reasoning-tags.ts';
import { rulesOf } from '../profile/profiles.ts';

type ReasoningModel = Pick<Model, 'endpoint' | 'id' | 'provider' | 'reasoning'>;

/** The format with reasoning in tags as reasoning, if the model's upstream may send it. @param reasons the model is to reason. */
export function splitReasoning(model: ReasoningModel, format: Format, reasons: boolean): Format {
  const how = tagsOf(model);
  if (how === 'none') return format;
  return withReasoningTags(format, startsInside(how, model, reasons), how === 'channels');
}

/** Whether answers that are forwarded in their own format must be read, to split their reasoning. */
export function hasReasoningText(model: ReasoningModel): boolean {
  const how = tagsOf(model);
  return how === 'split' || how === 'channels' || how === 'starts-inside';
}

type Tags = ReturnType<typeof rulesOf>['reasoningTags'];

/** The option of the provider overrides the profile. */
function tagsOf(model: ReasoningModel): Tags {
  const { reasoningTags } = model.endpoint;
  if (reasoningTags === false) return 'none';
  const known = rulesOf(model).reasoningTags;
  return reasoningTags === true && (known === 'none' || known === 'translated') ? 'split' : known;
}

/** A model that reasons, on a server that does not separate reasoning, may start inside it. */
function startsInside(how: Tags, { reasoning }: ReasoningModel, reasons: boolean): StartsInside {
  if (!reasons) return 'no';
  if (how === 'starts-inside') return 'probably';
  return how !== 'translated' && reasoning ? 'probably' : 'no';
}
