import { createHash } from 'node:crypto';
import { arrayOrEmpty, defined, isObject, type JsonObject, nonEmptyString, objectOrEmpty } from '../base/json.ts';
import type { CacheControl, Conversation } from './conversation.ts';
import { invalidRequest, SvcError } from './errors/svc-error.ts';

/** The model of a request. @throws SvcError 400. */
export function requiredModel(body: JsonObject): string {
  if (typeof body.model === 'string' && body.model.trim() !== '') return body.model;
  throw invalidRequest('model', '`model` is required: "<vendor>/<model_name>".');
}

/** @throws SvcError 400 if the field is not a list or is empty. */
export function requiredList(body: JsonObject, field: string): readonly unknown[] {
  const value = body[field];
  if (!Array.isArray(value)) throw invalidRequest(field, `\`${field}\` must be a list.`);
  if (value.length === 0) throw invalidRequest(field, `\`${field}\` must not be empty.`);
  return value;
}

/** A number within limits (spec 8); `null` is treated as absent. @throws SvcError 400. */
export function optionalNumber(body: JsonObject, field: string, least: number, most: number): number | undefined {
  const value = body[field];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'number' || !Number.isFinite(value))
    throw invalidRequest(field, `\`${field}\` must be a number.`);
  if (value < least || value > most) {
    const limit = Math.abs(least) > 1e9 || most > 1e9 ? 'out of range' : `from ${least} to ${most}`;
    throw invalidRequest(field, `\`${field}\` must be ${limit}, not ${value}.`);
  }
  return value;
}

/** A count of tokens, at least 1. @throws SvcError 400. */
export function optionalCount(body: JsonObject, field: string): number | undefined {
  const value = body[field];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 1) {
    throw invalidRequest(field, `\`${field}\` must be a whole number of at least 1.`);
  }
  return value;
}

/** @throws SvcError 400. */
export function optionalBoolean(body: JsonObject, field: string): boolean | undefined {
  const value = body[field];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'boolean') throw invalidRequest(field, `\`${field}\` must be true or false.`);
  return value;
}

/** @throws SvcError 400. */
export function optionalString(body: JsonObject, field: string): string | undefined {
  const value = body[field];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw invalidRequest(field, `\`${field}\` must be a string.`);
  return value;
}

/** Anthropic's cache breakpoint. Several Chat Completions vendors accept it on parts and tools. */
export function readCacheControl(value: JsonObject): CacheControl | undefined {
  const control = value.cache_control;
  if (!isObject(control) || control.type !== 'ephemeral') return undefined;
  return defined({ type: 'ephemeral' as const, ttl: nonEmptyString(control.ttl) });
}

/** Maximum number of messages, items, parts or tools. Longer than the longest real histories. */
const MAX_ITEMS = 10_000;

/** @throws SvcError 400 that names the list with too many items. */
export function limitItems(body: JsonObject): void {
  checkTools(body.tools);
  for (const field of ['messages', 'input', 'tools', 'system']) limitList(body[field], field);
  for (const field of ['messages', 'input']) {
    arrayOrEmpty(body[field]).forEach((value, index) => {
      const { content, tool_calls, output, summary, reasoning_details } = objectOrEmpty(value);
      limitList(content, `${field}.${index}.content`);
      limitList(tool_calls, `${field}.${index}.tool_calls`);
      limitList(output, `${field}.${index}.output`);
      limitList(summary, `${field}.${index}.summary`);
      limitList(reasoning_details, `${field}.${index}.reasoning_details`);
    });
  }
}

/** @throws SvcError 400 for tools that no provider can read. */
function checkTools(tools: unknown): void {
  if (tools === undefined || tools === null) return;
  if (!Array.isArray(tools)) throw invalidRequest('tools', '`tools` must be a list of tools.');
  const wrong = tools.findIndex((tool) => !isObject(tool));
  if (wrong >= 0) throw invalidRequest(`tools.${wrong}`, `\`tools.${wrong}\` must be a tool.`);
}

