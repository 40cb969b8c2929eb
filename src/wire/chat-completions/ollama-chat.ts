import {
  arrayOrEmpty,
  defined,
  isObject,
  type JsonObject,
  nonEmptyString,
  objectOrEmpty,
  parseJson,
  tokenCount,
} from '../../base/json.ts';
import { msg, type SvcError, unsupportedField } from '../errors/svc-error.ts';
import type { Event } from '../event.ts';
import type { Format, Frame, StreamReader } from '../format.ts';
import { withOllamaOptions } from '../ollama-options.ts';
import { chatCompletions } from './format.ts';
import { ChatStreamReader } from './reader.ts';

/** Ollama's own chat. Its `/v1` ignores `num_ctx` and `keep_alive`, and cuts a prompt in silence. */
export const OLLAMA_CHAT_PATH = '/api/chat';

/**
 * Ollama's own API (github.com/ollama/ollama, docs/api.md) as a variant of Chat Completions, as Ollama itself treats it:
 * the request is written as one of Chat Completions and converted last (`writeOllamaChat`), and each line of an answer is
 * read as a chunk.
 */
export const ollamaChat: Format = {
  ...chatCompletions,
  path: OLLAMA_CHAT_PATH,
  framing: 'ndjson',
  streamReader: () => new OllamaReader(),
  readAnswer: (body) => {
    const reader = new OllamaReader();
    return [...reader.readLine(body), ...reader.end()];
  },
};

/**
 * Converts a body of Chat Completions. The prompt is never cut, and nothing of it is dropped during the answer.
 *
 * @param thinkValues of the model. Absent: the server does not state them.
 */
export function writeOllamaChat(body: JsonObject, thinkValues?: readonly unknown[]): Record<string, unknown> {
  const { stop, max_tokens, max_completion_tokens, truncate = false, shift = false } = body;
  const { options } = withOllamaOptions({
    ...body,
    num_predict: body.num_predict ?? max_completion_tokens ?? max_tokens,
    stop: typeof stop === 'string' ? [stop] : stop,
  });
  return defined({
    model: body.model,
    messages: writeMessages(arrayOrEmpty(body.messages).map(objectOrEmpty)),
    tools: body.tool_choice === 'none' ? undefined : body.tools,
    // Ollama streams by default.
    stream: body.stream === true,
    format: body.format ?? writeFormat(objectOrEmpty(body.response_format)),
    think: body.think ?? writeThink(body, thinkValues),
    keep_alive: body.keep_alive,
    truncate,
    shift,
    logprobs: body.logprobs,
    top_logprobs: body.top_logprobs,
    options,
  });
}

function writeFormat({ type, json_schema: named }: JsonObject): unknown {
  if (type === 'json_object') return 'json';
  return type === 'json_schema' ? objectOrEmpty(named).schema : undefined;
}

/** Where the server does not state it, only gpt-oss takes an effort. Others refuse one, and take whether they think. */
function writeThink({ model, reasoning_effort, reasoning }: JsonObject, values?: readonly unknown[]): unknown {
  const effort = nonEmptyString(reasoning_effort ?? objectOrEmpty(reasoning).effort);
  if (effort === undefined) return undefined;
  if (effort === 'none') return false;
  // The name of an unknown level has no effect, and a model that does not think refuses `true`.
  if (values !== undefined) return values.includes(effort) ? effort : values.includes(true) || undefined;
  if (!String(model).includes('gpt-oss')) return true;
  if (effort === 'minimal' || effort === 'low') return 'low';
  return effort === 'medium' ? 'medium' : 'high';
}

function writeMessages(messages: readonly JsonObject[]): readonly JsonObject[] {
  /** The tools of the calls so far, by id. */
  const tools = new Map<unknown, unknown>();
  return messages.map((message) => {
    const calls = arrayOrEmpty(message.tool_calls).map((value) => {
      const { id, function: definition } = objectOrEmpty(value);
      const { name, arguments: json } = objectOrEmpty(definition);
      tools.set(id, name);
      return { id, function: { name, arguments: callArguments(json) } };
    });
    const id = message.tool_call_id;
    return defined({
      role: message.role === 'developer' ? 'system' : message.role,
      ...writeContent(message.content),
      thinking: nonEmptyString(message.reasoning_content) ?? nonEmptyString(message.reasoning),
      tool_calls: calls.length > 0 ? calls : undefined,
      tool_call_id: id,
      tool_name: id === undefined ? undefined : tools.get(id),
    });
  });
}

