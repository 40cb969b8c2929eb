import {
  append,
  arrayOrEmpty,
  defined,
  finiteNumber,
  isObject,
  type JsonObject,
  nonEmptyString,
  objectOrEmpty,
} from '../../base/json.ts';
import type {
  AssistantPart,
  Conversation,
  FilePart,
  ImagePart,
  Media,
  ReasoningRequest,
  ResponseFormat,
  TextPart,
  Tool,
  ToolChoice,
  Turn,
  UserPart,
  VendorTool,
} from '../conversation.ts';
import { invalidRequest, unsupportedField } from '../errors/svc-error.ts';
import { readSeal } from '../packed-reasoning.ts';
import {
  optionalBoolean,
  optionalCount,
  optionalNumber,
  readCacheControl,
  refuseState,
  requiredList,
  requiredModel,
  unknownMembers,
} from '../request-fields.ts';
import { refuseDemandedTool } from '../tools/tool-choice.ts';
import { isVendorAnswer, isVendorBlock, summaryOf, textOfSearchResult, textOfVendorBlock } from './vendor-blocks.ts';

const KNOWN = new Set(
  `model messages system stream max_tokens temperature top_p top_k stop_sequences tools tool_choice thinking
  output_config output_format metadata service_tier cache_control`.split(/\s+/),
);

/**
 * Rejects a conversation that the vendor holds, also if the body is passed on: other vendors ignore the field and would
 * answer without the history. Anthropic's SDK sends the whole history when it reads `details`.
 *
 * @throws SvcError 400.
 */
export function refuseThread(body: JsonObject): void {
  if (body.thread === undefined || body.thread === null) return;
  throw unsupportedField(
    'thread',
    'This gateway does not store conversations. Send the whole history in `messages`, without `thread`.',
  ).with({ details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] } });
}

/** @throws SvcError 400 that names the field. */
export function readMessagesRequest(body: JsonObject): Conversation {
  const model = requiredModel(body);
  const messages = requiredList(body, 'messages');
  refuseThread(body);
  refuseState(body, {
    container: 'Containers run at Anthropic and can’t be sent to this model.',
    mcp_servers: 'MCP servers are called by Anthropic and can’t be sent to this model.',
  });
  const { tools, vendorTools } = readTools(body.tools);
  const extra = unknownMembers(body, KNOWN);
  return defined({
    model,
    cacheControl: readCacheControl(body),
    system: readSystem(body.system, 'system').filter((part) => !isAttribution(part)),
    turns: readTurns(messages),
    tools,
    vendorTools,
    toolChoice: readToolChoice(objectOrEmpty(body.tool_choice), tools, vendorTools),
    parallelToolCalls: objectOrEmpty(body.tool_choice).disable_parallel_tool_use === true ? false : undefined,
    sampling: defined({
      temperature: optionalNumber(body, 'temperature', 0, 1),
      topP: optionalNumber(body, 'top_p', 0, 1),
      topK: optionalNumber(body, 'top_k', 0, Number.MAX_SAFE_INTEGER),
      stop: readStop(body.stop_sequences),
    }),
    maxTokens: optionalCount(body, 'max_tokens'),
    responseFormat: readResponseFormat(body),
    reasoning: readReasoning(body),
    stream: optionalBoolean(body, 'stream') ?? false,
    user: nonEmptyString(objectOrEmpty(body.metadata).user_id),
    serviceTier: body.service_tier === 'standard_only' ? 'default' : nonEmptyString(body.service_tier),
    extra: extra && { messages: extra },
  });
}

function readStop(value: unknown): readonly string[] | undefined {
  if (value === undefined || value === null) return undefined;
  if (Array.isArray(value) && value.every((stop) => typeof stop === 'string')) return value;
  throw invalidRequest('stop_sequences', '`stop_sequences` must be a list of strings.');
}

function readResponseFormat(body: JsonObject): ResponseFormat | undefined {
  const format = objectOrEmpty(objectOrEmpty(body.output_config).format ?? body.output_format);
  if (format.type !== 'json_schema' || !isObject(format.schema)) return undefined;
  return { type: 'json-schema', name: nonEmptyString(format.name) ?? 'response', schema: format.schema };
}

function readReasoning(body: JsonObject): ReasoningRequest | undefined {
  const thinking = objectOrEmpty(body.thinking);
  const { type } = thinking;
  // Only Claude Sonnet has the kind `between_tools`, in place of `disabled`.
  const mode = type === 'between_tools' ? 'disabled' : isMode(type) ? type : undefined;
  const effort = nonEmptyString(objectOrEmpty(body.output_config).effort);
  if (mode === undefined && effort === undefined) return undefined;
  return defined({
    effort,
    budgetTokens: finiteNumber(thinking.budget_tokens),
    mode,
    summary: nonEmptyString(thinking.display),
  });
}

function isMode(type: unknown): type is 'enabled' | 'adaptive' | 'disabled' {
  return type === 'enabled' || type === 'adaptive' || type === 'disabled';
}

