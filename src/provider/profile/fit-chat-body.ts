import { arrayOrEmpty, isObject, type JsonObject, objectOrEmpty, omit } from '../../base/json.ts';
import type { Model } from '../../catalog/model.ts';
import { readThoughtSignature, writeThoughtSignature } from '../../wire/chat-completions/thought-signature.ts';
import { fitCacheLifetimes } from './fit-messages-body.ts';
import type { Rules } from './rules.ts';
import { placeSystemMessages } from './system-messages.ts';

/**
 * Fits a body of Chat Completions to the model's upstream. A body that the client wrote for this format
 * (`own`) loses only fields that a vendor is known to refuse. Returns the same object if nothing changes, and for the other
 * formats.
 */
export function fitChatBody(
  model: Pick<Model, 'endpoint' | 'reasoning'>,
  rules: Rules,
  body: JsonObject,
  origin: 'own' | 'translated',
): JsonObject {
  if (model.endpoint.format !== 'chat-completions') return omit(fitCacheLifetimes(rules, body), rules.refused);
  let fitted = body;
  const messages = fitMessages(model, rules, body, origin);
  if (messages !== body.messages) fitted = { ...fitted, messages };
  const tools = fitTools(rules, body.tools, origin);
  if (tools !== body.tools) fitted = { ...fitted, tools };
  for (const [from, to] of Object.entries(rules.renamed)) fitted = rename(fitted, from, to);
  fitted = omit(fitted, losesMarks(rules, origin) ? [...rules.refused, ...MARK] : rules.refused);
  fitted = omit(fitted, unmetNeeds(rules, fitted));
  if (rules.nulls === 'refused')
    fitted = omit(
      fitted,
      Object.keys(fitted).filter((field) => fitted[field] === null),
    );
  fitted = fitReasoningField(rules, fitted, origin);
  const { requiredChoice } = rules;
  return fitted.tool_choice === 'required' && requiredChoice !== 'required'
    ? { ...fitted, tool_choice: requiredChoice }
    : fitted;
}

/** Fields whose other field is absent or not set. */
function unmetNeeds({ needs }: Rules, body: JsonObject): string[] {
  return Object.entries(needs).flatMap(([field, needed]) =>
    field in body && (body[needed] === undefined || body[needed] === null || body[needed] === false) ? [field] : [],
  );
}

function fitReasoningField({ reasoningField }: Rules, body: JsonObject, origin: 'own' | 'translated'): JsonObject {
  const { reasoning_effort: effort, ...rest } = body;
  if (effort === undefined || reasoningField === 'reasoning_effort') return body;
  if (reasoningField === 'none') return rest;
  return origin === 'own' || typeof effort !== 'string' ? body : { ...rest, reasoning: { effort } };
}

function rename(body: JsonObject, from: string, to: string): JsonObject {
  if (!(from in body)) return body;
  const { [from]: value, ...rest } = body;
  return { ...rest, [to]: rest[to] ?? value };
}

function fitMessages(
  model: Pick<Model, 'reasoning'>,
  rules: Rules,
  { messages, reasoning_effort: effort }: JsonObject,
  origin: 'own' | 'translated',
): unknown {
  if (!Array.isArray(messages)) return messages;
  const demanded = rules.reasoningHistory.demanded && model.reasoning && effort !== 'none';
  const filled = withoutEmptyAnswers(rules, messages);
  const placed = separateResults(rules, placeSystemMessages(rules.systemMessages, filled));
  const fitted = placed.map((message) => (isObject(message) ? fitMessage(rules, message, origin, demanded) : message));
  return fitted.every((message, index) => message === placed[index]) ? placed : fitted;
}

/** Answers of other vendors without content, and a request to go on after an answer. */
function withoutEmptyAnswers({ blankText, prefill }: Rules, messages: readonly unknown[]): readonly unknown[] {
  const isEmpty = (value: unknown): boolean => {
    const { role, content, tool_calls, refusal } = objectOrEmpty(value);
    const blank = typeof content === 'string' ? content.trim() === '' : arrayOrEmpty(content).length === 0;
    return role === 'assistant' && blank && arrayOrEmpty(tool_calls).length === 0 && !refusal;
  };
  const kept =
    blankText === 'refused' && messages.some(isEmpty) ? messages.filter((value) => !isEmpty(value)) : messages;
  const last = objectOrEmpty(kept.at(-1));
  const continues = prefill === 'refused' && last.role === 'assistant' && last.prefix !== true;
  return continues ? [...kept, { role: 'user', content: 'Continue.' }] : kept;
}

