import { arrayOrEmpty, isObject, type JsonObject, objectOrEmpty } from '../../../src/base/json.ts';
import { textOfContent } from './chat.ts';
import type { Issued, ModelRequest, OfferedTool, SeenCall } from './model-request.ts';
import { names, onlyKnown, refuse, refuseIf } from './refusal.ts';

/** Anthropic API reference, "Create a Message", with the fields of its betas. */
const FIELDS = names(
  `model messages max_tokens system metadata stop_sequences stream temperature top_k top_p tools tool_choice thinking
  output_config service_tier container context_management mcp_servers output_format cache_control inference_geo speed`,
);
const TYPED_TOOL =
  /^(bash|text_editor|computer|web_search|web_fetch|code_execution|memory|tool_search_tool_\w+|advisor)_\d{8}$/;
const BLOCKS = names(
  `text image document tool_use tool_result thinking redacted_thinking search_result server_tool_use
  web_search_tool_result container_upload`,
);

/** Refuses what Anthropic's Messages refuses. */
export function readMessagesRequest(body: JsonObject, issued: Issued): ModelRequest {
  onlyKnown(body, FIELDS, (name) => `${name}: Extra inputs are not permitted`);
  const thinking = objectOrEmpty(body.thinking);
  checkNumbers(body, thinking);
  const tools = arrayOrEmpty(body.tools).map(readTool);
  checkToolChoice(body, tools, thinking);
  checkCacheControl(body);
  checkBlockTexts(arrayOrEmpty(body.system), 'system');
  const messages = arrayOrEmpty(body.messages).map(objectOrEmpty);
  refuseIf(messages.length === 0, 'messages: at least one message is required');
  refuseIf(messages[0]?.role !== 'user', 'messages: first message must use the "user" role');
  for (const [index, message] of messages.entries()) checkMessage(message, index, messages, issued);
  checkOpenCalls(messages);
  const thinks = thinking.type === 'enabled' || thinking.type === 'adaptive';
  if (thinking.type === 'enabled') checkThinkingFirst(messages);
  return {
    tools,
    ...readTurns(messages),
    thinks,
    showsThinking: thinking.display !== 'omitted',
    seals: true,
    parallel: objectOrEmpty(body.tool_choice).disable_parallel_tool_use !== true,
    stream: body.stream === true,
    streamedUsage: true,
  };
}

function checkNumbers(body: JsonObject, thinking: JsonObject): void {
  const { max_tokens, temperature, top_p, top_k } = body;
  if (typeof max_tokens !== 'number') refuse('max_tokens: Field required');
  refuseIf(max_tokens < 1, 'max_tokens: Input should be greater than or equal to 1');
  refuseIf(typeof temperature === 'number' && (temperature < 0 || temperature > 1), 'temperature: range: 0..1');
  refuseIf(
    temperature !== undefined && top_p !== undefined,
    '`temperature` and `top_p` cannot both be specified for this model. Please use only one.',
  );
  for (const sequence of arrayOrEmpty(body.stop_sequences)) {
    refuseIf(String(sequence).trim() === '', 'stop_sequences: each stop sequence must contain non-whitespace');
  }
  onlyKnown(
    objectOrEmpty(body.metadata),
    names('user_id'),
    (name) => `metadata.${name}: Extra inputs are not permitted`,
  );
  if (thinking.type !== 'enabled' && thinking.type !== 'adaptive') return;
  refuseIf(
    temperature !== undefined && temperature !== 1,
    '`temperature` may only be set to 1 when thinking is enabled.',
  );
  refuseIf(top_k !== undefined, '`top_k` must be unset when thinking is enabled.');
  refuseIf(typeof top_p === 'number' && top_p < 0.95, '`top_p` must be at least 0.95 when thinking is enabled.');
  if (thinking.type === 'adaptive') return;
  const budget = thinking.budget_tokens;
  if (typeof budget !== 'number') refuse('thinking.enabled.budget_tokens: Field required');
  refuseIf(budget < 1024, 'thinking.enabled.budget_tokens: Input should be greater than or equal to 1024');
  refuseIf(budget >= max_tokens, '`max_tokens` must be greater than `thinking.budget_tokens`.');
}

