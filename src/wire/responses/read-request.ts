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
  Conversation,
  FilePart,
  ImagePart,
  Media,
  ReasoningPart,
  ReasoningRequest,
  ResponseFormat,
  TextPart,
  ToolCallPart,
  ToolResultPart,
  Turn,
} from '../conversation.ts';
import { invalidRequest, unsupportedField } from '../errors/svc-error.ts';
import { parseMediaUrl } from '../media.ts';
import { readSeal } from '../packed-reasoning.ts';
import {
  optionalBoolean,
  optionalCount,
  optionalNumber,
  optionalString,
  readSharedFields,
  refuseState,
  requiredModel,
  unknownMembers,
} from '../request-fields.ts';
import { readResponsesToolChoice, readResponsesTools, type ToolList } from './read-tools.ts';
import { isLeftOut, readClientCall, readClientOutput } from './vendor-items.ts';

const KNOWN = new Set(
  `model input instructions stream stream_options max_output_tokens temperature top_p tools tool_choice
  parallel_tool_calls text reasoning include store previous_response_id conversation background prompt user
  metadata top_logprobs prompt_cache_key prompt_cache_retention safety_identifier service_tier`.split(/\s+/),
);

const STATEFUL = {
  store:
    '`store: true` is not supported: this gateway does not store answers. Send `store: false` and the whole history in `input`.',
  previous_response_id:
    '`previous_response_id` is not supported: this gateway does not store answers. Send the whole history in `input`.',
  conversation:
    '`conversation` is not supported: this gateway does not store conversations. Send the whole history in `input`.',
  background: '`background` is not supported: an answer is sent only to its request.',
  prompt: '`prompt` is not supported: stored prompts can’t be sent to this model.',
};

/** Rejects fields that require the vendor's storage, also if the body is passed on. @throws SvcError 400. */
export function refuseStatefulResponses(body: JsonObject): void {
  refuseState(body, STATEFUL);
}

/** @throws SvcError 400 that names the field. */
export function readResponsesRequest(body: JsonObject): Conversation {
  const model = requiredModel(body);
  refuseStatefulResponses(body);
  const { system, turns, tools: laterTools } = readInput(body.input);
  const { tools, vendorTools } = readResponsesTools([{ tools: body.tools, at: 'tools' }, ...laterTools]);
  const instructions = optionalString(body, 'instructions');
  const extra = unknownMembers(body, KNOWN);
  return defined({
    model,
    system: instructions ? [{ type: 'text' as const, text: instructions }, ...system] : system,
    turns,
    tools,
    vendorTools,
    toolChoice: readResponsesToolChoice(body.tool_choice, tools, vendorTools),
    parallelToolCalls: optionalBoolean(body, 'parallel_tool_calls'),
    sampling: defined({
      temperature: optionalNumber(body, 'temperature', 0, 2),
      topP: optionalNumber(body, 'top_p', 0, 1),
    }),
    maxTokens: optionalCount(body, 'max_output_tokens'),
    responseFormat: readTextFormat(objectOrEmpty(body.text).format),
    reasoning: readReasoning(body),
    stream: optionalBoolean(body, 'stream') ?? false,
    ...readSharedFields(body),
    verbosity: optionalString(objectOrEmpty(body.text), 'verbosity'),
    logprobs: readLogprobs(body),
    metadata: isObject(body.metadata)
      ? Object.fromEntries(Object.entries(body.metadata).map(([key, value]) => [key, String(value)]))
      : undefined,
    extra: extra && { responses: extra },
  });
}

function readLogprobs(body: JsonObject): Conversation['logprobs'] {
  const top = optionalNumber(body, 'top_logprobs', 0, 20);
  const included = arrayOrEmpty(body.include).includes('message.output_text.logprobs');
  return included || top !== undefined ? defined({ top }) : undefined;
}

function readReasoning(body: JsonObject): ReasoningRequest | undefined {
  const options = objectOrEmpty(body.reasoning);
  const includeEncrypted = arrayOrEmpty(body.include).includes('reasoning.encrypted_content') ? true : undefined;
  const reasoning = defined({
    effort: nonEmptyString(options.effort),
    summary: nonEmptyString(options.summary),
    includeEncrypted,
  });
  return Object.keys(reasoning).length > 0 ? reasoning : undefined;
}