/** Puts a message of the assistant between results of tools and a user message. */
function separateResults({ userAfterResults }: Rules, messages: readonly unknown[]): readonly unknown[] {
  const roleAt = (index: number): unknown => objectOrEmpty(messages[index]).role;
  const needs = (index: number): boolean => roleAt(index) === 'user' && roleAt(index - 1) === 'tool';
  if (userAfterResults === 'accepted' || !messages.some((_, index) => needs(index))) return messages;
  return messages.flatMap((message, index) =>
    needs(index) ? [{ role: 'assistant', content: 'Done.' }, message] : [message],
  );
}

function fitMessage(rules: Rules, message: JsonObject, origin: 'own' | 'translated', demanded: boolean): JsonObject {
  let fitted = omit(message, rules.refusedInMessages);
  const { text, details } = rules.reasoningHistory;
  const calls = arrayOrEmpty(message.tool_calls).length > 0;
  if (text === 'none' || (text === 'with-calls' && !calls)) fitted = omit(fitted, ['reasoning_content', 'reasoning']);
  if (details === 'none') fitted = omit(fitted, ['reasoning_details']);
  if (demanded && calls && typeof fitted.reasoning_content !== 'string') fitted = { ...fitted, reasoning_content: '' };
  if (message.role === 'assistant') fitted = fitThoughts(rules, fitted);
  if (!losesMarks(rules, origin)) return fitted;
  fitted = withoutMarks(omit(fitted, MARK), 'tool_calls');
  const { content } = fitted;
  // A list was only needed for the mark.
  const [only] = Array.isArray(content) && content.length === 1 ? content : [];
  if (message.role === 'tool' && isObject(only) && MARK.some((mark) => mark in only) && typeof only.text === 'string') {
    return { ...fitted, content: only.text };
  }
  return withoutMarks(fitted, 'content');
}

function withoutMarks(holder: JsonObject, field: string): JsonObject {
  const list = holder[field];
  if (!Array.isArray(list)) return holder;
  const unmarked = list.map((item) => (isObject(item) ? omit(item, MARK) : item));
  return unmarked.every((item, index) => item === list[index]) ? holder : { ...holder, [field]: unmarked };
}

/** Google accepts this instead of a signature that another model can't have issued ("Thought signatures", FAQ). */
const NO_SIGNATURE = 'skip_thought_signature_validator';

/** Gemini's signatures: removed for other vendors, and added to the first call of an answer that lacks one. */
function fitThoughts({ thoughtSignatures }: Rules, message: JsonObject): JsonObject {
  const { tool_calls: calls } = message;
  const kept = thoughtSignatures === 'none' ? omit(message, EXTRA) : message;
  if (!Array.isArray(calls) || calls.length === 0) return kept;
  const fitted = calls.map((call, index) => {
    if (!isObject(call)) return call;
    if (thoughtSignatures === 'none') return omit(call, EXTRA);
    const missing = thoughtSignatures === 'required' && index === 0 && readThoughtSignature(call) === undefined;
    return missing ? { ...call, ...writeThoughtSignature(NO_SIGNATURE) } : call;
  });
  return fitted.every((call, index) => call === calls[index]) ? kept : { ...kept, tool_calls: fitted };
}

const EXTRA = ['extra_content'];
const MARK = ['cache_control'];

function losesMarks({ cacheMarks }: Rules, origin: 'own' | 'translated'): boolean {
  return cacheMarks === 'refused' || (cacheMarks === 'removed' && origin === 'translated');
}

function fitTools(rules: Rules, tools: unknown, origin: 'own' | 'translated'): unknown {
  if (!Array.isArray(tools)) return tools;
  const fitted = tools.map((tool) => (isObject(tool) ? fitTool(rules, tool, origin) : tool));
  return fitted.every((tool, index) => tool === tools[index]) ? tools : fitted;
}

function fitTool(rules: Rules, tool: JsonObject, origin: 'own' | 'translated'): JsonObject {
  const kept = losesMarks(rules, origin) ? omit(tool, MARK) : tool;
  if (!isObject(kept.function)) return kept;
  const definition = omit(kept.function, rules.refusedInTools);
  return definition === kept.function ? kept : { ...kept, function: definition };
}