function readTool(value: unknown, index: number): OfferedTool {
  const tool = objectOrEmpty(value);
  const type = tool.type ?? 'custom';
  if (type !== 'custom') {
    refuseIf(
      !TYPED_TOOL.test(String(type)),
      `tools.${index}: Input tag '${String(type)}' found using 'type' does not match any of the expected tags`,
    );
    return { name: String(tool.name), custom: false };
  }
  onlyKnown(
    tool,
    names(
      `type name description input_schema cache_control strict defer_loading allowed_callers eager_input_streaming
      input_examples`,
    ),
    (field) => `tools.${index}.custom.${field}: Extra inputs are not permitted`,
  );
  const name = String(tool.name);
  refuseIf(
    !/^[a-zA-Z0-9_-]{1,128}$/.test(name),
    `tools.${index}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`,
  );
  const schema = tool.input_schema;
  if (!isObject(schema)) refuse(`tools.${index}.custom.input_schema: Field required`);
  refuseIf(schema.type !== 'object', `tools.${index}.custom.input_schema.type: Input should be 'object'`);
  refuseIf(
    ['oneOf', 'allOf', 'anyOf'].some((key) => key in schema),
    `tools.${index}.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level`,
  );
  return { name, custom: false };
}

function checkToolChoice(body: JsonObject, tools: readonly OfferedTool[], thinking: JsonObject): void {
  const repeated = tools.find((tool, index) => tools.findIndex((other) => other.name === tool.name) !== index);
  refuseIf(repeated !== undefined, 'tools: Tool names must be unique.');
  if (body.tool_choice === undefined) return;
  const choice = objectOrEmpty(body.tool_choice);
  refuseIf(tools.length === 0, 'tool_choice: may only be specified while providing tools.');
  refuseIf(!names('auto any tool none').has(String(choice.type)), `tool_choice: unknown type ${String(choice.type)}`);
  const forced = choice.type === 'any' || choice.type === 'tool';
  refuseIf(
    forced && (thinking.type === 'enabled' || thinking.type === 'adaptive'),
    'Thinking may not be enabled when tool_choice forces tool use.',
  );
  refuseIf(
    choice.type === 'tool' && !tools.some((tool) => tool.name === choice.name),
    `Tool '${String(choice.name)}' not found in provided tools`,
  );
}

function checkCacheControl(body: JsonObject): void {
  const message = arrayOrEmpty(body.messages).flatMap((value) => arrayOrEmpty(objectOrEmpty(value).content));
  const nested = message.flatMap((block) => arrayOrEmpty(objectOrEmpty(block).content));
  const marked = [...arrayOrEmpty(body.tools), ...arrayOrEmpty(body.system), ...message, ...nested]
    .map(objectOrEmpty)
    .filter((block) => block.cache_control !== undefined && block.cache_control !== null);
  refuseIf(marked.length > 4, `A maximum of 4 blocks with cache_control may be provided. Found ${marked.length}.`);
  for (const block of marked) {
    refuseIf(
      block.type === 'thinking' || block.type === 'redacted_thinking' || (block.type === 'text' && block.text === ''),
      `cache_control cannot be set for ${String(block.type)} blocks of this kind`,
    );
  }
}

function checkBlockTexts(blocks: readonly unknown[], where: string): void {
  for (const block of blocks.map(objectOrEmpty)) {
    if (block.type !== 'text') continue;
    refuseIf(block.text === '', `${where}: text content blocks must be non-empty`);
    refuseIf(String(block.text).trim() === '', `${where}: text content blocks must contain non-whitespace text`);
  }
}

