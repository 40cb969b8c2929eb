import { arrayOrEmpty, isObject, type JsonObject, objectOrEmpty } from '../../../src/base/json.ts';
import type { ModelRequest, OfferedTool, SeenCall } from './model-request.ts';
import {
  checkMetadata,
  checkOpenAiName,
  checkOpenAiSchema,
  checkStrictSchema,
  limitLength,
  names,
  onlyKnown,
  refuse,
  refuseIf,
} from './refusal.ts';

/** OpenAI reference, "Create chat completion", with what most compatible servers accept beside it. */
const FIELDS = names(
  `model messages stream stream_options max_tokens max_completion_tokens temperature top_p stop frequency_penalty
  presence_penalty seed n logit_bias logprobs top_logprobs user safety_identifier prompt_cache_key
  prompt_cache_retention service_tier store metadata tools tool_choice parallel_tool_calls functions function_call
  response_format reasoning_effort verbosity modalities audio prediction web_search_options`,
);
const ROLES = names('system developer user assistant tool');
const PARTS = names('text image_url input_audio file refusal');

/**
 * Refuses what OpenAI's Chat Completions refuses and, because chat templates of Qwen, Gemma and Llama raise an error for
 * it, a system message after the first user message.
 */
export function readChatRequest(body: JsonObject, tolerated: ReadonlySet<string> = new Set()): ModelRequest {
  onlyKnown(body, new Set([...FIELDS, ...tolerated]), (name) => `Unrecognized request argument supplied: ${name}`);
  limitLength(body, ['user', 'safety_identifier', 'prompt_cache_key'], 64);
  checkMetadata(body.metadata);
  checkNumbers(body);
  const tools = arrayOrEmpty(body.tools).map(readTool);
  checkToolChoice(body, tools);
  const messages = arrayOrEmpty(body.messages);
  refuseIf(messages.length === 0, "Invalid 'messages': empty array. Expected an array with minimum length 1.");
  checkOrder(messages);
  const { turns, results } = readMessages(messages);
  const effort = body.reasoning_effort;
  return {
    tools,
    turns,
    results,
    thinks: typeof effort === 'string' && effort !== 'none',
    showsThinking: true,
    seals: false,
    parallel: body.parallel_tool_calls !== false,
    stream: body.stream === true,
    streamedUsage: objectOrEmpty(body.stream_options).include_usage === true,
  };
}

function checkNumbers(body: JsonObject): void {
  const { temperature, max_tokens, max_completion_tokens, stop } = body;
  refuseIf(typeof temperature === 'number' && (temperature < 0 || temperature > 2), "Invalid 'temperature'.");
  refuseIf(typeof max_tokens === 'number' && max_tokens < 1, "Invalid 'max_tokens': integer below minimum value.");
  refuseIf(
    typeof max_tokens === 'number' && typeof max_completion_tokens === 'number',
    'Setting max_tokens and max_completion_tokens at the same time is not supported.',
  );
  refuseIf(Array.isArray(stop) && stop.length > 4, "Invalid 'stop': array too long. Expected at most 4.");
  refuseIf(
    isObject(body.stream_options) && body.stream !== true,
    "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
  );
}

function readTool(value: unknown, index: number): OfferedTool {
  const tool = objectOrEmpty(value);
  const where = `tools[${index}]`;
  if (tool.type === 'custom') {
    const { name } = objectOrEmpty(tool.custom);
    return { name: checkOpenAiName(name, `${where}.custom.name`), custom: true };
  }
  refuseIf(
    tool.type !== 'function',
    `Invalid value: '${String(tool.type)}'. Supported values are: 'function' and 'custom'. (${where}.type)`,
  );
  const { name, parameters, strict } = objectOrEmpty(tool.function);
  const checked = checkOpenAiName(name, `${where}.function.name`);
  checkOpenAiSchema(checked, parameters);
  if (strict === true) checkStrictSchema(checked, parameters);
  onlyKnown(tool, names('type function'), (field) => `Unknown parameter: '${where}.${field}'.`);
  return { name: checked, custom: false };
}

function checkToolChoice(body: JsonObject, tools: readonly OfferedTool[]): void {
  refuseIf(Array.isArray(body.tools) && tools.length === 0, "Invalid 'tools': empty array.");
  refuseIf(tools.length > 128, "Invalid 'tools': array too long. Expected an array with maximum length 128.");
  const repeated = tools.find((tool, index) => tools.findIndex((other) => other.name === tool.name) !== index);
  refuseIf(repeated !== undefined, `Duplicate tool name: '${repeated?.name}'.`);
  for (const field of ['tool_choice', 'parallel_tool_calls']) {
    const absent = body[field] === undefined || body[field] === null || body[field] === 'none';
    refuseIf(!absent && tools.length === 0, `'${field}' is only allowed when 'tools' are specified.`);
  }
  const choice = body.tool_choice;
  if (!isObject(choice) || choice.type === 'allowed_tools') return;
  const { name } = objectOrEmpty(choice[String(choice.type)]);
  refuseIf(!tools.some((tool) => tool.name === name), `Tool choice '${String(name)}' not found in 'tools' parameter.`);
}

