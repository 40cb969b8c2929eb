import { append, defined, isObject, ownEntry } from '../../base/json.ts';
import type {
  AssistantPart,
  Conversation,
  FilePart,
  ImagePart,
  Media,
  ReasoningPart,
  TextPart,
  Tool,
  ToolResultPart,
  Turn,
  UserPart,
} from '../conversation.ts';
import { msg, unsupportedField } from '../errors/svc-error.ts';
import { textOfData, typeOfData } from '../media.ts';
import { budgetShare } from '../reasoning-effort.ts';
import { shortIdentifier } from '../request-fields.ts';
import { limitCacheMarks } from './cache-marks.ts';
import { ADAPTIVE_SINCE, BOUND_SINCE, claudeVersion } from './claude-version.ts';
import { messagesSchema } from './schema.ts';
import { toolInput } from './tool-input.ts';

/** Messages requires `max_tokens`. A provider normally sets the model's limit before this default applies. */
const DEFAULT_MAX_TOKENS = 4096;
/** Minimum thinking budget (Anthropic, "Extended thinking"). */
const MIN_BUDGET = 1024;

/** Anthropic's limit of `metadata.user_id`. */
const MAX_USER_ID = 256;
/** Anthropic's names of OpenAI's tiers. `auto` uses priority capacity if there is any. */
const SERVICE_TIERS: Readonly<Record<string, string>> = {
  auto: 'auto',
  priority: 'auto',
  default: 'standard_only',
};

type Body = Record<string, unknown>;

/** The request body for a Messages upstream. @throws SvcError 400 for content without an equivalent in Messages. */
export function writeMessagesRequest(conversation: Conversation): Body {
  const { sampling } = conversation;
  const user = shortIdentifier(conversation.user ?? conversation.safetyIdentifier, MAX_USER_ID);
  const { system, messages: written } = writePrompt(conversation);
  const maxTokens = conversation.maxTokens ?? DEFAULT_MAX_TOKENS;
  const { thought, messages } = withBoundThinking(
    conversation.model,
    thinkingOf(conversation, written, maxTokens),
    written,
  );
  const config = { ...thought.fields.output_config, ...outputFormat(conversation) };
  const budget = thought.fields.thinking?.budget_tokens ?? 0;
  const body = defined({
    model: conversation.model,
    cache_control: conversation.cacheControl,
    max_tokens: budget >= maxTokens ? budget + maxTokens : maxTokens,
    system: system.length === 0 ? undefined : writeSystem(system),
    messages: isManual(thought) ? messages.map(withThinkingFirst) : messages,
    stream: conversation.stream || undefined,
    ...(thought.thinking ? {} : writeSampling(sampling)),
    stop_sequences: writeStop(sampling.stop),
    tools: conversation.tools.length > 0 ? conversation.tools.map(writeTool) : undefined,
    tool_choice: conversation.tools.length > 0 ? writeToolChoice(conversation) : undefined,
    thinking: thought.fields.thinking,
    output_config: Object.keys(config).length > 0 ? config : undefined,
    metadata: user === undefined ? undefined : { user_id: user },
    service_tier: ownEntry(SERVICE_TIERS, conversation.serviceTier ?? ''),
  });
  return { ...limitCacheMarks(body), ...conversation.extra?.messages };
}

/** Temperature is limited to 0 to 1. Only temperature or `top_p` is sent: newer models reject both together. */
function writeSampling(sampling: Conversation['sampling']): Body {
  const temperature = sampling.temperature === undefined ? undefined : Math.min(sampling.temperature, 1);
  return defined({
    temperature,
    top_p: temperature === undefined ? sampling.topP : undefined,
    top_k: sampling.topK !== undefined && sampling.topK > 0 ? sampling.topK : undefined,
  });
}

/** The API rejects a stop sequence of white space only. */
function writeStop(stop: readonly string[] | undefined): readonly string[] | undefined {
  const usable = stop?.filter((sequence) => sequence.trim() !== '');
  return usable && usable.length > 0 ? usable : undefined;
}

interface Thinking {
  readonly thinking: boolean;
  readonly fields: {
    readonly thinking?: {
      readonly type: string;
      readonly budget_tokens?: number;
      readonly display?: string;
      readonly block_binding?: { readonly prefix_mismatch_behavior: 'drop_block' };
    };
    readonly output_config?: { readonly effort: string };
  };
}