/** Checks the calls of a Chat Completions body that is passed on without parsing. @throws SvcError 400. */
export function checkToolCalls(body: JsonObject): void {
  arrayOrEmpty(body.messages).forEach((value, index) => {
    const { tool_calls } = objectOrEmpty(value);
    if (tool_calls === undefined || tool_calls === null) return;
    if (Array.isArray(tool_calls) && tool_calls.every(isObject)) return;
    const at = `messages.${index}.tool_calls`;
    throw invalidRequest(at, `\`${at}\` must be a list of tool calls.`);
  });
}

function limitList(value: unknown, at: string): void {
  if (!Array.isArray(value) || value.length <= MAX_ITEMS) return;
  throw invalidRequest(at, `\`${at}\` has ${value.length} items; at most ${MAX_ITEMS} are allowed.`);
}

/** OpenAI's fields with the same name and meaning in Chat Completions and Responses. @throws SvcError 400. */
export function readSharedFields(body: JsonObject) {
  return {
    user: optionalString(body, 'user'),
    safetyIdentifier: optionalString(body, 'safety_identifier'),
    promptCacheKey: optionalString(body, 'prompt_cache_key'),
    promptCacheRetention: optionalString(body, 'prompt_cache_retention'),
    serviceTier: optionalString(body, 'service_tier'),
  };
}

/** Maximum length of OpenAI's identifiers ("a maximum length of 64 characters"). OpenRouter and Zhipu accept 128. */
const MAX_IDENTIFIER = 64;

/** The fields of `readSharedFields` for an upstream. */
export function writeSharedFields(conversation: Conversation): Record<string, string | undefined> {
  return {
    user: shortIdentifier(conversation.user, MAX_IDENTIFIER),
    safety_identifier: shortIdentifier(conversation.safetyIdentifier, MAX_IDENTIFIER),
    prompt_cache_key: shortIdentifier(conversation.promptCacheKey, MAX_IDENTIFIER),
    prompt_cache_retention: conversation.promptCacheRetention,
    service_tier: conversation.serviceTier,
  };
}

/** An identifier that is too long becomes a hash of it, which is the same in each request. */
export function shortIdentifier(id: string | undefined, limit: number): string | undefined {
  return id === undefined || id.length <= limit ? id : createHash('sha256').update(id).digest('hex');
}

/** The fields that are not in `known`, `undefined` if there are none. */
export function unknownMembers(body: JsonObject, known: ReadonlySet<string>): Record<string, unknown> | undefined {
  const rest = Object.entries(body).filter(
    ([field, value]) => !known.has(field) && value !== undefined && value !== null,
  );
  return rest.length > 0 ? Object.fromEntries(rest) : undefined;
}

/**
 * Checks the limits of spec 8 in a Chat Completions body that is passed on without parsing.
 * @throws SvcError 400 that names the field.
 */
export function checkSampling(body: JsonObject): void {
  optionalNumber(body, 'temperature', 0, 2);
  optionalNumber(body, 'top_p', 0, 1);
  optionalNumber(body, 'frequency_penalty', -2, 2);
  optionalNumber(body, 'presence_penalty', -2, 2);
  optionalBoolean(body, 'stream');
  for (const field of ['max_tokens', 'max_completion_tokens', 'n']) optionalCount(body, field);
}

/** Rejects fields that require state at the vendor. They must not be ignored silently. */
export function refuseState(body: JsonObject, fields: Readonly<Record<string, string>>): void {
  for (const [field, message] of Object.entries(fields)) {
    const value = body[field];
    if (value === undefined || value === null || value === false) continue;
    throw new SvcError({ errorType: 'unsupported_field', param: field, message });
  }
}

/** The name of a tool. @throws SvcError 400 that names the field. @param at the path of the tool in the body. */
export function requiredToolName(tool: JsonObject, at: string): string {
  const name = nonEmptyString(tool.name);
  if (name === undefined) throw invalidRequest(`${at}.name`, 'A tool needs a name.');
  return name;
}