/** Each call has its result before the next message of another role, and each result has its call. */
function checkOrder(messages: readonly unknown[]): void {
  let open = new Set<string>();
  let started = false;
  messages.forEach((value, index) => {
    const message = objectOrEmpty(value);
    const role = String(message.role);
    refuseIf(!ROLES.has(role), `Invalid value: '${role}'. (messages[${index}].role)`);
    checkContent(message, index);
    if (role === 'tool') {
      const id = String(message.tool_call_id);
      refuseIf(
        !open.delete(id),
        `messages[${index}]: messages with role 'tool' must be a response to a preceding message with 'tool_calls'.`,
      );
      return;
    }
    refuseIf(
      open.size > 0,
      `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. Missing: ${[...open]}`,
    );
    const system = role === 'system' || role === 'developer';
    refuseIf(system && started, `messages[${index}]: System message must be at the beginning.`);
    started ||= !system;
    open = callIds(message, index);
  });
  refuseIf(open.size > 0, `'tool_calls' without tool messages. Missing: ${[...open]}`);
}

function callIds(message: JsonObject, index: number): Set<string> {
  const ids = new Set<string>();
  arrayOrEmpty(message.tool_calls).forEach((value, at) => {
    const call = objectOrEmpty(value);
    const where = `messages[${index}].tool_calls[${at}]`;
    if (typeof call.id !== 'string' || call.id === '') refuse(`Missing required parameter: '${where}.id'.`);
    refuseIf(
      call.id.length > 40,
      `Invalid '${where}.id': string too long. Expected a string with maximum length 40, but got a string with length ${call.id.length} instead.`,
    );
    refuseIf(ids.has(call.id), `Duplicate '${where}.id'.`);
    const { name, arguments: input } = objectOrEmpty(call.function);
    const custom = call.type === 'custom' && isObject(call.custom);
    refuseIf(
      !custom && (call.type !== 'function' || typeof name !== 'string' || typeof input !== 'string'),
      `Invalid '${where}'.`,
    );
    ids.add(call.id);
  });
  return ids;
}

function checkContent(message: JsonObject, index: number): void {
  const { content, role } = message;
  const calls = arrayOrEmpty(message.tool_calls).length > 0;
  refuseIf(Array.isArray(message.tool_calls) && !calls, `Invalid 'messages[${index}].tool_calls': empty array.`);
  if (typeof content === 'string') return;
  if (content === null || content === undefined) {
    const refused = role !== 'assistant' || (!calls && message.refusal === undefined);
    return refuseIf(refused, `Invalid value for 'content': expected a string, got null. (messages[${index}])`);
  }
  refuseIf(!Array.isArray(content), `Invalid type for 'messages[${index}].content'.`);
  arrayOrEmpty(content).forEach((part, at) => {
    const type = String(objectOrEmpty(part).type);
    const fits = role === 'user' ? PARTS.has(type) : type === 'text' || (role === 'assistant' && type === 'refusal');
    refuseIf(!fits, `Invalid value: '${type}'. (messages[${index}].content[${at}].type)`);
  });
}

function readMessages(messages: readonly unknown[]): Pick<ModelRequest, 'turns' | 'results'> {
  const turns: SeenCall[][] = [];
  const results = new Map<string, string>();
  for (const message of messages.map(objectOrEmpty)) {
    const calls = arrayOrEmpty(message.tool_calls).map((value) => readCall(objectOrEmpty(value)));
    if (calls.length > 0) turns.push(calls);
    if (message.role === 'tool') results.set(String(message.tool_call_id), textOfContent(message.content));
  }
  return { turns, results };
}

function readCall(call: JsonObject): SeenCall {
  const custom = objectOrEmpty(call.custom);
  const { name, arguments: input } = objectOrEmpty(call.function);
  const seen = call.type === 'custom' ? { name: custom.name, input: custom.input } : { name, input };
  return { id: String(call.id), name: String(seen.name), input: String(seen.input), afterThinking: false };
}

/** docs.mistral.ai, "Chat completion": ids of calls are nine letters and digits. */
export function checkMistralIds(body: JsonObject): void {
  for (const message of arrayOrEmpty(body.messages).map(objectOrEmpty)) {
    const ids = arrayOrEmpty(message.tool_calls).map((call) => objectOrEmpty(call).id);
    if (message.role === 'tool') ids.push(message.tool_call_id);
    for (const id of ids) {
      refuseIf(
        !/^[a-zA-Z0-9]{9}$/.test(String(id)),
        `Tool call id was ${String(id)} but must be a-z, A-Z, 0-9, with a length of 9.`,
      );
    }
  }
}

/** The text of a content that is a string or a list of parts. */
export function textOfContent(content: unknown): string {
  if (typeof content === 'string') return content;
  return arrayOrEmpty(content)
    .map((part) => String(objectOrEmpty(part).text ?? ''))
    .join('\n');
}