/** Newer models omit the text of thinking unless it is requested (Anthropic, "Controlling thinking display"). */
function thinkingDisplay(model: string, summary: string | undefined): { display?: string } {
  if (summary === 'summarized' || summary === 'omitted') return { display: summary };
  return summary !== undefined && isAdaptive(model) ? { display: 'summarized' } : {};
}

function isAdaptive(model: string): boolean {
  return (claudeVersion(model) ?? 0) >= ADAPTIVE_SINCE;
}

function writeThinking(conversation: Conversation, maxTokens: number): Thinking {
  const { effort, budgetTokens, mode, summary } = conversation.reasoning ?? {};
  const display = thinkingDisplay(conversation.model, summary);
  if (mode === 'disabled' || effort === 'none') return { thinking: false, fields: { thinking: { type: 'disabled' } } };
  if (mode === 'between-tools') return { thinking: false, fields: { thinking: { type: 'between_tools' } } };
  const level = effort === 'minimal' ? 'low' : effort;
  const config = level === undefined ? {} : { output_config: { effort: level } };
  if (mode === 'adaptive') return { thinking: true, fields: { thinking: { type: 'adaptive', ...display }, ...config } };
  if (budgetTokens !== undefined || mode === 'enabled') {
    const budget_tokens = Math.max(MIN_BUDGET, budgetTokens ?? Math.floor(maxTokens * (budgetShare(effort) ?? 0)));
    return { thinking: true, fields: { thinking: { type: 'enabled', budget_tokens, ...display } } };
  }
  if (effort === undefined) return { thinking: false, fields: {} };
  if (isAdaptive(conversation.model))
    return { thinking: true, fields: { thinking: { type: 'adaptive', ...display }, ...config } };
  const budget_tokens = Math.max(MIN_BUDGET, Math.floor(maxTokens * (budgetShare(effort) ?? 0.3)));
  return { thinking: true, fields: { thinking: { type: 'enabled', budget_tokens } } };
}

/**
 * The API rejects thinking together with a forced tool, and within a tool loop whose signed thinking is missing
 * ("Expected `thinking`... but found `tool_use`").
 */
function thinkingOf(conversation: Conversation, messages: readonly Message[], maxTokens: number): Thinking {
  const none = { fields: {}, thinking: false };
  if (conversation.reasoning === undefined) return none;
  const choice = conversation.tools.length > 0 ? conversation.toolChoice?.type : undefined;
  if (choice === 'required' || choice === 'tool') return none;
  const thought = writeThinking(conversation, maxTokens);
  const last = messages.findLast(({ role }) => role === 'assistant');
  const results = conversation.turns.at(-1)?.parts.some((part) => part.type === 'tool-result') ?? false;
  if (!results || last === undefined) return thought;
  const blocks = blocksOf(last);
  return blocks.slice(0, isManual(thought) ? 1 : undefined).some(isThinking) ? thought : none;
}

/**
 * Newer models refuse thinking if anything before it has changed, as the tools, the system prompt and old messages may.
 * The API then leaves it out instead. Without thinking in the answer, none is sent (Anthropic, "Fix a thinking block bound
 * to a different conversation").
 */
function withBoundThinking(
  model: string,
  thought: Thinking,
  messages: readonly Message[],
): { thought: Thinking; messages: readonly Message[] } {
  const sent = messages.some((message) => blocksOf(message).some(isThinking));
  if (!sent || (claudeVersion(model) ?? 0) < BOUND_SINCE) return { thought, messages };
  const { thinking = { type: 'adaptive' } } = thought.fields;
  if (thinking.type !== 'adaptive')
    return { thought, messages: messages.map(withoutThinking).filter(({ content }) => content.length > 0) };
  const bound = { ...thinking, block_binding: { prefix_mismatch_behavior: 'drop_block' } } as const;
  return { thought: { ...thought, fields: { ...thought.fields, thinking: bound } }, messages };
}

function blocksOf({ content }: Message): readonly Body[] {
  return typeof content === 'string' ? [] : content;
}

