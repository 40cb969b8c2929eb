import { isObject, requestJson } from '../base/json.ts';
import type { Model } from '../catalog/model.ts';
import type { Conversation } from '../wire/conversation.ts';
import { asSvcError } from '../wire/errors/svc-error.ts';
import type { Event } from '../wire/event.ts';
import { conversationRequest, type RequestChoices } from './request/conversation-request.ts';
import { type SendOptions, sendAndStream } from './send-and-stream.ts';

export interface ConverseOptions extends SendOptions, RequestChoices {}

/**
 * Has a model answer a conversation. Streams when `conversation.stream` says so, gives the same
 * events either way, and ends with exactly one `finish` or one `error`, whatever happens: a request
 * that can't be made is an `error` event too.
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
      url,
      headers,
      body: requestJson(body),
      timeout,
      chunkTimeout,
      // An option of the model may have switched it (`"stream": false` for servers that can't).
      stream: body.stream === true,
      framing: 'sse',
      reader: format.streamReader,
      whole: (answer) => (isObject(answer) ? format.readAnswer(answer) : []),
    },
    options,
  );
}
