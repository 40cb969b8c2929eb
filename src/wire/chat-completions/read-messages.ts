import {
  append,
  arrayOrEmpty,
  defined,
  isObject,
  type JsonObject,
  nonEmptyString,
  objectOrEmpty,
} from '../../base/json.ts';
import type {
  AssistantPart,
  AudioPart,
  FilePart,
  ImagePart,
  Media,
  ReasoningPart,
  TextPart,
  ToolCallPart,
  ToolResultPart,
  Turn,
  UserPart,
} from '../conversation.ts';
import { invalidRequest, unsupportedField } from '../errors/svc-error.ts';
import { parseMediaUrl } from '../media.ts';
import { readCacheControl } from '../request-fields.ts';
import { readReasoningDetails } from './reasoning-details.ts';

/** Splits messages into system text and turns. @throws SvcError 400 that names the field. */
export function readChatMessages(messages: readonly unknown[]): { system: TextPart[]; turns: Turn[] } {
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
    const name = nonEmptyString(value.name);
    switch (value.role) {
      case 'system':
      case 'developer': {
        const parts = markLast(readTextParts(value.content, `${at}.content`), value);
        if (turns.length === 0) append(system, parts);
        else turns.push({ role: 'system', parts });
        break;
      }
      case 'user':
        turns.push(
          defined({
            role: 'user' as const,
            parts: markLast(readUserParts(value.content, `${at}.content`), value),
            name,
          }),
        );
        break;
      case 'assistant':
        turns.push(
          defined({ role: 'assistant' as const, parts: markLast(readAssistantParts(value, at), value), name }),
        );
        break;
      default:
        throw invalidRequest(`${at}.role`, 'A message needs a role: system, user, assistant or tool.');
    }
  });
  return { system, turns };
}

function readToolMessage(message: JsonObject, at: string): ToolResultPart {
  const id = nonEmptyString(message.tool_call_id);
  if (id === undefined) throw invalidRequest(`${at}.tool_call_id`, 'A tool message needs the id of its call.');
  const content = readContent(message.content, `${at}.content`).filter((part) => part.type !== 'audio');
  return defined({ type: 'tool-result' as const, id, content, cacheControl: readCacheControl(message) });
}

/** A mark of the prompt cache on a message is that of its last part (@ai-sdk/openai-compatible, OpenRouter). */
function markLast<T extends UserPart | AssistantPart>(parts: T[], message: JsonObject): T[] {
  const cacheControl = readCacheControl(message);
  const last = parts.findLastIndex(({ type }) => type !== 'reasoning' && type !== 'refusal' && type !== 'audio');
  if (cacheControl === undefined || last < 0) return parts;
  return parts.map((part, index) => (index === last ? { ...part, cacheControl } : part));
}

