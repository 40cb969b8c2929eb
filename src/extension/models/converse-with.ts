import { outputCap } from '../../catalog/limits.ts';
import type { Converse } from '../../chat/session/session-deps.ts';
import type { Transport } from '../../provider/transport/transport.ts';
import type { Models } from './editor-models.ts';

/** Sends a conversation to a model. The chat formats are loaded with the first message: completions do not need them. */
export function converseWith(models: Models, transport: Transport): Converse {
  const { cap } = outputCap(process.env);
  return async function* (model, conversation, signal, choices) {
    const { converse } = await import('../../provider/converse.ts');
    const options = { transport, signal, outputCap: cap, served: models.served, ...choices };
    yield* models.runningChats.during(model, converse(model, conversation, options));
  };
}
