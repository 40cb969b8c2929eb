import { isObject, requestJson } from '../base/json.ts';
import type { Model } from '../catalog/model.ts';
import type { Conversation } from '../wire/conversation.ts';
import { acceptedOutput } from '../wire/errors/output-limit.ts';
import { asSvcError, type SvcError } from '../wire/errors/svc-error.ts';
import type { Event } from '../wire/event.ts';
import { conversationRequest, type RequestChoices } from './request/conversation-request.ts';
import { versionedAlternative } from './request/url.ts';
import { type SendOptions, type StreamedRequest, sendAndStream } from './send-and-stream.ts';

export interface ConverseOptions extends SendOptions, RequestChoices {
  /** Finds the window that the model's server has now. Absent: the limits of the model hold. */
  readonly served?: (model: Model, signal: AbortSignal) => Promise<Model>;
}

/**
 * Sends a conversation to a model. Streams if `conversation.stream` is true; the events are the same either
 * way. Always ends with exactly one `finish` or one `error`: an invalid request also becomes an `error` event.
 */
export async function* converse(
  known: Model,
  conversation: Conversation,
  options: ConverseOptions,
): AsyncGenerator<Event> {
  let request: ReturnType<typeof conversationRequest>;
  let model = known;
  try {
    model = (await options.served?.(known, options.signal)) ?? known;
    request = conversationRequest(model, conversation, options);
  } catch (thrown) {
    yield { type: 'error', error: asSvcError(thrown) };
    return;
  }
  const { format, url, headers, body } = request;
  const { timeout, chunkTimeout } = model.endpoint;
  const sent: StreamedRequest = {
    provider: model.provider,
    withheld: model.endpoint.withheld !== undefined,
    url,
    headers,
    body: requestJson(body),
    timeout,
    chunkTimeout,
    // An option of the model may override it (`"stream": false` for servers without streaming).
    stream: body.stream === true,
    framing: format.framing ?? 'sse',
    reader: format.streamReader,
    whole: (answer) => (isObject(answer) ? format.readAnswer(answer) : []),
  };
  const other = versionedAlternative(model.endpoint, format.path);
  let moved = false;
  const corrected = (refusal: SvcError): StreamedRequest | undefined => {
    if (refusal.upstreamStatus === 404 || refusal.upstreamStatus === 405) {
      moved = other !== undefined;
      return other && { ...sent, url: other.url };
    }
    const smaller = withSmallerOutput(body, refusal);
    return smaller && { ...sent, body: requestJson(smaller) };
  };
  for await (const event of sendAndStream({ ...sent, corrected }, options)) {
    if (moved && event.type !== 'error') other?.worked();
    yield event;
  }
}

const OUTPUT_FIELDS = ['max_tokens', 'max_completion_tokens', 'max_output_tokens'];

/** The body with the output tokens that the refusal names as the model’s limit, if they were the reason. */
function withSmallerOutput(body: Record<string, unknown>, refusal: SvcError): Record<string, unknown> | undefined {
  const field = OUTPUT_FIELDS.find((name) => typeof body[name] === 'number');
  if (field === undefined || refusal.upstreamStatus !== 400) return undefined;
  const accepted = acceptedOutput(refusal.message, Number(body[field]));
  return accepted === undefined ? undefined : { ...body, [field]: accepted };
}
