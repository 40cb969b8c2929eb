import { isObject, requestJson } from '../base/json.ts';
import type { Endpoint, Model } from '../catalog/model.ts';
import { usesOllamaChat } from '../catalog/ollama-model.ts';
import { OLLAMA_CHAT_PATH, ollamaChat, writeOllamaChat } from '../wire/chat-completions/ollama-chat.ts';
import { asSvcError } from '../wire/errors/svc-error.ts';
import type { Event } from '../wire/event.ts';
import { FimReader, readFimAnswer } from '../wire/fim/fim-answer.ts';
import { type FimHttpRequest, OLLAMA_PATH, writeFimRequest } from '../wire/fim/fim-http-request.ts';
import type { FimDialect, FimRequest } from '../wire/fim/fim-request.ts';
import { cutAtStops } from '../wire/fim/stop-sequences.ts';
import { withOllamaOptions } from '../wire/ollama-options.ts';
import { upstreamHeaders } from './request/headers.ts';
import { withOptions } from './request/model-options.ts';
import { joinURL, notConfigured, requireBase, upstreamURL, withoutVersion } from './request/url.ts';
import type { RetryPolicy } from './retry.ts';
import { type SendOptions, sendAndStream } from './send-and-stream.ts';

export interface CompleteCodeOptions extends SendOptions {
  /** Default true. */
  readonly stream?: boolean;
  /** Instead of the endpoint's own key (BYOK). */
  readonly apiKey?: string;
}

/** A completion is outdated after a second, so only a connection that was closed while idle is tried again. */
export const FIM_RETRY: Partial<RetryPolicy> = { limit: 1, baseMs: 0, connectionOnly: true };

/**
 * Sends a FIM request to a model. All text belongs to part 0. Ends with exactly one `finish` or one `error`.
 * A `maxTokens` outside of 1 to 1000 is refused before anything is sent (spec 2.4).
 */
export async function* completeCode(
  model: Model,
  fimRequest: Omit<FimRequest, 'model'>,
  options: CompleteCodeOptions,
): AsyncGenerator<Event> {
  const { endpoint } = model;
  const stream = options.stream ?? true;
  let request: FimHttpRequest;
  let url: string;
  let headers: Record<string, string>;
  let body: string;
  let format: typeof ollamaChat | undefined;
  try {
    const dialect = endpoint.fim ?? findDialect(endpoint);
    request = writeFimRequest(dialect, { ...fimRequest, model: model.id }, stream, endpoint.kind === 'ollama');
    url = fimURL(endpoint, dialect, request.path);
    headers = upstreamHeaders(endpoint, undefined, options.apiKey);
    const sent = withOptions(model, request.body);
    if (dialect === 'chat' && usesOllamaChat(model)) {
      // Its `/v1` ignores the window.
      url = joinURL(withoutVersion(endpoint.fimURL ?? requireBase(endpoint)), OLLAMA_CHAT_PATH);
      format = ollamaChat;
      body = requestJson(writeOllamaChat(sent, model.served?.think));
    } else body = requestJson(request.path === OLLAMA_PATH ? withOllamaOptions(sent) : sent);
  } catch (thrown) {
    yield { type: 'error', error: asSvcError(thrown) };
    return;
  }
  const { timeout, chunkTimeout } = endpoint;
  const events = sendAndStream(
    {
      provider: model.provider,
      withheld: model.endpoint.withheld !== undefined,
      url,
      headers,
      body,
      timeout,
      chunkTimeout,
      stream,
      framing: format?.framing ?? request.framing,
      reader: format?.streamReader ?? (() => new FimReader()),
      whole: (answer) => (format && isObject(answer) ? format.readAnswer(answer) : readFimAnswer(answer)),
    },
    { ...options, retry: options.retry ?? FIM_RETRY },
  );
  yield* request.unsentStops.length > 0 ? cutAtStops(events, request.unsentStops) : events;
}

/** The provider's default dialect if none is configured. */
function findDialect({ kind }: Endpoint): FimDialect {
  switch (kind) {
    case 'svc':
    case 'mistral':
    case 'inception':
    case 'deepseek':
      return kind;
    case 'llamacpp':
      return 'llamacpp-infill';
    case 'ollama':
      return 'ollama-generate';
    default:
      return 'openai-completions';
  }
}

/** The URL for FIM requests: below the configured FIM URL, else the path that the vendor documents. */
export function fimURL(endpoint: Endpoint, dialect: FimDialect, path: string): string {
  if (endpoint.problem !== undefined) throw notConfigured(endpoint.problem);
  if (path === OLLAMA_PATH) return joinURL(withoutVersion(endpoint.fimURL ?? requireBase(endpoint)), path);
  if (endpoint.fimURL !== undefined) return joinURL(endpoint.fimURL, path);
  const base = requireBase(endpoint);
  switch (dialect) {
    case 'svc':
      return joinURL(withoutVersion(base), `/fim${path}`);
    case 'mistral':
    case 'inception':
      return upstreamURL(endpoint, `/fim${path}`);
    case 'deepseek':
      return joinURL(withoutVersion(base).replace(/\/beta$/, ''), `/beta${path}`);
    case 'llamacpp-infill':
      return joinURL(withoutVersion(base), path);
    default:
      return upstreamURL(endpoint, path);
  }
}