function readTextParts(content: unknown, at: string): TextPart[] {
  return readContent(content, at).map((part, index) => {
    if (part.type !== 'text') throw unsupportedField(`${at}.${index}.type`, 'A system message can contain only text.');
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
  return content.map((part, index) => readContentPart(objectOrEmpty(part), `${at}.${index}`));
}

function readContentPart(part: JsonObject, at: string): TextPart | ImagePart | FilePart | AudioPart {
  const cacheControl = readCacheControl(part);
  switch (part.type) {
    case 'text':
      if (typeof part.text !== 'string') throw invalidRequest(`${at}.text`, 'A text part needs a text.');
      return defined({ type: 'text' as const, text: part.text, cacheControl });
    case 'image_url': {
      const image = isObject(part.image_url) ? part.image_url : { url: part.image_url };
      const url = nonEmptyString(image.url);
      if (url === undefined) throw invalidRequest(`${at}.image_url.url`, 'An image needs a URL.');
      return defined({
        type: 'image' as const,
        media: parseMediaUrl(url),
        detail: nonEmptyString(image.detail),
        cacheControl,
      });
    }
    case 'file':
      return defined({ ...readFile(objectOrEmpty(part.file), at), cacheControl });
    case 'input_audio': {
      const audio = objectOrEmpty(part.input_audio);
      const format = nonEmptyString(audio.format) ?? 'wav';
      const data = nonEmptyString(audio.data);
      if (data === undefined) throw invalidRequest(`${at}.input_audio.data`, 'A recording needs its data.');
      return { type: 'audio', format, media: { kind: 'data', mediaType: `audio/${format}`, base64: data } };
    }
    default:
      throw unsupportedField(`${at}.type`, `Content of type "${String(part.type)}" can't be sent to this model.`);
  }
}

function readFile(file: JsonObject, at: string): FilePart {
  const id = nonEmptyString(file.file_id);
  const data = nonEmptyString(file.file_data);
  if (id === undefined && data === undefined) throw invalidRequest(`${at}.file`, 'A file needs data or an id.');
  const media: Media = data === undefined ? { kind: 'id', id: id ?? '' } : parseMediaUrl(data);
  return defined({ type: 'file' as const, media, filename: nonEmptyString(file.filename) });
}

function readAssistantParts(message: JsonObject, at: string): AssistantPart[] {
  const parts: AssistantPart[] = [...(readReasoningPart(message) ?? [])];
  if (typeof message.content === 'string') {
    if (message.content !== '') parts.push({ type: 'text', text: message.content });
  } else {
    arrayOrEmpty(message.content).forEach((value, index) => {
      const part = objectOrEmpty(value);
      if (part.type === 'refusal' && typeof part.refusal === 'string')
        parts.push({ type: 'refusal', text: part.refusal });
      else {
        const read = readContentPart(part, `${at}.content.${index}`);
        if (read.type !== 'text')
          throw unsupportedField(`${at}.content.${index}.type`, 'An assistant message can contain only text.');
        parts.push(read);
      }
    });
  }
  const refusal = nonEmptyString(message.refusal);
  if (refusal !== undefined) parts.push({ type: 'refusal', text: refusal });
  arrayOrEmpty(message.tool_calls).forEach((value, index) => {
    parts.push(readToolCall(objectOrEmpty(value), `${at}.tool_calls.${index}`));
  });
  return parts;
}

/** Reads a call. Arguments that are an object (Ollama, older vLLM) are converted to text. */
function readToolCall(call: JsonObject, at: string): ToolCallPart {
  if (call.type === 'custom') return readCustomCall(call, at);
  const definition = objectOrEmpty(call.function);
  const name = nonEmptyString(definition.name);
  const id = nonEmptyString(call.id);
  if (name === undefined) throw invalidRequest(`${at}.function.name`, 'A tool call needs the name of its function.');
  if (id === undefined) throw invalidRequest(`${at}.id`, 'A tool call needs an id.');
  const args = definition.arguments;
  const text = typeof args === 'string' ? args : args === undefined || args === null ? '' : JSON.stringify(args);
  return defined({ type: 'tool-call' as const, id, name, arguments: text, cacheControl: readCacheControl(call) });
}

function readCustomCall(call: JsonObject, at: string): ToolCallPart {
  const { name, input } = objectOrEmpty(call.custom);
  const id = nonEmptyString(call.id);
  if (typeof name !== 'string') throw invalidRequest(`${at}.custom.name`, 'A tool call needs the name of its tool.');
  if (id === undefined) throw invalidRequest(`${at}.id`, 'A tool call needs an id.');
  return { type: 'tool-call', id, name, arguments: typeof input === 'string' ? input : '', custom: true };
}

function readReasoningPart(message: JsonObject): ReasoningPart[] | undefined {
  const text = nonEmptyString(message.reasoning_content) ?? nonEmptyString(message.reasoning);
  const details = arrayOrEmpty(message.reasoning_details);
  if (details.length > 0) return readReasoningDetails(details, text);
  return text === undefined ? undefined : [{ type: 'reasoning', text, seals: [] }];
}
