import type { Model, ProviderKind } from '../../catalog/model.ts';
import { largerWindow } from '../../catalog/served-window.ts';
import { msg, SvcError } from '../../wire/errors/svc-error.ts';
import { mostTokens } from '../../wire/prompt-size.ts';

/** Servers that count the tokens of a prompt themselves and refuse one that is too large. Others cut it in silence. */
const REFUSING: ReadonlySet<ProviderKind> = new Set(['llamacpp', 'vllm']);

/**
 * Refuses a prompt that the server of the model would cut. The tokens are estimated, rather too many.
 *
 * @param prompt as for `mostTokens`.
 * @throws SvcError 400 context_length_exceeded.
 */
export function requireWindow(model: Model, prompt: readonly unknown[]): void {
  const { served, limit, endpoint } = model;
  if (served === undefined || REFUSING.has(endpoint.kind)) return;
  const tokens = mostTokens(prompt);
  if (tokens < limit.context) return;
  const command = largerWindow(model);
  throw new SvcError({
    errorType: 'context_length_exceeded',
    message: msg(
      'The request is larger than the model’s context window: the maximum context length is {0} tokens.',
      limit.context,
    ),
    context: { tokens, limit: limit.context },
    action:
      command === undefined
        ? msg('Shorten the conversation or choose a model with a larger context window.')
        : msg('Shorten the conversation, or start the server with a larger window: {0}', command),
  });
}
