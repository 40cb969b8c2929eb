import { defined, isObject, mergeDeep } from '../../base/json.ts';
import type {
  AssistantPart,
  Conversation,
  Media,
  ReasoningPart,
  ReasoningRequest,
  ResponseFormat,
  TextPart,
  Tool,
  ToolCallPart,
  ToolName,
  ToolResultPart,
  Turn,
  UserPart,
} from '../conversation.ts';
import { msg, unsupportedField } from '../errors/svc-error.ts';
import { mediaUrl } from '../media.ts';
import { effortForBudget } from '../reasoning-effort.ts';
import { writeSharedFields } from '../request-fields.ts';

type Body = Record<string, unknown>;

/** OpenAI refuses a smaller limit ("integer below minimum value"). */
const MIN_OUTPUT_TOKENS = 16;

/** The request body for a Responses upstream, always with `store: false`, so that the vendor stores nothing. */
export function writeResponsesRequest(conversation: Conversation): Body {
  const { sampling, tools, verbosity } = conversation;
  const format = writeTextFormat(conversation.responseFormat);
  const { system, input } = writePrompt(conversation);
  const body = defined({
    model: conversation.model,
    instructions: system.map((part) => part.text).join('\n\n') || undefined,
    input,
    stream: conversation.stream || undefined,
    store: false,
    max_output_tokens: conversation.maxTokens && Math.max(conversation.maxTokens, MIN_OUTPUT_TOKENS),
    temperature: sampling.temperature,
    top_p: sampling.topP,
    tools: tools.length > 0 ? writeTools(tools) : undefined,
    tool_choice: tools.length > 0 ? writeToolChoice(conversation) : undefined,
    parallel_tool_calls: tools.length > 0 ? conversation.parallelToolCalls : undefined,
    text: format === undefined && verbosity === undefined ? undefined : defined({ format, verbosity }),
    reasoning: writeReasoning(conversation),
    include: writeInclude(conversation),
    top_logprobs: conversation.logprobs?.top,
    ...writeSharedFields(conversation),
    metadata: conversation.metadata,
  });
  const extra = conversation.extra?.responses;
  return extra === undefined ? body : mergeDeep(body, extra);
}

function writeReasoning(conversation: Conversation): Body | undefined {
  const requested = conversation.reasoning;
  const effort =
    requested?.mode === 'disabled' ? 'none' : (requested?.effort ?? effortForBudget(requested, conversation.maxTokens));
  const summary = effort === 'none' ? undefined : writeSummary(requested);
  const reasoning = defined({ effort, summary });
  return Object.keys(reasoning).length > 0 ? reasoning : undefined;
}

/** Messages clients show thinking if it is on. The API sends no summary unless it is requested. */
function writeSummary(requested: ReasoningRequest | undefined): string | undefined {
  switch (requested?.summary) {
    case 'auto':
    case 'concise':
    case 'detailed':
      return requested.summary;
    case 'omitted':
      return undefined;
    default:
      return requested?.mode === 'enabled' || requested?.mode === 'adaptive' ? 'auto' : undefined;
  }
}

/** Whether the answer may contain reasoning, which the API can only read again with its encrypted content. */
function wantsEncrypted(requested: ReasoningRequest | undefined): boolean {
  if (requested === undefined || requested.mode === 'disabled' || requested.effort === 'none') return false;
  const { includeEncrypted, mode, effort, budgetTokens } = requested;
  return includeEncrypted === true || mode !== undefined || effort !== undefined || budgetTokens !== undefined;
}

function writeInclude({ reasoning, logprobs }: Conversation): string[] | undefined {
  const include = [
    ...(wantsEncrypted(reasoning) ? ['reasoning.encrypted_content'] : []),
    ...(logprobs === undefined ? [] : ['message.output_text.logprobs']),
  ];
  return include.length > 0 ? include : undefined;
}

function writeTextFormat(format: ResponseFormat | undefined): Body | undefined {
  if (format === undefined) return undefined;
  if (format.type !== 'json-schema') return { type: format.type === 'json' ? 'json_object' : 'text' };
  const { name, schema, description, strict } = format;
  return defined({ type: 'json_schema', name, schema, description, strict });
}

/** The tools of a namespace become one tool at the position of the first. */
function writeTools(tools: readonly Tool[]): Body[] {
  const written: Body[] = [];
  const namespaces = new Map<string, Body[]>();
  for (const tool of tools) {
    if (tool.namespace === undefined) {
      written.push(writeTool(tool));
      continue;
    }
    const { name, description } = tool.namespace;
    let inner = namespaces.get(name);
    if (inner === undefined) {
      inner = [];
      namespaces.set(name, inner);
      written.push({ type: 'namespace', name, description: description ?? name, tools: inner });
    }
    inner.push(writeTool(tool));
  }
  return written;
}

/** `strict` defaults to true in Responses and to false in the other formats, so it is always set. */
function writeTool(tool: Tool): Body {
  const { name, description, parameters, strict, custom } = tool;
  if (custom !== undefined) {
    const format = custom.grammar && { type: 'grammar', ...custom.grammar };
    return defined({ type: 'custom', name, description, format });
  }
  return defined({ type: 'function', name, description, parameters, strict: strict ?? false });
}

