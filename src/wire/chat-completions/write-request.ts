import { append, defined } from '../../base/json.ts';
import type {
  AssistantPart,
  Conversation,
  FilePart,
  ImagePart,
  Media,
  ReasoningPart,
  ResponseFormat,
  TextPart,
  Tool,
  ToolCallPart,
  ToolResultPart,
  UserPart,
} from '../conversation.ts';
import { msg, unsupportedField } from '../errors/svc-error.ts';
import { mediaUrl } from '../media.ts';
import { effortForBudget } from '../reasoning-effort.ts';
import { writeSharedFields } from '../request-fields.ts';
import { writeReasoningDetails } from './reasoning-details.ts';
import { thoughtOfPart, writeThoughtSignature } from './thought-signature.ts';

/** The request body for a Chat Completions upstream. A streaming request includes usage in the last chunk. */
export function writeChatRequest(conversation: Conversation): Record<string, unknown> {
  const { sampling, reasoning } = conversation;
  return {
    ...defined({
      model: conversation.model,
      messages: writeMessages(conversation),
      stream: conversation.stream || undefined,
      stream_options: conversation.stream ? { include_usage: true } : undefined,
      max_tokens: conversation.maxTokens,
      temperature: sampling.temperature,
      top_p: sampling.topP,
      top_k: sampling.topK,
      frequency_penalty: sampling.frequencyPenalty,
      presence_penalty: sampling.presencePenalty,
      seed: sampling.seed,
      stop: sampling.stop?.length === 0 ? undefined : sampling.stop,
      tools: conversation.tools.length > 0 ? conversation.tools.map(writeTool) : undefined,
      tool_choice: conversation.tools.length > 0 ? writeToolChoice(conversation) : undefined,
      parallel_tool_calls: conversation.tools.length > 0 ? conversation.parallelToolCalls : undefined,
      response_format: writeResponseFormat(conversation.responseFormat),
      reasoning_effort: reasoning?.effort ?? effortForBudget(reasoning, conversation.maxTokens),
      ...writeSharedFields(conversation),
      verbosity: conversation.verbosity,
      logprobs: conversation.logprobs === undefined ? undefined : true,
      top_logprobs: conversation.logprobs?.top,
      metadata: conversation.metadata,
      cache_control: conversation.cacheControl,
    }),
    ...conversation.extra?.['chat-completions'],
  };
}

function writeMessages(conversation: Conversation): Record<string, unknown>[] {
  const messages: Record<string, unknown>[] = [];
  if (conversation.system.length > 0) messages.push({ role: 'system', content: writeSystem(conversation.system) });
  // Results must directly follow their calls. Messages between them are moved after the results.
  let between: Record<string, unknown>[] = [];
  const flush = () => {
    append(messages, between);
    between = [];
  };
  for (const turn of conversation.turns) {
    if (turn.role === 'assistant') {
      flush();
      messages.push(writeAssistant(turn.parts, turn.name));
      continue;
    }
    const written =
      turn.role === 'user' ? writeUser(turn.parts, turn.name) : [{ role: 'system', content: writeSystem(turn.parts) }];
    for (const message of written) (message.role === 'tool' ? messages : between).push(message);
  }
  flush();
  return messages;
}

/** One string, as spec 2.1 and the chat templates of local servers require, unless a cache breakpoint must be kept. */
function writeSystem(parts: readonly TextPart[]): unknown {
  if (parts.some((part) => part.cacheControl !== undefined)) return parts.map(writePart);
  return parts.map((part) => part.text).join('\n\n');
}

function writeUser(parts: readonly UserPart[], name: string | undefined): Record<string, unknown>[] {
  const results: Record<string, unknown>[] = [];
  const seen: UserPart[] = [];
  for (const part of parts) {
    if (part.type !== 'tool-result') {
      seen.push(part);
      continue;
    }
    // A tool message can contain only text. Other content of the result is added to the next user message.
    results.push({ role: 'tool', tool_call_id: part.id, content: writeResult(part) });
    for (const inner of part.content) if (inner.type !== 'text') seen.push(inner);
  }
  if (seen.length === 0 && results.length > 0) return results;
  const only = seen.length === 1 ? seen[0] : undefined;
  const plain = seen.length === 0 ? '' : only?.type === 'text' && !only.cacheControl ? only.text : undefined;
  return [...results, defined({ role: 'user', content: plain ?? seen.map(writePart), name })];
}

/** A string, unless a cache breakpoint must be kept. */
function writeResult({ content, cacheControl }: ToolResultPart): unknown {
  const text = content.map(resultText).join('');
  const mark = cacheControl ?? content.findLast((part) => part.cacheControl !== undefined)?.cacheControl;
  return mark === undefined ? text : [{ type: 'text', text, cache_control: mark }];
}

function resultText(part: TextPart | ImagePart | FilePart): string {
  return part.type === 'text' ? part.text : `[${part.type} in the next message]`;
}

