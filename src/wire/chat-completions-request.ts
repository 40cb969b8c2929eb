import type {
  AssistantPart,
  AudioPart,
  CacheControl,
  Conversation,
  FilePart,
  ImagePart,
  Media,
  ReasoningPart,
  ResponseFormat,
  TextPart,
  Tool,
  ToolCallPart,
  ToolChoice,
  ToolResultPart,
  Turn,
  UserPart,
} from './conversation.ts';
import { invalidRequest, unsupportedField } from './errors.ts';
import { defined, isObject, type JsonObject, listOf, numberOf, objectOf, textOf } from './json.ts';
import { mediaOfUrl } from './media.ts';
import { sealsOfDetails } from './reasoning-details.ts';
import {
  optionalBoolean,
  optionalCount,
  optionalNumber,
  optionalString,
  requiredList,
  requiredModel,
  restOf,
} from './request-fields.ts';

/** Fields that `Conversation` has a word for; the rest is carried as `extra`. */
const KNOWN = new Set(
  `model messages stream stream_options max_tokens max_completion_tokens temperature top_p top_k frequency_penalty
  presence_penalty seed stop tools tool_choice parallel_tool_calls response_format reasoning_effort reasoning user
  metadata n functions function_call modalities`.split(/\s+/),
);

/** @throws GatewayError 400 that names the field. */
export function readChatRequest(body: JsonObject): Conversation {
  const model = requiredModel(body);
  const messages = requiredList(body, 'messages');
  refuseUncarried(body);
  const { system, turns } = readMessages(messages);
  const tools = listOf(body.tools).map((tool, index) => readTool(tool, `tools.${index}`));
  const extra = restOf(body, KNOWN);
  return defined({
    model,
    system,
    turns,
    tools,
    toolChoice: readToolChoice(body.tool_choice),
    parallelToolCalls: optionalBoolean(body, 'parallel_tool_calls'),
    sampling: defined({
      temperature: optionalNumber(body, 'temperature', 0, 2),
      topP: optionalNumber(body, 'top_p', 0, 1),
      topK: optionalNumber(body, 'top_k', -1, Number.MAX_SAFE_INTEGER),
      frequencyPenalty: optionalNumber(body, 'frequency_penalty', -2, 2),
      presencePenalty: optionalNumber(body, 'presence_penalty', -2, 2),
      seed: optionalNumber(body, 'seed', -Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
      stop: readStop(body.stop),
    }),
    maxTokens: optionalCount(body, 'max_completion_tokens') ?? optionalCount(body, 'max_tokens'),
    responseFormat: readResponseFormat(body.response_format),
    reasoning: readReasoning(body),
    stream: optionalBoolean(body, 'stream') ?? false,
    user: optionalString(body, 'user'),
    metadata: readMetadata(body.metadata),
    extra: extra && { 'chat-completions': extra },
  });
}

function refuseUncarried(body: JsonObject): void {
  if (numberOf(body.n) !== undefined && body.n !== 1) {
    throw unsupportedField('n', 'Only one choice can be carried to this model; leave `n` out or send 1.');
  }
  for (const field of ['functions', 'function_call']) {
    if (body[field] !== undefined && body[field] !== null) {
      throw unsupportedField(field, `\`${field}\` is not supported; use \`tools\` and \`tool_choice\`.`);
    }
  }
  const modalities = listOf(body.modalities).filter((modality) => modality !== 'text');
  if (modalities.length > 0) throw unsupportedField('modalities', 'Only text output can be carried to this model.');
}

function readMetadata(value: unknown): Record<string, string> | undefined {
  if (!isObject(value)) return undefined;
  return Object.fromEntries(Object.entries(value).map(([key, text]) => [key, String(text)]));
}

function readStop(value: unknown): readonly string[] | undefined {
  if (typeof value === 'string') return [value];
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value) || !value.every((stop) => typeof stop === 'string')) {
    throw invalidRequest('stop', '`stop` must be a string or a list of strings.');
  }
  return value;
}

function readReasoning(body: JsonObject): Conversation['reasoning'] {
  const asked = objectOf(body.reasoning);
  const effort = textOf(body.reasoning_effort) ?? textOf(asked.effort);
  const budgetTokens = numberOf(asked.max_tokens);
  const mode =
    asked.enabled === false ? ('disabled' as const) : asked.enabled === true ? ('enabled' as const) : undefined;
  if (effort === undefined && budgetTokens === undefined && mode === undefined) return undefined;
  return defined({ effort, budgetTokens, mode });
}