function writeToolChoice({ toolChoice, tools }: Conversation): unknown {
  if (toolChoice === undefined) return undefined;
  const named = ({ name, namespace }: ToolName) => {
    const tool = tools.find((each) => each.name === name && each.namespace?.name === namespace);
    return defined({ type: tool?.custom === undefined ? 'function' : 'custom', name, namespace });
  };
  if (toolChoice.type === 'tool') return named(toolChoice);
  if (toolChoice.type !== 'allowed') return toolChoice.type;
  return { type: 'allowed_tools', mode: toolChoice.mode, tools: toolChoice.tools.map(named) };
}

/** The API needs an input, so without one the last system text becomes the user's message. */
function writePrompt({ system, turns }: Conversation): { system: readonly TextPart[]; input: readonly Body[] } {
  const input = writeTurns(turns);
  const last = input.length === 0 ? system.findLast((part) => part.text !== '') : undefined;
  if (last === undefined) return { system, input };
  const earlier = system.slice(0, system.lastIndexOf(last));
  return { system: earlier, input: writeTurns([{ role: 'user', parts: [last] }]) };
}

function writeTurns(turns: readonly Turn[]): Body[] {
  /** The ids of the last assistant turn's custom calls. Their results have a type of their own. */
  let custom: ReadonlySet<string> = new Set();
  return turns.flatMap((turn): Body[] => {
    if (turn.role === 'system') return [{ type: 'message', role: 'system', content: turn.parts.map(writeText) }];
    if (turn.role === 'user') return writeUser(turn.parts, custom);
    custom = new Set(turn.parts.flatMap((part) => (part.type === 'tool-call' && part.custom ? [part.id] : [])));
    return turn.parts.flatMap(writeAssistantPart);
  });
}

function writeUser(parts: readonly UserPart[], custom: ReadonlySet<string>): Body[] {
  const results = parts.filter((part) => part.type === 'tool-result');
  const rest = parts.filter((part) => part.type !== 'tool-result');
  const items: Body[] = results.map((result) =>
    custom.has(result.id) ? { ...writeResult(result), type: 'custom_tool_call_output' } : writeResult(result),
  );
  if (rest.length > 0 || results.length === 0)
    items.push({ type: 'message', role: 'user', content: rest.map(writePart) });
  return items;
}

function writeResult(part: ToolResultPart): Body {
  const [only] = part.content;
  const plain =
    part.content.length === 0 ? '' : part.content.length === 1 && only?.type === 'text' ? only.text : undefined;
  return { type: 'function_call_output', call_id: part.id, output: plain ?? part.content.map(writePart) };
}

function writeText(part: TextPart): Body {
  return { type: 'input_text', text: part.text };
}

function writePart(part: UserPart): Body {
  switch (part.type) {
    case 'text':
      return writeText(part);
    case 'image':
      return defined({ type: 'input_image', ...writeImage(part.media), detail: part.detail });
    case 'file':
      return defined({ type: 'input_file', filename: part.filename, ...writeFile(part.media, part.filename) });
    case 'audio':
      if (part.media.kind !== 'data')
        throw unsupportedField('messages', msg('A recording must be sent with its data.'));
      return { type: 'input_audio', input_audio: { data: part.media.base64, format: part.format } };
    case 'tool-result':
      return writeResult(part);
  }
}

function writeImage(media: Media): Body {
  return media.kind === 'id' ? { file_id: media.id } : { image_url: mediaUrl(media) };
}

/** The API rejects file data without a file name. */
function writeFile(media: Media, filename: string | undefined): Body {
  if (media.kind === 'id') return { file_id: media.id };
  if (media.kind === 'url') return { file_url: media.url };
  return { file_data: mediaUrl(media), filename: filename ?? 'file' };
}

function writeAssistantPart(part: AssistantPart): Body[] {
  switch (part.type) {
    case 'text': {
      if (part.text === '') return [];
      const content = [{ type: 'output_text', text: part.text, annotations: responsesAnnotations(part) }];
      return [{ type: 'message', role: 'assistant', status: 'completed', content }];
    }
    case 'refusal':
      return [
        { type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'refusal', refusal: part.text }] },
      ];
    case 'reasoning':
      return writeReasoningItem(part);
    case 'tool-call':
      return [writeCall(part)];
  }
}

function writeCall({ id, name, namespace, arguments: text, custom }: ToolCallPart): Body {
  if (custom) return defined({ type: 'custom_tool_call', call_id: id, name, namespace, input: text });
  return defined({ type: 'function_call', call_id: id, name, namespace, arguments: text.trim() || '{}' });
}

/** Annotations in OpenAI's form. Anthropic's citations have a different shape. */
export function responsesAnnotations(part: { readonly annotations?: readonly unknown[] }): unknown[] {
  return (part.annotations ?? []).filter((annotation) => isObject(annotation) && !('cited_text' in annotation));
}

/** An item that is not stored requires its encrypted content; otherwise the API would not find it. */
function writeReasoningItem(part: ReasoningPart): Body[] {
  return part.seals.flatMap((seal, index): Body[] => {
    if (seal.vendor !== 'responses' || seal.encrypted === undefined) return [];
    const summary = part.text === '' || index > 0 ? [] : [{ type: 'summary_text', text: part.text }];
    return [defined({ type: 'reasoning', id: seal.id || undefined, summary, encrypted_content: seal.encrypted })];
  });
}