/** Reads the client's own tools. The others are run or defined by Anthropic (`web_search_20250305`). */
function readTools(value: unknown): Pick<Conversation, 'tools'> & { vendorTools: readonly VendorTool[] | undefined } {
  const tools: Tool[] = [];
  const vendorTools: VendorTool[] = [];
  for (const [index, each] of arrayOrEmpty(value).entries()) {
    const tool = objectOrEmpty(each);
    const at = `tools.${index}`;
    const { type } = tool;
    if (type === undefined || type === null || type === 'custom') tools.push(readTool(tool, at));
    else if (typeof type === 'string') vendorTools.push(defined({ type, name: nonEmptyString(tool.name), at }));
    else throw invalidRequest(`${at}.type`, 'The type of a tool must be a string.');
  }
  return { tools, vendorTools: vendorTools.length > 0 ? vendorTools : undefined };
}

function readTool(tool: JsonObject, at: string): Tool {
  const name = nonEmptyString(tool.name);
  if (name === undefined) throw invalidRequest(`${at}.name`, 'A tool needs a name.');
  return defined({
    name,
    description: nonEmptyString(tool.description),
    parameters: isObject(tool.input_schema) ? tool.input_schema : { type: 'object', properties: {} },
    strict: optionalBoolean(tool, 'strict'),
    cacheControl: readCacheControl(tool),
  });
}

/** @throws SvcError 400 if the choice demands a tool that only its vendor can run. */
function readToolChoice(
  choice: JsonObject,
  tools: readonly Tool[],
  vendorTools: readonly VendorTool[] | undefined,
): ToolChoice | undefined {
  switch (choice.type) {
    case undefined:
      return undefined;
    case 'auto':
    case 'none':
      return { type: choice.type };
    case 'any':
      if (tools.length === 0) refuseDemandedTool(vendorTools?.[0]);
      return { type: 'required' };
    case 'tool':
      refuseDemandedTool(vendorTools?.find(({ name }) => name !== undefined && name === choice.name));
      if (typeof choice.name === 'string') return { type: 'tool', name: choice.name };
  }
  throw invalidRequest('tool_choice', '`tool_choice` must be auto, any, none or name a tool.');
}

/**
 * The line by which Claude Code names itself to Anthropic's servers. It changes with each request, so it would end the
 * prompt cache of other servers (ollama/ollama#14918, vllm-project/vllm#36829).
 */
export function isAttribution(block: unknown): boolean {
  return nonEmptyString(objectOrEmpty(block).text)?.startsWith('x-anthropic-billing-header:') ?? false;
}

function readSystem(value: unknown, at: string): TextPart[] {
  if (typeof value === 'string') return [{ type: 'text', text: value }];
  return arrayOrEmpty(value).map((block, index) => readText(objectOrEmpty(block), `${at}.${index}`));
}

function readText(block: JsonObject, at: string): TextPart {
  if (block.type !== 'text' || typeof block.text !== 'string') throw invalidRequest(at, 'A text block needs a text.');
  const citations = arrayOrEmpty(block.citations);
  return defined({
    type: 'text' as const,
    text: block.text,
    cacheControl: readCacheControl(block),
    annotations: citations.length > 0 ? citations : undefined,
  });
}

/** Messages of the assistant in a row are one turn to the API. */
function readTurns(messages: readonly unknown[]): Turn[] {
  const turns: Turn[] = [];
  let assistant: AssistantPart[] | undefined;
  messages.forEach((value, index) => {
    const { summary, message } = splitCompaction(objectOrEmpty(value));
    if (summary !== undefined) {
      turns.length = 0;
      assistant = undefined;
      turns.push({ role: 'user', parts: [{ type: 'text', text: summary }] });
    }
    const turn = readMessage(message, `messages.${index}`);
    if (turn.role !== 'assistant') {
      assistant = undefined;
      turns.push(turn);
      return;
    }
    if (assistant === undefined) {
      assistant = [];
      turns.push({ role: 'assistant', parts: assistant });
    }
    append(assistant, turn.parts);
  });
  return turns;
}

/**
 * A compaction replaces all messages before it (Anthropic, "Compaction"). Its summary becomes a message of the user, and
 * the rest of its own message follows.
 */
function splitCompaction(message: JsonObject): { readonly summary?: string; readonly message: JsonObject } {
  const blocks = arrayOrEmpty(message.content).map(objectOrEmpty);
  const at = blocks.findLastIndex((block) => summaryOf(block) !== undefined);
  const summary = at < 0 ? undefined : summaryOf(blocks[at] ?? {});
  return summary === undefined ? { message } : { summary, message: { ...message, content: blocks.slice(at + 1) } };
}

function readMessage(message: JsonObject, at: string): Turn {
  const { role, content } = message;
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  if (!Array.isArray(blocks)) throw invalidRequest(`${at}.content`, 'Content must be a string or a list of blocks.');
  const inside = `${at}.content`;
  if (role === 'system') return { role, parts: readSystem(blocks, inside) };
  if (role === 'user') {
    return { role, parts: blocks.map((block, index) => readUserBlock(objectOrEmpty(block), `${inside}.${index}`)) };
  }
  if (role !== 'assistant') throw invalidRequest(`${at}.role`, 'A message needs a role: user or assistant.');
  return {
    role,
    parts: blocks.flatMap((block, index) => readAssistantBlock(objectOrEmpty(block), `${inside}.${index}`)),
  };
}