function readResponseFormat(value: unknown): ResponseFormat | undefined {
  if (value === undefined || value === null) return undefined;
  const format = objectOf(value);
  if (format.type === 'text') return { type: 'text' };
  if (format.type === 'json_object') return { type: 'json' };
  const schema = objectOf(format.json_schema);
  if (format.type === 'json_schema' && isObject(schema.schema)) {
    return defined({
      type: 'json-schema' as const,
      name: textOf(schema.name) ?? 'response',
      schema: schema.schema,
      description: textOf(schema.description),
      strict: optionalBoolean(schema, 'strict'),
    });
  }
  throw invalidRequest('response_format', '`response_format` must be text, json_object, or json_schema with a schema.');
}

function readTool(value: unknown, at: string): Tool {
  const tool = objectOf(value);
  const definition = objectOf(tool.function);
  const name = textOf(definition.name);
  if (tool.type !== 'function' && tool.type !== undefined) {
    throw unsupportedField(`${at}.type`, `Tools of type "${String(tool.type)}" can't be carried to this model.`);
  }
  if (name === undefined) throw invalidRequest(`${at}.function.name`, 'A tool needs a name.');
  return defined({
    name,
    description: textOf(definition.description),
    parameters: isObject(definition.parameters) ? definition.parameters : { type: 'object', properties: {} },
    strict: optionalBoolean(definition, 'strict'),
    cacheControl: readCacheControl(tool),
  });
}

function readToolChoice(value: unknown): ToolChoice | undefined {
  if (value === undefined || value === null) return undefined;
  if (value === 'none' || value === 'auto' || value === 'required') return { type: value };
  const name = textOf(objectOf(objectOf(value).function).name);
  if (name !== undefined) return { type: 'tool', name };
  throw invalidRequest('tool_choice', '`tool_choice` must be "none", "auto", "required" or name a function.');
}

/** Anthropic's breakpoint, which several Chat Completions vendors accept on parts and tools. */
export function readCacheControl(value: JsonObject): CacheControl | undefined {
  const control = value.cache_control;
  if (!isObject(control) || control.type !== 'ephemeral') return undefined;
  return defined({ type: 'ephemeral' as const, ttl: textOf(control.ttl) });
}

function readMessages(messages: readonly unknown[]): { system: TextPart[]; turns: Turn[] } {
  const system: TextPart[] = [];
  const turns: Turn[] = [];
  let results: ToolResultPart[] | undefined;
  messages.forEach((value, index) => {
    const at = `messages.${index}`;
    if (!isObject(value)) throw invalidRequest(at, 'A message must be an object.');
    if (value.role === 'tool') {
      const result = readToolMessage(value, at);
      if (results) results.push(result);
      else {
        results = [result];
        turns.push({ role: 'user', parts: results });
      }
      return;
    }
    results = undefined;
    const name = textOf(value.name);
    switch (value.role) {
      case 'system':
      case 'developer': {
        const parts = readTextParts(value.content, `${at}.content`);
        if (turns.length === 0) system.push(...parts);
        else turns.push({ role: 'system', parts });
        break;
      }
      case 'user':
        turns.push(defined({ role: 'user' as const, parts: readUserParts(value.content, `${at}.content`), name }));
        break;
      case 'assistant':
        turns.push(defined({ role: 'assistant' as const, parts: readAssistantParts(value, at), name }));
        break;
      default:
        throw invalidRequest(`${at}.role`, 'A message needs a role: system, user, assistant or tool.');
    }
  });
  return { system, turns };
}

function readToolMessage(message: JsonObject, at: string): ToolResultPart {
  const id = textOf(message.tool_call_id);
  if (id === undefined) throw invalidRequest(`${at}.tool_call_id`, 'A tool message needs the id of its call.');
  const content = readContent(message.content, `${at}.content`).filter((part) => part.type !== 'audio');
  return { type: 'tool-result', id, content };
}

function readTextParts(content: unknown, at: string): TextPart[] {
  return readContent(content, at).map((part, index) => {
    if (part.type !== 'text') throw unsupportedField(`${at}.${index}.type`, 'A system message can hold text only.');
    return part;
  });
}

