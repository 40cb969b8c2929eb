import { arrayOrEmpty, isObject, type JsonObject, objectOrEmpty, omit } from '../../base/json.ts';
import { typeOfData } from '../../wire/media.ts';
import { limitCacheMarks } from '../../wire/messages/cache-marks.ts';
import { isAttribution } from '../../wire/messages/read-request.ts';
import { isVendorAnswer, isVendorBlock, textOfVendorBlock } from '../../wire/messages/vendor-blocks.ts';
import type { Rules } from './rules.ts';
import { joinContents, placeSystemMessages } from './system-messages.ts';

/**
 * Changes a body that the client wrote for Messages to the rules of the upstream: the type of images is that of their
 * bytes, only Anthropic gets Claude Code's line for its servers, and at most four blocks have a cache mark. Returns the same object if nothing changes.
 */
export function fitMessagesBody(rules: Rules, given: JsonObject): JsonObject {
  const { attribution, serverTools } = rules;
  const body = fitCacheLifetimes(rules, placeSystem(rules, fitChoice(rules, omit(given, rules.refused))));
  const { system, messages } = body;
  const typed = mapItems(messages, (message) => withMember(message, 'content', mapItems(message.content, fitBlock)));
  const fitted = fitEnd(rules, withoutBlankText(serverTools === 'kept' ? typed : withoutServerTools(typed)));
  const changed = limitCacheMarks(fitted === messages ? body : { ...body, messages: fitted });
  if (attribution === 'kept' || !Array.isArray(system) || !system.some(isAttribution)) return changed;
  const { system: _, ...rest } = changed;
  const kept = system.filter((block) => !isAttribution(block));
  return kept.length > 0 ? { ...changed, system: kept } : rest;
}

/** A model that refuses a demand for a call decides by itself. */
function fitChoice({ requiredChoice }: Rules, body: JsonObject): JsonObject {
  const { type, name: _, ...rest } = objectOrEmpty(body.tool_choice);
  if (requiredChoice !== 'auto' || (type !== 'any' && type !== 'tool')) return body;
  return { ...body, tool_choice: { ...rest, type: 'auto' } };
}

/** System messages of a model that has only the system prompt: text of the user, and the first ones in the prompt. */
function placeSystem({ systemMessages }: Rules, body: JsonObject): JsonObject {
  const { messages, system } = body;
  const isSystem = (message: unknown): boolean => objectOrEmpty(message).role === 'system';
  if (systemMessages === 'anywhere' || !Array.isArray(messages) || !messages.some(isSystem)) return body;
  // A system message without text sets only an effort.
  const spoken = messages.filter((message) => !isSystem(message) || hasText(objectOrEmpty(message).content));
  const [first, ...rest] = placeSystemMessages(systemMessages, spoken);
  if (!isSystem(first)) return { ...body, messages: (first === undefined ? rest : [first, ...rest]).map(resultsFirst) };
  const prompt = joinContents([system, objectOrEmpty(first).content]);
  return { ...body, system: prompt, messages: rest.map(resultsFirst) };
}

function hasText(content: unknown): boolean {
  return typeof content === 'string' ? content.trim() !== '' : arrayOrEmpty(content).length > 0;
}

/** The API demands the results of calls at the start of a message. */
function resultsFirst(value: unknown): unknown {
  const { role, content } = objectOrEmpty(value);
  if (role !== 'user' || !Array.isArray(content)) return value;
  const isResult = (block: unknown): boolean => objectOrEmpty(block).type === 'tool_result';
  const results = content.filter(isResult);
  if (results.length === 0 || content.slice(0, results.length).every(isResult)) return value;
  return { ...objectOrEmpty(value), content: [...results, ...content.filter((block) => !isResult(block))] };
}

