import { defined, requestJson } from '../base/json.ts';
import type { Model } from '../catalog/model.ts';
import { writeEditPrompt } from '../wire/edit/edit-dialect.ts';
import type { EditDialect, EditPrompt, EditRequest } from '../wire/edit/edit-request.ts';
import { asSvcError } from '../wire/errors/svc-error.ts';
import type { Event } from '../wire/event.ts';
import { FimReader, readFimAnswer } from '../wire/fim/fim-answer.ts';
import { withOllamaOptions } from '../wire/ollama-options.ts';
import { type CompleteCodeOptions, FIM_RETRY } from './complete-code.ts';
import { converse } from './converse.ts';
import { upstreamHeaders } from './request/headers.ts';
import { withOptions } from './request/model-options.ts';
import { joinURL, requireBase, upstreamURL, withoutVersion } from './request/url.ts';
import { sendAndStream } from './send-and-stream.ts';

export interface PredictEditOptions extends CompleteCodeOptions {
  /** Of the answer. */
  readonly maxTokens: number;
}

/**
 * Asks a model for the next edit. The text of all events, read with `readEditAnswer`, is the answer; it begins with the
 * prefill of the prompt. Ends with exactly one `finish` or one `error`.
 */
export async function* predictEdit(
  model: Model,
  dialect: EditDialect,
  request: EditRequest,
  options: PredictEditOptions,
): AsyncGenerator<Event> {
  let prompt: EditPrompt;
  try {
    prompt = writeEditPrompt(dialect, request);
  } catch (thrown) {
    yield { type: 'error', error: asSvcError(thrown) };
    return;
  }
  if (prompt.transport === 'chat') return yield* askChat(model, prompt, options);
  if (prompt.prefill !== '') yield { type: 'text', part: 0, text: prompt.prefill };
  yield* askCompletions(model, prompt, options);
}

async function* askChat(model: Model, prompt: EditPrompt, options: PredictEditOptions): AsyncGenerator<Event> {
  const { maxTokens, stream: _, ...rest } = options;
  const conversation = {
    model: model.id,
    system: [{ type: 'text' as const, text: prompt.system ?? '' }],
    turns: [{ role: 'user' as const, parts: [{ type: 'text' as const, text: prompt.text }] }],
    tools: [],
    sampling: model.temperature ? { temperature: 0 } : {},
    maxTokens,
    stream: true,
  };
  for await (const event of converse(model, conversation, rest)) {
    if (event.type !== 'reasoning' && event.type !== 'reasoning-seal') yield event;
  }
}

async function* askCompletions(model: Model, prompt: EditPrompt, options: PredictEditOptions): AsyncGenerator<Event> {
  const { endpoint } = model;
  const ollama = endpoint.kind === 'ollama' && prompt.transport === 'text';
  let url: string;
  let headers: Record<string, string>;
  let body: string;
  try {
    url = editURL(model, prompt);
    headers = upstreamHeaders(endpoint, undefined, options.apiKey);
    body = requestJson(
      ollama
        ? withOllamaOptions(withOptions(model, ollamaBody(model, prompt, options)))
        : withOptions(model, textBody(model, prompt, options)),
    );
  } catch (thrown) {
    yield { type: 'error', error: asSvcError(thrown) };
    return;
  }
  yield* sendAndStream(
    {
      provider: model.provider,
      withheld: endpoint.withheld !== undefined,
      url,
      headers,
      body,
      timeout: endpoint.timeout,
      chunkTimeout: endpoint.chunkTimeout,
      // Mercury's endpoint does not stream.
      stream: prompt.transport === 'text',
      framing: ollama ? 'ndjson' : 'sse',
      reader: () => new FimReader(),
      whole: readFimAnswer,
    },
    { ...options, retry: options.retry ?? FIM_RETRY },
  );
}

function editURL({ endpoint }: Model, prompt: EditPrompt): string {
  if (prompt.transport === 'edit') {
    return endpoint.kind === 'svc'
      ? joinURL(withoutVersion(requireBase(endpoint)), '/edit/completions')
      : upstreamURL(endpoint, '/edit/completions');
  }
  if (endpoint.kind === 'ollama') return joinURL(withoutVersion(requireBase(endpoint)), '/api/generate');
  return upstreamURL(endpoint, '/completions');
}

function textBody({ id }: Model, { transport, text, stop }: EditPrompt, { maxTokens }: PredictEditOptions) {
  if (transport === 'edit') return { model: id, messages: [{ role: 'user', content: text }], max_tokens: maxTokens };
  const options = { stream: true, stream_options: { include_usage: true } };
  return {
    model: id,
    prompt: text,
    max_tokens: maxTokens,
    temperature: 0,
    ...(stop.length > 0 ? { stop } : {}),
    ...options,
  };
}

/** `raw`: the prompt is sent without the template of the model. */
function ollamaBody({ id }: Model, { text, stop }: EditPrompt, { maxTokens }: PredictEditOptions) {
  const options = defined({ num_predict: maxTokens, temperature: 0, stop: stop.length > 0 ? stop : undefined });
  return { model: id, prompt: text, raw: true, stream: true, options };
}