/** Thinking with a budget. The reports of a refused order are about it, and not about adaptive thinking. */
function isManual({ fields }: Thinking): boolean {
  return fields.thinking?.type === 'enabled';
}

function isThinking({ type }: Body): boolean {
  return type === 'thinking' || type === 'redacted_thinking';
}

/**
 * Without its thinking, if another block is before it, as after a change of the model: "If an assistant message contains
 * any thinking blocks, the first block must be `thinking`".
 */
function withThinkingFirst(message: Message): Message {
  const blocks = blocksOf(message);
  const at = blocks.findIndex(isThinking);
  return at > 0 ? withoutThinking(message) : message;
}

function withoutThinking(message: Message): Message {
  const blocks = blocksOf(message);
  return blocks.some(isThinking) ? { ...message, content: blocks.filter((block) => !isThinking(block)) } : message;
}

function outputFormat(conversation: Conversation): Body {
  const format = conversation.responseFormat;
  return format?.type === 'json-schema'
    ? { format: { type: 'json_schema', schema: messagesSchema(format.schema) } }
    : {};
}

/** The API rejects an empty list of messages, so without one the last system text becomes the user's message. */
function writePrompt({ system, turns }: Conversation): { system: readonly TextPart[]; messages: readonly Message[] } {
  const texts = [...system, ...midSystem(turns)].filter((part) => part.text !== '');
  const messages = writeTurns(turns);
  const last = messages.length === 0 ? texts.at(-1) : undefined;
  if (last === undefined) return { system: texts, messages };
  return { system: texts.slice(0, -1), messages: writeTurns([{ role: 'user', parts: [last] }]) };
}

function writeSystem(parts: readonly TextPart[]): unknown {
  const [only] = parts;
  return parts.length === 1 && only && !only.cacheControl ? only.text : parts.map(writeText);
}

function midSystem(turns: readonly Turn[]): TextPart[] {
  return turns.flatMap((turn) => (turn.role === 'system' ? turn.parts : []));
}

interface Message {
  readonly role: 'user' | 'assistant';
  readonly content: string | readonly Body[];
}

/** Consecutive turns of one role become one message, with tool results first (Anthropic, "Tool use"). */
function writeTurns(turns: readonly Turn[]): readonly Message[] {
  const messages: { readonly role: Message['role']; readonly content: Body[] }[] = [];
  for (const turn of turns) {
    if (turn.role === 'system') continue;
    const content = turn.role === 'user' ? turn.parts.flatMap(writeUserPart) : turn.parts.flatMap(writeAssistantPart);
    const last = messages.at(-1);
    if (last?.role === turn.role) append(last.content, content);
    else messages.push({ role: turn.role, content });
  }
  const kept = messages.filter((message) => message.content.length > 0);
  return kept.map((message, index) => {
    const content = message.role === 'user' ? resultsFirst(message.content) : message.content;
    if (index === kept.length - 1 && message.role === 'assistant') trimEnd(content);
    return { role: message.role, content: plainText(content) ?? content };
  });
}

function resultsFirst(content: Body[]): Body[] {
  const results = content.filter((block) => block.type === 'tool_result');
  if (results.length === 0) return content;
  return [...results, ...content.filter((block) => block.type !== 'tool_result')];
}

/** The API requires: "final assistant content cannot end with trailing whitespace". */
function trimEnd(content: Body[]): void {
  const last = content.at(-1);
  if (last?.type === 'text' && typeof last.text === 'string') last.text = last.text.trimEnd() || '.';
}

function plainText(content: readonly Body[]): string | undefined {
  const [only] = content;
  const plain = content.length === 1 && only?.type === 'text' && !only.cache_control && !only.citations;
  return plain && typeof only.text === 'string' ? only.text : undefined;
}

function writeText(part: TextPart): Body {
  return defined({ type: 'text', text: part.text, cache_control: part.cacheControl });
}

/** The API rejects empty text blocks. */
function writeUserPart(part: UserPart): Body[] {
  switch (part.type) {
    case 'text':
      return part.text === '' ? [] : [writeText(part)];
    case 'image':
    case 'file':
      return [writeMedia(part)];
    case 'audio':
      throw unsupportedField('messages', msg('This model can’t be sent recordings (Messages has no audio).'));
    case 'tool-result':
      return [writeResult(part)];
  }
}