function readUserParts(content: unknown, at: string): UserPart[] {
  return readContent(content, at);
}

function readContent(content: unknown, at: string): (TextPart | ImagePart | FilePart | AudioPart)[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (content === null || content === undefined) return [];
  if (!Array.isArray(content)) throw invalidRequest(at, 'Content must be a string or a list of parts.');
  return content.map((part, index) => readContentPart(objectOf(part), `${at}.${index}`));
}

function readContentPart(part: JsonObject, at: string): TextPart | ImagePart | FilePart | AudioPart {
  const cacheControl = readCacheControl(part);
  switch (part.type) {
    case 'text':
      if (typeof part.text !== 'string') throw invalidRequest(`${at}.text`, 'A text part needs a text.');
      return defined({ type: 'text' as const, text: part.text, cacheControl });
    case 'image_url': {
      const image = isObject(part.image_url) ? part.image_url : { url: part.image_url };
      const url = textOf(image.url);
      if (url === undefined) throw invalidRequest(`${at}.image_url.url`, 'An image needs a URL.');
      return defined({ type: 'image' as const, media: mediaOfUrl(url), detail: textOf(image.detail), cacheControl });
    }
    case 'file':
      return defined({ ...readFile(objectOf(part.file), at), cacheControl });
    case 'input_audio': {
      const audio = objectOf(part.input_audio);
      const format = textOf(audio.format) ?? 'wav';
      const data = textOf(audio.data);
      if (data === undefined) throw invalidRequest(`${at}.input_audio.data`, 'A recording needs its data.');
      return { type: 'audio', format, media: { kind: 'data', mediaType: `audio/${format}`, base64: data } };
    }
    default:
      throw unsupportedField(`${at}.type`, `Content of type "${String(part.type)}" can't be carried to this model.`);
  }
}

function readFile(file: JsonObject, at: string): FilePart {
  const id = textOf(file.file_id);
  const data = textOf(file.file_data);
  if (id === undefined && data === undefined) throw invalidRequest(`${at}.file`, 'A file needs data or an id.');
  const media: Media = data === undefined ? { kind: 'id', id: id ?? '' } : mediaOfUrl(data);
  return defined({ type: 'file' as const, media, filename: textOf(file.filename) });
}

function readAssistantParts(message: JsonObject, at: string): AssistantPart[] {
  const parts: AssistantPart[] = [];
  const reasoning = readReasoningPart(message);
  if (reasoning) parts.push(...reasoning);
  if (typeof message.content === 'string') {
    if (message.content !== '') parts.push({ type: 'text', text: message.content });
  } else {
    listOf(message.content).forEach((value, index) => {
      const part = objectOf(value);
      if (part.type === 'refusal' && typeof part.refusal === 'string')
        parts.push({ type: 'refusal', text: part.refusal });
      else {
        const read = readContentPart(part, `${at}.content.${index}`);
        if (read.type !== 'text')
          throw unsupportedField(`${at}.content.${index}.type`, 'An assistant message holds text.');
        parts.push(read);
      }
    });
  }
  const refusal = textOf(message.refusal);
  if (refusal !== undefined) parts.push({ type: 'refusal', text: refusal });
  listOf(message.tool_calls).forEach((value, index) => {
    parts.push(readToolCall(objectOf(value), `${at}.tool_calls.${index}`));
  });
  return parts;
}

/** A call as the format writes it; arguments that came as an object (Ollama, older vLLM) become text. */
export function readToolCall(call: JsonObject, at: string): ToolCallPart {
  const definition = objectOf(call.function);
  const name = textOf(definition.name);
  const id = textOf(call.id);
  if (name === undefined) throw invalidRequest(`${at}.function.name`, 'A tool call needs the name of its function.');
  if (id === undefined) throw invalidRequest(`${at}.id`, 'A tool call needs an id.');
  const args = definition.arguments;
  const text = typeof args === 'string' ? args : args === undefined || args === null ? '' : JSON.stringify(args);
  return { type: 'tool-call', id, name, arguments: text };
}

function readReasoningPart(message: JsonObject): ReasoningPart[] | undefined {
  const text = textOf(message.reasoning_content) ?? textOf(message.reasoning);
  const details = listOf(message.reasoning_details);
  if (details.length > 0) return sealsOfDetails(details, text);
  return text === undefined ? undefined : [{ type: 'reasoning', text, seals: [] }];
}