function readTextFormat(value: unknown): ResponseFormat | undefined {
  const format = objectOrEmpty(value);
  if (format.type === 'text') return { type: 'text' };
  if (format.type === 'json_object') return { type: 'json' };
  if (format.type === undefined) return undefined;
  if (format.type !== 'json_schema' || !isObject(format.schema)) {
    throw invalidRequest('text.format', '`text.format` must be text, json_object, or json_schema with a schema.');
  }
  return defined({
    type: 'json-schema' as const,
    name: nonEmptyString(format.name) ?? 'response',
    schema: format.schema,
    description: nonEmptyString(format.description),
    strict: optionalBoolean(format, 'strict'),
  });
}

interface Reading {
  readonly system: TextPart[];
  readonly turns: Turn[];
  /** Tools that items of the input add. */
  readonly tools: ToolList[];
}

/** Reads the input. The items of one assistant turn, or consecutive results, become one turn. */
function readInput(input: unknown): Reading {
  if (typeof input === 'string') {
    return { system: [], turns: [{ role: 'user', parts: [{ type: 'text', text: input }] }], tools: [] };
  }
  if (!Array.isArray(input)) throw invalidRequest('input', '`input` must be a string or a list of items.');
  const reader = new InputReader();
  input.forEach((item, index) => {
    reader.read(objectOrEmpty(item), `input.${index}`);
  });
  return reader.reading;
}

class InputReader {
  readonly reading: Reading = { system: [], turns: [], tools: [] };
  /** The parts of the last turn, if the next assistant item belongs to it. */
  #assistant: AssistantPart[] | undefined;
  /** The parts of the last turn, if the next result belongs to it. */
  #results: ToolResultPart[] | undefined;