function writeResult(part: ToolResultPart): Body {
  const inside = part.content.findLast(({ cacheControl }) => cacheControl !== undefined)?.cacheControl;
  const blocks = part.content.flatMap(({ cacheControl: _, ...inner }) =>
    inner.type === 'text' ? (inner.text === '' ? [] : [writeText(inner)]) : [writeMedia(inner)],
  );
  return defined({
    type: 'tool_result',
    tool_use_id: part.id,
    content: blocks.length === 0 ? undefined : (plainText(blocks) ?? blocks),
    is_error: part.isError,
    // Some servers refuse a mark inside the result (caozhiyuan/copilot-api#241).
    cache_control: part.cacheControl ?? inside,
  });
}

function writeMedia(part: ImagePart | FilePart): Body {
  if (part.type === 'image') {
    const { media } = part;
    const source =
      media.kind === 'data' ? { type: 'base64', media_type: typeOfData(media), data: media.base64 } : elsewhere(media);
    return defined({ type: 'image', source, cache_control: part.cacheControl });
  }
  return defined({
    type: 'document',
    source: documentSource(part.media),
    title: part.filename,
    cache_control: part.cacheControl,
  });
}

function elsewhere(media: Exclude<Media, { kind: 'data' }>): Body {
  return media.kind === 'url' ? { type: 'url', url: media.url } : { type: 'file', file_id: media.id };
}

function documentSource(media: Media): Body {
  if (media.kind !== 'data') return elsewhere(media);
  const type = media.mediaType.split(';')[0]?.trim() ?? '';
  if (type === 'application/pdf') return { type: 'base64', media_type: type, data: media.base64 };
  const data = textOfData(media);
  if (data !== undefined) return { type: 'text', media_type: 'text/plain', data };
  throw unsupportedField('messages', msg('This model can’t be sent files of type {0}: only PDF and text.', type));
}

function writeAssistantPart(part: AssistantPart): Body[] {
  switch (part.type) {
    case 'text':
      return part.text === '' ? [] : [defined({ ...writeText(part), citations: messagesCitations(part) })];
    case 'refusal':
      return part.text === '' ? [] : [{ type: 'text', text: part.text }];
    case 'reasoning':
      return writeReasoning(part);
    case 'tool-call': {
      const input = toolInput(part.arguments);
      return [defined({ type: 'tool_use', id: part.id, name: part.name, input, cache_control: part.cacheControl })];
    }
  }
}

/** The citations of the Messages format. Annotations of the other formats have a different shape. */
export function messagesCitations(part: TextPart): readonly unknown[] | undefined {
  const citations = (part.annotations ?? []).filter((citation) => isObject(citation) && 'cited_text' in citation);
  return citations.length > 0 ? citations : undefined;
}

/** The API rejects thinking without a signature of Anthropic, so it is omitted. */
function writeReasoning(part: ReasoningPart): Body[] {
  return part.seals.flatMap((seal, index): Body[] => {
    if (seal.vendor !== 'messages') return [];
    if ('redacted' in seal) return [{ type: 'redacted_thinking', data: seal.redacted }];
    return [{ type: 'thinking', thinking: index === 0 ? part.text : '', signature: seal.signature }];
  });
}

function writeTool(tool: Tool): Body {
  return defined({
    name: tool.name,
    description: tool.description,
    input_schema: 'type' in tool.parameters ? tool.parameters : { type: 'object', ...tool.parameters },
    strict: tool.strict === true ? true : undefined,
    cache_control: tool.cacheControl,
  });
}

/** The API can disable parallel calls only inside `tool_choice`. */
function writeToolChoice(conversation: Conversation): Body | undefined {
  const single = conversation.parallelToolCalls === false ? { disable_parallel_tool_use: true } : {};
  const choice = conversation.toolChoice;
  if (choice === undefined) return conversation.parallelToolCalls === false ? { type: 'auto', ...single } : undefined;
  if (choice.type === 'tool') return { type: 'tool', name: choice.name, ...single };
  if (choice.type === 'none') return { type: 'none' };
  const required = choice.type === 'required' || (choice.type === 'allowed' && choice.mode === 'required');
  return { type: required ? 'any' : 'auto', ...single };
}
