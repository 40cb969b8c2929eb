import type { Model } from '../../catalog/model.ts';
import type { Conversation } from '../../wire/conversation.ts';
import type { Format } from '../../wire/format.ts';
import { withTextCalls } from '../../wire/tools/text-calls.ts';
import { rulesOf } from '../profile/profiles.ts';

type CallingModel = Pick<Model, 'endpoint' | 'id' | 'provider'>;

/** The format with calls in the text of an answer as calls, if the model's upstream may send them and tools are offered. */
export function readTextCalls(
  model: CallingModel,
  format: Format,
  { tools, toolChoice }: Pick<Conversation, 'tools' | 'toolChoice'>,
): Format {
  if (tools.length === 0 || toolChoice?.type === 'none' || !hasTextCalls(model)) return format;
  return withTextCalls(format, tools);
}

/** Whether answers that are forwarded in their own format must be read. The option of the provider overrides the profile. */
export function hasTextCalls(model: CallingModel): boolean {
  return model.endpoint.toolCallsInText ?? rulesOf(model).toolCallsInText;
}