  read(item: JsonObject, at: string): void {
    const { turns } = this.reading;
    if (item.type === 'additional_tools' || item.type === 'tool_search_output') {
      this.reading.tools.push({ tools: item.tools, at: `${at}.tools` });
      return;
    }
    if (isLeftOut(item)) return;
    const output = readClientOutput(item);
    if (output !== undefined) {
      this.#assistant = undefined;
      this.#results = undefined;
      turns.push({ role: 'user', parts: [output] });
      return;
    }
    if (item.type === 'function_call_output' || item.type === 'custom_tool_call_output') {
      this.#assistant = undefined;
      if (this.#results === undefined) {
        this.#results = [];
        turns.push({ role: 'user', parts: this.#results });
      }
      this.#results.push(readOutput(item, at));
      return;
    }
    this.#results = undefined;
    if (!isAssistant(item)) {
      this.#assistant = undefined;
      readMessage(item, at, this.reading);
      return;
    }
    if (this.#assistant === undefined) {
      this.#assistant = [];
      turns.push({ role: 'assistant', parts: this.#assistant });
    }
    append(this.#assistant, readAssistantItem(item, at));
  }
}

function isAssistant(item: JsonObject): boolean {
  const { type, role } = item;
  if (readClientCall(item) !== undefined) return true;
  return type === 'function_call' || type === 'custom_tool_call' || type === 'reasoning' || role === 'assistant';
}

/** The type of a reference may be omitted. */
export function isReference(item: JsonObject): boolean {
  if (item.type === 'item_reference') return true;
  const bare = (item.type === undefined || item.type === null) && item.role === undefined;
  return bare && nonEmptyString(item.id) !== undefined;
}

function readMessage(item: JsonObject, at: string, reading: Reading): void {
  if (isReference(item)) {
    throw unsupportedField(
      `${at}.id`,
      `This gateway does not have the item "${String(item.id).slice(0, 100)}". Send \`store: false\` and the whole history in \`input\`, or use Chat Completions (\`.chat()\` in the AI SDK).`,
    );
  }
  if (item.type !== undefined && item.type !== 'message') {
    throw unsupportedField(`${at}.type`, `Items of type "${String(item.type)}" can’t be sent to this model.`);
  }
  const parts = readContent(item.content, `${at}.content`);
  if (item.role === 'user') reading.turns.push({ role: 'user', parts });
  else if (item.role === 'system' || item.role === 'developer') {
    const texts = parts.filter((part) => part.type === 'text');
    if (reading.turns.length === 0) append(reading.system, texts);
    else reading.turns.push({ role: 'system', parts: texts });
  } else throw invalidRequest(`${at}.role`, 'A message needs a role: user, assistant, system or developer.');
}

function readContent(content: unknown, at: string): (TextPart | ImagePart | FilePart | AudioPart)[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (!Array.isArray(content)) throw invalidRequest(at, 'Content must be a string or a list of parts.');
  return content.map((part, index) => readContentPart(objectOrEmpty(part), `${at}.${index}`));
}

function readContentPart(part: JsonObject, at: string): TextPart | ImagePart | FilePart | AudioPart {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
    case 'text':
      if (typeof part.text !== 'string') throw invalidRequest(`${at}.text`, 'A text part needs a text.');
      return { type: 'text', text: part.text };
    case 'input_image': {
      const url = nonEmptyString(part.image_url);
      const id = nonEmptyString(part.file_id);
      if (url === undefined && id === undefined) throw invalidRequest(at, 'An image needs a URL or a file id.');
      const media: Media = url === undefined ? { kind: 'id', id: id ?? '' } : parseMediaUrl(url);
      return defined({ type: 'image' as const, media, detail: nonEmptyString(part.detail) });
    }
    case 'input_file':
      return readFile(part, at);
    case 'input_audio': {
      const audio = objectOrEmpty(part.input_audio);
      const format = nonEmptyString(audio.format) ?? 'wav';
      const base64 = nonEmptyString(audio.data);
      if (base64 === undefined) throw invalidRequest(`${at}.input_audio.data`, 'A recording needs its data.');
      return { type: 'audio', format, media: { kind: 'data', mediaType: `audio/${format}`, base64 } };
    }
    default:
      throw unsupportedField(`${at}.type`, `Content of type "${String(part.type)}" can’t be sent to this model.`);
  }
}

function readFile(part: JsonObject, at: string): FilePart {
  const filename = nonEmptyString(part.filename);
  const url = nonEmptyString(part.file_url) ?? nonEmptyString(part.file_data);
  const id = nonEmptyString(part.file_id);
  if (url === undefined && id === undefined) throw invalidRequest(at, 'A file needs data, a URL or an id.');
  const media: Media = url === undefined ? { kind: 'id', id: id ?? '' } : parseMediaUrl(url);
  return defined({ type: 'file' as const, media, filename });
}

function readOutput(item: JsonObject, at: string): ToolResultPart {
  const id = nonEmptyString(item.call_id);
  if (id === undefined) throw invalidRequest(`${at}.call_id`, 'A tool result needs the id of its call.');
  const content = readContent(item.output ?? '', `${at}.output`).filter((part) => part.type !== 'audio');
  return { type: 'tool-result', id, content };
}

function readAssistantItem(item: JsonObject, at: string): AssistantPart[] {
  const ran = readClientCall(item);
  if (ran !== undefined) return [ran];
  if (item.type === 'reasoning') return [readReasoningItem(item)];
  if (item.type === 'function_call' || item.type === 'custom_tool_call') {
    const id = nonEmptyString(item.call_id) ?? nonEmptyString(item.id);
    const name = nonEmptyString(item.name);
    if (id === undefined || name === undefined) throw invalidRequest(at, 'A tool call needs `call_id` and `name`.');
    const namespace = nonEmptyString(item.namespace);
    return [defined({ type: 'tool-call' as const, id, name, namespace, ...readArguments(item) })];
  }
  if (typeof item.content === 'string') return [{ type: 'text', text: item.content }];
  return arrayOrEmpty(item.content).map((value, index): AssistantPart => {
    const part = objectOrEmpty(value);
    if (part.type === 'refusal') return { type: 'refusal', text: nonEmptyString(part.refusal) ?? '' };
    if (typeof part.text !== 'string')
      throw invalidRequest(`${at}.content.${index}`, 'An assistant message can contain only text.');
    const annotations = arrayOrEmpty(part.annotations);
    return annotations.length > 0 ? { type: 'text', text: part.text, annotations } : { type: 'text', text: part.text };
  });
}

function readArguments(item: JsonObject): Pick<ToolCallPart, 'arguments' | 'custom'> {
  if (item.type === 'function_call') return { arguments: nonEmptyString(item.arguments) ?? '' };
  return { arguments: nonEmptyString(item.input) ?? '', custom: true };
}

/** Reads a `reasoning` item: its text, and the signature that the vendor needs to accept it again. */
export function readReasoningItem(item: JsonObject): ReasoningPart {
  const texts = [...arrayOrEmpty(item.summary), ...arrayOrEmpty(item.content)].map(
    (part) => nonEmptyString(objectOrEmpty(part).text) ?? '',
  );
  const id = nonEmptyString(item.id);
  const encrypted = nonEmptyString(item.encrypted_content);
  const text = texts.filter((part) => part !== '').join('\n\n');
  if (encrypted !== undefined) {
    const seal = readSeal(encrypted, (own) => ({ vendor: 'responses', id: id ?? '', encrypted: own }));
    return { type: 'reasoning', text, seals: [seal] };
  }
  return { type: 'reasoning', text, seals: id === undefined ? [] : [{ vendor: 'responses', id }] };
}