function readUserBlock(block: JsonObject, at: string): UserPart {
  if (block.type !== 'tool_result') return readContentBlock(block, at);
  const id = nonEmptyString(block.tool_use_id);
  if (id === undefined) throw invalidRequest(`${at}.tool_use_id`, 'A tool result needs the id of its call.');
  const content =
    typeof block.content === 'string' ? [{ type: 'text', text: block.content }] : arrayOrEmpty(block.content);
  return defined({
    type: 'tool-result' as const,
    id,
    content: content.map((inner, index) => readContentBlock(objectOrEmpty(inner), `${at}.content.${index}`)),
    isError: block.is_error === true ? true : undefined,
    cacheControl: readCacheControl(block),
  });
}

function readContentBlock(block: JsonObject, at: string): TextPart | ImagePart | FilePart {
  const cacheControl = readCacheControl(block);
  switch (block.type) {
    case 'text':
      return readText(block, at);
    case 'image':
      return defined({ type: 'image' as const, media: readSource(objectOrEmpty(block.source), at), cacheControl });
    case 'document': {
      const media = readSource(objectOrEmpty(block.source), at);
      return defined({ type: 'file' as const, media, filename: nonEmptyString(block.title), cacheControl });
    }
    // Anthropic guide "Tool search tool": the result of a client's own search names tools. All of them are in `tools`.
    case 'tool_reference':
      return { type: 'text', text: `Tool ${String(block.tool_name)} is available.` };
    case 'search_result':
      return defined({ type: 'text' as const, text: textOfSearchResult(block), cacheControl });
    default: {
      const text = isVendorBlock(block) ? textOfVendorBlock(block) : undefined;
      if (text !== undefined) return { type: 'text', text };
      throw unsupportedField(`${at}.type`, `Content of type "${String(block.type)}" can't be sent to this model.`);
    }
  }
}

function readSource(source: JsonObject, at: string): Media {
  const data = nonEmptyString(source.data);
  const url = nonEmptyString(source.url);
  const id = nonEmptyString(source.file_id);
  if (source.type === 'base64' && data !== undefined) {
    return { kind: 'data', mediaType: nonEmptyString(source.media_type) ?? 'application/octet-stream', base64: data };
  }
  if (source.type === 'text' && data !== undefined) {
    return { kind: 'data', mediaType: 'text/plain', base64: Buffer.from(data, 'utf8').toString('base64') };
  }
  if (source.type === 'content') {
    const text = textOfContent(source.content);
    if (text !== undefined)
      return { kind: 'data', mediaType: 'text/plain', base64: Buffer.from(text, 'utf8').toString('base64') };
  }
  if (source.type === 'url' && url !== undefined) return { kind: 'url', url };
  if (source.type === 'file' && id !== undefined) return { kind: 'id', id };
  throw unsupportedField(`${at}.source`, `A source of type "${String(source.type)}" can't be sent to this model.`);
}

/** The text of a document that the client composed of texts; undefined if it has images. */
function textOfContent(content: unknown): string | undefined {
  if (typeof content === 'string') return content;
  const texts = arrayOrEmpty(content).map((block) => objectOrEmpty(block).text);
  return texts.length > 0 && texts.every((text) => typeof text === 'string') ? texts.join('\n') : undefined;
}

function readAssistantBlock(block: JsonObject, at: string): AssistantPart[] {
  if (isVendorAnswer(block)) {
    const text = textOfVendorBlock(block);
    return text === undefined ? [] : [{ type: 'text', text }];
  }
  return [readOwnBlock(block, at)];
}

function readOwnBlock(block: JsonObject, at: string): AssistantPart {
  switch (block.type) {
    case 'text':
      return readText(block, at);
    case 'thinking': {
      const signature = nonEmptyString(block.signature);
      const seals =
        signature === undefined ? [] : [readSeal(signature, (text) => ({ vendor: 'messages', signature: text }))];
      return { type: 'reasoning', text: nonEmptyString(block.thinking) ?? '', seals };
    }
    case 'redacted_thinking': {
      const redacted = nonEmptyString(block.data) ?? '';
      return {
        type: 'reasoning',
        text: '',
        seals: [readSeal(redacted, (text) => ({ vendor: 'messages', redacted: text }))],
      };
    }
    case 'tool_use': {
      const id = nonEmptyString(block.id);
      const name = nonEmptyString(block.name);
      if (id === undefined || name === undefined) throw invalidRequest(at, 'A tool call needs an id and a name.');
      const json = JSON.stringify(block.input ?? {});
      return defined({ type: 'tool-call' as const, id, name, arguments: json, cacheControl: readCacheControl(block) });
    }
    default:
      throw unsupportedField(`${at}.type`, `Content of type "${String(block.type)}" can't be sent to this model.`);
  }
}