function checkMessage(message: JsonObject, index: number, messages: readonly JsonObject[], issued: Issued): void {
  const where = `messages.${index}`;
  const { role, content } = message;
  // Anthropic, "What's new in Claude Opus 4.8": a system message may follow a user turn.
  const system = role === 'system' && messages[index - 1]?.role === 'user';
  refuseIf(role !== 'user' && role !== 'assistant' && !system, `${where}.role: Input should be 'user' or 'assistant'`);
  refuseIf(content === '' || (Array.isArray(content) && content.length === 0), `${where}: must have non-empty content`);
  if (typeof content === 'string') return;
  const blocks = arrayOrEmpty(content).map(objectOrEmpty);
  checkBlockTexts(blocks, where);
  const previous = new Set(toolUseIds(messages[index - 1] ?? {}));
  const used = new Set<string>();
  blocks.forEach((block, at) => {
    const place = `${where}.content.${at}`;
    const type = String(block.type);
    refuseIf(
      !BLOCKS.has(type),
      `${place}: Input tag '${type}' found using 'type' does not match any of the expected tags`,
    );
    if (type === 'tool_use') checkToolUse(block, place, role, used);
    if (type === 'tool_result') {
      const id = String(block.tool_use_id);
      refuseIf(
        role !== 'user' || !previous.has(id),
        `${place}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
      );
      refuseIf(used.has(id), `${place}: each tool_use must have a single result. Found multiple for ${id}`);
      used.add(id);
    }
    if (type === 'thinking') {
      refuseIf(!issued.seals.has(String(block.signature)), `${place}: Invalid \`signature\` in \`thinking\` block`);
    }
    if (type === 'redacted_thinking') {
      refuseIf(!issued.seals.has(String(block.data)), `${place}: Invalid \`data\` in \`redacted_thinking\` block`);
    }
  });
  for (const id of previous) {
    refuseIf(
      role === 'user' && !used.has(id),
      `${where}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${id}.`,
    );
  }
}

function checkToolUse(block: JsonObject, place: string, role: unknown, used: Set<string>): void {
  const id = String(block.id);
  refuseIf(role !== 'assistant', `${place}: \`tool_use\` blocks can only be in \`assistant\` messages`);
  refuseIf(!/^[a-zA-Z0-9_-]+$/.test(id), `${place}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`);
  refuseIf(used.has(id), `${place}: \`tool_use\` ids must be unique`);
  refuseIf(!isObject(block.input), `${place}.tool_use.input: Input should be an object`);
  refuseIf(
    !/^[a-zA-Z0-9_-]{1,200}$/.test(String(block.name)),
    `${place}.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,200}$'`,
  );
  used.add(id);
}

function toolUseIds(message: JsonObject): string[] {
  const blocks = arrayOrEmpty(message.content).map(objectOrEmpty);
  return blocks.flatMap((block) => (block.type === 'tool_use' ? [String(block.id)] : []));
}

/** The results follow directly after the calls, in one message. */
function checkOpenCalls(messages: readonly JsonObject[]): void {
  messages.forEach((message, index) => {
    const ids = toolUseIds(message);
    const next = messages[index + 1];
    refuseIf(
      ids.length > 0 && next?.role !== 'user',
      `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids}.`,
    );
    if (ids.length === 0 || next === undefined) return;
    const first = objectOrEmpty(arrayOrEmpty(next.content)[0]);
    refuseIf(
      first.type !== 'tool_result',
      `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids}. Text precedes them.`,
    );
  });
  const last = messages.at(-1);
  const text = typeof last?.content === 'string' ? last.content : textOfContent(arrayOrEmpty(last?.content).slice(-1));
  refuseIf(
    last?.role === 'assistant' && text !== text.trimEnd(),
    'messages: final assistant content cannot end with trailing whitespace',
  );
}

/** Anthropic guide "Extended thinking": the assistant turns of an open tool loop start with their thinking. */
function checkThinkingFirst(messages: readonly JsonObject[]): void {
  for (let index = messages.length - 1; index >= 0; index--) {
    const message = objectOrEmpty(messages[index]);
    const blocks = arrayOrEmpty(message.content).map(objectOrEmpty);
    if (message.role === 'user' && !blocks.some((block) => block.type === 'tool_result')) return;
    if (message.role !== 'assistant') continue;
    const type = String(blocks[0]?.type);
    refuseIf(
      type !== 'thinking' && type !== 'redacted_thinking',
      `messages.${index}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${type}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block.`,
    );
  }
}

function readTurns(messages: readonly JsonObject[]): Pick<ModelRequest, 'turns' | 'results'> {
  const turns: SeenCall[][] = [];
  const results = new Map<string, string>();
  for (const message of messages) {
    const blocks = arrayOrEmpty(message.content).map(objectOrEmpty);
    const afterThinking = blocks.some((block) => block.type === 'thinking' || block.type === 'redacted_thinking');
    const calls = blocks
      .filter((block) => block.type === 'tool_use')
      .map((block) => ({
        id: String(block.id),
        name: String(block.name),
        input: JSON.stringify(block.input),
        afterThinking,
      }));
    if (calls.length > 0) turns.push(calls);
    for (const block of blocks) {
      if (block.type === 'tool_result') results.set(String(block.tool_use_id), textOfContent(block.content));
    }
  }
  return { turns, results };
}