/** Marks of the prompt cache without a `ttl`, if the upstream refuses it. Returns the same object if nothing changes. */
export function fitCacheLifetimes({ cacheLifetimes }: Rules, body: JsonObject): JsonObject {
  if (cacheLifetimes === 'kept') return body;
  const marked = (holder: JsonObject): JsonObject => {
    const { cache_control: mark } = holder;
    return isObject(mark) && 'ttl' in mark ? { ...holder, cache_control: omit(mark, ['ttl']) } : holder;
  };
  const inner = (holder: JsonObject): JsonObject =>
    marked(withMember(holder, 'content', mapItems(holder.content, inner)));
  let fitted = marked(body);
  for (const field of ['tools', 'system']) fitted = withMember(fitted, field, mapItems(fitted[field], marked));
  return withMember(fitted, 'messages', mapItems(fitted.messages, inner));
}

/**
 * Another vendor's answer may have blank text, which the API refuses, and so may the results of a client's tools. An
 * answer of which nothing is left is removed. A user message without other content does not change.
 */
function withoutBlankText(messages: unknown): unknown {
  if (!Array.isArray(messages)) return messages;
  const kept = messages.flatMap((value): unknown[] => {
    const message = objectOrEmpty(value);
    const { content } = message;
    const answer = message.role === 'assistant';
    if (typeof content === 'string') return answer && content.trim() === '' ? [] : [value];
    if (!Array.isArray(content)) return [value];
    const results = mapItems(content, withoutBlankResult);
    const filled = arrayOrEmpty(results).filter((block) => !isBlank(block));
    if (filled.length === 0) return answer && content.length > 0 ? [] : [value];
    return filled.length === content.length
      ? [withMember(message, 'content', results)]
      : [{ ...message, content: filled }];
  });
  return kept.length === messages.length && kept.every((value, index) => value === messages[index]) ? messages : kept;
}

function withoutBlankResult(block: JsonObject): JsonObject {
  const { type, content } = block;
  if (type !== 'tool_result' || !Array.isArray(content) || !content.some(isBlank)) return block;
  return { ...block, content: content.filter((inner) => !isBlank(inner)) };
}

function isBlank(block: unknown): boolean {
  const { type, text } = objectOrEmpty(block);
  return type === 'text' && typeof text === 'string' && text.trim() === '';
}

/** A model that does not go on with its own answer is asked to continue. */
function fitEnd({ prefill }: Rules, messages: unknown): unknown {
  if (prefill === 'kept' || !Array.isArray(messages) || objectOrEmpty(messages.at(-1)).role !== 'assistant')
    return messages;
  return [...messages, { role: 'user', content: 'Continue.' }];
}

/** Blocks of tools that ran at Anthropic as text. A message of which nothing is left is removed. */
function withoutServerTools(messages: unknown): unknown {
  return arrayOrEmpty(messages).flatMap((value) => {
    const message = objectOrEmpty(value);
    const { content } = message;
    const isForeign = message.role === 'assistant' ? isVendorAnswer : isVendorBlock;
    if (!Array.isArray(content) || !content.some((block) => isForeign(objectOrEmpty(block)))) return [value];
    const kept = content.flatMap((block) => {
      if (!isForeign(objectOrEmpty(block))) return [block];
      const text = textOfVendorBlock(objectOrEmpty(block));
      return text === undefined ? [] : [{ type: 'text', text }];
    });
    return kept.length > 0 ? [{ ...message, content: kept }] : [];
  });
}

function fitBlock(block: JsonObject): JsonObject {
  if (block.type === 'tool_result') return withMember(block, 'content', mapItems(block.content, fitBlock));
  const { source } = block;
  if (block.type !== 'image' || !isObject(source) || source.type !== 'base64') return block;
  const { media_type: declared, data } = source;
  if (typeof declared !== 'string' || typeof data !== 'string') return block;
  return withMember(
    block,
    'source',
    withMember(source, 'media_type', typeOfData({ mediaType: declared, base64: data })),
  );
}

/** The list with its objects changed, or the same value if none changes. */
function mapItems(list: unknown, map: (item: JsonObject) => JsonObject): unknown {
  if (!Array.isArray(list)) return list;
  const mapped = list.map((item) => (isObject(item) ? map(item) : item));
  return mapped.every((item, index) => item === list[index]) ? list : mapped;
}

function withMember(object: JsonObject, name: string, value: unknown): JsonObject {
  return object[name] === value ? object : { ...object, [name]: value };
}