/** Ollama has arguments as an object. */
function callArguments(json: unknown): JsonObject {
  return objectOrEmpty(typeof json === 'string' ? parseJson(json) : json);
}

/** The texts as one, and the images beside them. */
function writeContent(content: unknown): { readonly content: string; readonly images?: readonly string[] | undefined } {
  if (!Array.isArray(content)) return { content: typeof content === 'string' ? content : '' };
  const texts: string[] = [];
  const images: string[] = [];
  for (const part of content.map(objectOrEmpty)) {
    if (part.type === 'image_url') images.push(imageData(part.image_url));
    else if (typeof part.text === 'string') texts.push(part.text);
    else throw notTaken();
  }
  return { content: texts.join('\n'), images: images.length > 0 ? images : undefined };
}

function imageData(value: unknown): string {
  const url = String(isObject(value) ? value.url : value);
  const comma = url.startsWith('data:') ? url.indexOf(';base64,') : -1;
  if (comma === -1) throw notTaken();
  return url.slice(comma + ';base64,'.length);
}

function notTaken(): SvcError {
  return unsupportedField('messages', msg('Ollama takes text, and images as data, not by URL.'));
}

/** Reads the lines of a stream, or the one object of an answer that is not streamed, as chunks of Chat Completions. */
class OllamaReader implements StreamReader {
  readonly #reader = new ChatStreamReader();
  #calls = 0;
  #over = false;

  read(frame: Frame): readonly Event[] {
    if (this.#over) return [];
    const line = parseJson(frame.data);
    // The reader of Chat Completions reports it.
    return isObject(line) ? this.readLine(line) : this.#note(this.#reader.read(frame));
  }

  readLine(line: JsonObject): readonly Event[] {
    const events = this.#reader.readChunk(this.#chunk(line));
    return this.#note(line.done === true ? [...events, ...this.#reader.end()] : events);
  }

  end(): readonly Event[] {
    return this.#over ? [] : this.#note(this.#reader.end());
  }

  #note(events: readonly Event[]): readonly Event[] {
    this.#over ||= events.some(({ type }) => type === 'finish' || type === 'error');
    return events;
  }

  #chunk(line: JsonObject): JsonObject {
    const { content, thinking, tool_calls: calls } = objectOrEmpty(line.message);
    const created = Math.floor(Date.parse(String(line.created_at)) / 1000);
    return {
      error: line.error,
      model: line.model,
      created: Number.isFinite(created) ? created : undefined,
      choices: [
        {
          delta: { content, reasoning: thinking, tool_calls: arrayOrEmpty(calls).map((call) => this.#call(call)) },
          logprobs: Array.isArray(line.logprobs) ? { content: line.logprobs } : undefined,
          finish_reason: line.done === true ? (nonEmptyString(line.done_reason) ?? 'stop') : undefined,
        },
      ],
      usage: line.done === true ? readUsage(line) : undefined,
    };
  }

  /** Each call is whole. Ollama's own index is 0 for each in some versions, and older ones have no id. */
  #call(value: unknown): JsonObject {
    const { id, function: definition } = objectOrEmpty(value);
    const { name, arguments: input } = objectOrEmpty(definition);
    const index = this.#calls++;
    const json = typeof input === 'string' ? input : JSON.stringify(input ?? {});
    return { index, id: nonEmptyString(id) ?? `call_${index}`, type: 'function', function: { name, arguments: json } };
  }
}

/** A prompt that is in the cache as a whole has no count in some versions: usage is then not known. */
function readUsage({ prompt_eval_count, eval_count }: JsonObject): JsonObject | undefined {
  const prompt = tokenCount(prompt_eval_count);
  const output = tokenCount(eval_count);
  if (prompt === undefined) return undefined;
  return { prompt_tokens: prompt, completion_tokens: output ?? 0, total_tokens: prompt + (output ?? 0) };
}
