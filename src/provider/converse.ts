import { isObject, requestJson } from '../base/json.ts';
import type { Model } from '../catalog/model.ts';
import type { Conversation } from '../wire/conversation.ts';
import { asSvcError } from '../wire/errors/svc-error.ts';
import type { Event } from '../wire/event.ts';
import { conversationRequest, type RequestChoices } from './request/conversation-request.ts';
import { type SendOptions, sendAndStream } from './send-and-stream.ts';

export interface ConverseOptions extends SendOptions, RequestChoices {}

/**
 * Sends a conversation to a model. Streams if `conversation.stream` is true; the events are the same either
 * way. Always ends with exactly one `finish` or one `error`: an invalid request also becomes an `error` event.
 */
export async function* converse(
  model: Model,
  conversation: Conversation,
  options: ConverseOptions,
): AsyncGenerator<Event> {
  let request: ReturnType<typeof conversationRequest>;
  try {
    request = conversationRequest(model, conversation, options);
  } catch (thrown) {
    yield { type: 'error', error: asSvcError(thrown) };
    return;
  }
  const { format, url, headers, body } = request;
  const { timeout, chunkTimeout } = model.endpoint;
  yield* sendAndStream(
    {
      provider: model.provider,
      withheld: model.endpoint.withheld !== undefined,
      url,
      headers,
      body: requestJson(body),
      timeout,
      chunkTimeout,
      // An option of the model may override it (`"stream": false` for servers without streaming).
      stream: body.stream === true,
      framing: 'sse',
      reader: format.streamReader,
      whole: (answer) => (isObject(answer) ? format.readAnswer(answer) : []),
    },
    options,
  );
}