function writePart(part: UserPart): Record<string, unknown> {
  switch (part.type) {
    case 'text':
      return defined({ type: 'text', text: part.text, cache_control: part.cacheControl });
    case 'image':
      return defined({
        type: 'image_url',
        image_url: defined({ url: requireUrl(part.media), detail: part.detail }),
        cache_control: part.cacheControl,
      });
    case 'file':
      return defined({ type: 'file', file: writeFile(part), cache_control: part.cacheControl });
    case 'audio':
      if (part.media.kind !== 'data')
        throw unsupportedField('messages', msg('A recording must be sent with its data.'));
      return { type: 'input_audio', input_audio: { data: part.media.base64, format: part.format } };
    case 'tool-result':
      return { type: 'text', text: part.content.map(resultText).join('') };
  }
}

function requireUrl(media: Media): string {
  if (media.kind === 'id')
    throw unsupportedField('messages', msg("An image that is stored at another vendor can't be sent to this model."));
  return mediaUrl(media);
}

function writeFile(part: FilePart): Record<string, unknown> {
  if (part.media.kind === 'id') return { file_id: part.media.id };
  if (part.media.kind === 'url') {
    throw unsupportedField(
      'messages',
      msg('This model takes files as data, not by URL (Chat Completions has no file URL).'),
    );
  }
  return { file_data: mediaUrl(part.media), filename: part.filename ?? 'file' };
}

function writeAssistant(parts: readonly AssistantPart[], name: string | undefined): Record<string, unknown> {
  const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  const marked = parts.find((part) => part.type === 'text' && part.cacheControl !== undefined);
  const refusal = parts.flatMap((part) => (part.type === 'refusal' ? [part.text] : []));
  const { calls, reasoning, signed } = writeCalls(parts);
  const details = writeReasoningDetails(reasoning);
  return defined({
    role: 'assistant',
    content:
      marked !== undefined
        ? parts.filter(isText).map(writePart)
        : text.length > 0
          ? text.join('')
          : calls.length > 0 || refusal.length > 0
            ? null
            : '',
    refusal: refusal.length > 0 ? refusal.join('') : undefined,
    reasoning_content: reasoning.map((part) => part.text).join('') || undefined,
    reasoning_details: details.length > 0 ? details : undefined,
    tool_calls: calls.length > 0 ? calls : undefined,
    ...signed,
    name,
  });
}

function isText(part: AssistantPart): part is TextPart {
  return part.type === 'text';
}

interface WrittenCalls {
  readonly calls: readonly Record<string, unknown>[];
  readonly reasoning: readonly ReasoningPart[];
  /** Gemini's signature of the message. */
  readonly signed: Record<string, unknown>;
}

/** The calls and the reasoning of an answer. Signatures of thoughts are written with the calls that follow them. */
export function writeCalls(parts: readonly AssistantPart[]): WrittenCalls {
  const calls: Record<string, unknown>[] = [];
  const reasoning: ReasoningPart[] = [];
  let signed: Record<string, unknown> = {};
  let next: Record<string, unknown> = {};
  for (const part of parts) {
    if (part.type === 'tool-call') {
      calls.push({ ...writeToolCall(part), ...next });
      next = {};
    }
    if (part.type !== 'reasoning') continue;
    const thought = thoughtOfPart(part);
    if (thought === undefined) reasoning.push(part);
    else if (thought.place === 'call') next = writeThoughtSignature(thought.signature);
    else signed = writeThoughtSignature(thought.signature);
  }
  return { calls, reasoning, signed };
}

/** Empty arguments of a function become `{}`: a call of a tool without parameters has none, but JSON requires a value. */
function writeToolCall(call: ToolCallPart): Record<string, unknown> {
  const { id, name, cacheControl } = call;
  if (call.custom) return { id, type: 'custom', custom: { name, input: call.arguments } };
  const definition = { name, arguments: call.arguments.trim() || '{}' };
  return defined({ id, type: 'function', function: definition, cache_control: cacheControl });
}

function writeTool(tool: Tool): Record<string, unknown> {
  if (tool.custom !== undefined) {
    const { grammar } = tool.custom;
    const format = grammar && { type: 'grammar', grammar };
    return { type: 'custom', custom: defined({ name: tool.name, description: tool.description, format }) };
  }
  return defined({
    type: 'function',
    function: defined({
      name: tool.name,
      description: tool.description,
      parameters: tool.parameters,
      strict: tool.strict,
    }),
    cache_control: tool.cacheControl,
  });
}

function writeToolChoice({ toolChoice, tools }: Conversation): unknown {
  if (toolChoice === undefined) return undefined;
  const named = (name: string) => {
    const custom = tools.some((tool) => tool.name === name && tool.custom !== undefined);
    return custom ? { type: 'custom', custom: { name } } : { type: 'function', function: { name } };
  };
  if (toolChoice.type === 'tool') return named(toolChoice.name);
  if (toolChoice.type !== 'allowed') return toolChoice.type;
  const allowed = toolChoice.tools.map(({ name }) => named(name));
  return { type: 'allowed_tools', allowed_tools: { mode: toolChoice.mode, tools: allowed } };
}

function writeResponseFormat(format: ResponseFormat | undefined): unknown {
  if (format === undefined) return undefined;
  if (format.type !== 'json-schema') return { type: format.type === 'json' ? 'json_object' : 'text' };
  const { name, schema, description, strict } = format;
  return { type: 'json_schema', json_schema: defined({ name, schema, description, strict }) };
}
