import {
  arrayOrEmpty,
  defined,
  finiteNumber,
  isObject,
  type JsonObject,
  nonEmptyString,
  objectOrEmpty,
} from '../../base/json.ts';
import type { Conversation, ResponseFormat } from '../conversation.ts';
import { invalidRequest, unsupportedField } from '../errors/svc-error.ts';
import {
  optionalBoolean,
  optionalCount,
  optionalNumber,
  optionalString,
  readCacheControl,
  readSharedFields,
  refuseState,
  requiredList,
  requiredModel,
  unknownMembers,
} from '../request-fields.ts';
import { readChatMessages } from './read-messages.ts';
import { readChatToolChoice, readChatTools } from './read-tools.ts';

/** Fields with an equivalent in `Conversation`. The others are passed on as `extra`. */
const KNOWN = new Set(
  `model messages stream stream_options max_tokens max_completion_tokens temperature top_p top_k frequency_penalty
  presence_penalty seed stop tools tool_choice parallel_tool_calls response_format reasoning_effort reasoning user
  metadata n functions function_call modalities store verbosity logprobs top_logprobs prompt_cache_key
  prompt_cache_retention safety_identifier service_tier cache_control`.split(/\s+/),
);

/** @throws SvcError 400 that names the field. */
export function readChatRequest(body: JsonObject): Conversation {
  const model = requiredModel(body);
  const messages = requiredList(body, 'messages');
  refuseUncarried(body);
  const { system, turns } = readChatMessages(messages);
  const { tools, vendorTools } = readChatTools(body.tools);
  const extra = unknownMembers(body, KNOWN);
  return defined({
    model,
    cacheControl: readCacheControl(body),
    system,
    turns,
    tools,
    vendorTools,
    toolChoice: readChatToolChoice(body.tool_choice, tools, vendorTools),
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
    ...readSharedFields(body),
    verbosity: optionalString(body, 'verbosity'),
    logprobs: body.logprobs === true ? defined({ top: optionalNumber(body, 'top_logprobs', 0, 20) }) : undefined,
    metadata: readMetadata(body.metadata),
    extra: extra && { 'chat-completions': extra },
  });
}

function refuseUncarried(body: JsonObject): void {
  refuseState(body, { store: '`store: true` is not supported: this gateway does not store answers. Omit `store`.' });
  if (finiteNumber(body.n) !== undefined && body.n !== 1) {
    throw unsupportedField('n', 'This model supports only one choice. Omit `n` or send 1.');
  }
  for (const field of ['functions', 'function_call']) {
    if (body[field] !== undefined && body[field] !== null) {
      throw unsupportedField(field, `\`${field}\` is not supported; use \`tools\` and \`tool_choice\`.`);
    }
  }
  const modalities = arrayOrEmpty(body.modalities).filter((modality) => modality !== 'text');
  if (modalities.length > 0) throw unsupportedField('modalities', 'This model supports only text output.');
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
  const options = objectOrEmpty(body.reasoning);
  const effort = nonEmptyString(body.reasoning_effort) ?? nonEmptyString(options.effort);
  const budgetTokens = finiteNumber(options.max_tokens);
  const mode =
    options.enabled === false ? ('disabled' as const) : options.enabled === true ? ('enabled' as const) : undefined;
  if (effort === undefined && budgetTokens === undefined && mode === undefined) return undefined;
  return defined({ effort, budgetTokens, mode, summary: readShown(body, options) });
}

/** OpenRouter's `reasoning` is for clients that show it, unless they exclude it. OpenAI's field has no such rule. */
function readShown(body: JsonObject, options: JsonObject): 'auto' | 'omitted' | undefined {
  if (options.exclude === true || body.include_reasoning === false) return 'omitted';
  return isObject(body.reasoning) || body.include_reasoning === true ? 'auto' : undefined;
}

function readResponseFormat(value: unknown): ResponseFormat | undefined {
  if (value === undefined || value === null) return undefined;
  const format = objectOrEmpty(value);
  if (format.type === 'text') return { type: 'text' };
  if (format.type === 'json_object') return { type: 'json' };
  const schema = objectOrEmpty(format.json_schema);
  if (format.type === 'json_schema' && isObject(schema.schema)) {
    return defined({
      type: 'json-schema' as const,
      name: nonEmptyString(schema.name) ?? 'response',
      schema: schema.schema,
      description: nonEmptyString(schema.description),
      strict: optionalBoolean(schema, 'strict'),
    });
  }
  throw invalidRequest('response_format', '`response_format` must be text, json_object, or json_schema with a schema.');
}
