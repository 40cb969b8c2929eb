import { arrayOrEmpty, isObject, type JsonObject, objectOrEmpty } from '../../../src/base/json.ts';
import { textOfContent } from './chat.ts';
import type { Issued, ModelRequest, OfferedTool, SeenCall } from './model-request.ts';
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

/** OpenAI reference, "Create a model response". */
const FIELDS = names(
  `model input instructions stream stream_options max_output_tokens max_tool_calls temperature top_p top_logprobs tools
  tool_choice parallel_tool_calls reasoning text include store metadata user safety_identifier prompt_cache_key
  prompt_cache_retention service_tier truncation background previous_response_id conversation prompt client_metadata
  context_management`,
);
const TOOL_TYPES = names(
  `function custom namespace tool_search web_search web_search_preview web_search_2025_08_26 file_search mcp
  code_interpreter image_generation local_shell shell apply_patch computer_use_preview`,
);
/** The members of an input item by its type, beside `type`, `id` and `status`. */
const ITEM_FIELDS: Readonly<Record<string, ReadonlySet<string>>> = {
  message: names('role content phase'),
  function_call: names('call_id name arguments namespace'),
  function_call_output: names('call_id output'),
  custom_tool_call: names('call_id name input namespace'),
  custom_tool_call_output: names('call_id output name'),
  reasoning: names('summary content encrypted_content'),
  item_reference: names(''),
  additional_tools: names('role tools'),
  tool_search_call: names('call_id execution arguments'),
  tool_search_output: names('call_id execution tools'),
  web_search_call: names('action'),
  compaction: names('encrypted_content'),
};
const PREFIXES: Readonly<Record<string, string>> = {
  message: 'msg',
  function_call: 'fc',
  custom_tool_call: 'ctc',
  reasoning: 'rs',
};
const PARTS: Readonly<Record<string, ReadonlySet<string>>> = {
  input_text: names('type text'),
  input_image: names('type image_url file_id detail'),
  input_file: names('type file_data filename file_url file_id detail'),
  output_text: names('type text annotations logprobs'),
  refusal: names('type refusal'),
};

/** Refuses what OpenAI's Responses refuses. */
export function readResponsesRequest(body: JsonObject, issued: Issued): ModelRequest {
  onlyKnown(body, FIELDS, (name) => `Unknown parameter: '${name}'.`);
  limitLength(body, ['user', 'safety_identifier', 'prompt_cache_key'], 64);
  checkMetadata(body.metadata);
  const { max_output_tokens, temperature } = body;
  refuseIf(
    typeof max_output_tokens === 'number' && max_output_tokens < 16,
    `Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got ${String(max_output_tokens)} instead.`,
  );
  refuseIf(typeof temperature === 'number' && (temperature < 0 || temperature > 2), "Invalid 'temperature'.");
  const items = typeof body.input === 'string' ? [] : readItems(body, issued);
  const later = items.filter(({ type }) => type === 'additional_tools' || type === 'tool_search_output');
  const tools = [...arrayOrEmpty(body.tools), ...later.flatMap((item) => arrayOrEmpty(item.tools))].flatMap(readTool);
  checkToolChoice(body, tools);
  const reasoning = objectOrEmpty(body.reasoning);
  return {
    tools,
    ...readTurns(items),
    thinks: Object.keys(reasoning).length > 0 && reasoning.effort !== 'none',
    showsThinking: typeof reasoning.summary === 'string' && reasoning.summary !== 'none',
    seals: arrayOrEmpty(body.include).includes('reasoning.encrypted_content'),
    parallel: body.parallel_tool_calls !== false,
    stream: body.stream === true,
    streamedUsage: true,
  };
}

function readTool(value: unknown, index: number): OfferedTool[] {
  const tool = objectOrEmpty(value);
  const type = String(tool.type);
  const where = `tools[${index}]`;
  refuseIf(
    !TOOL_TYPES.has(type),
    `Invalid value: '${type}'. Supported values are: 'function', 'custom', … (${where}.type)`,
  );
  if (type === 'namespace') {
    const namespace = checkOpenAiName(tool.name, `${where}.name`);
    return arrayOrEmpty(tool.tools).flatMap((inner) => readTool(inner, index).map((each) => ({ ...each, namespace })));
  }
  if (type === 'custom') return [{ name: checkOpenAiName(tool.name, `${where}.name`), custom: true }];
  if (type !== 'function') return [];
  onlyKnown(
    tool,
    names('type name description parameters strict defer_loading output_schema allowed_callers'),
    (field) => `Unknown parameter: '${where}.${field}'.`,
  );
  const name = checkOpenAiName(tool.name, `${where}.name`);
  checkOpenAiSchema(name, tool.parameters);
  if (tool.strict === true) checkStrictSchema(name, tool.parameters);
  return [{ name, custom: false }];
}

function checkToolChoice(body: JsonObject, tools: readonly OfferedTool[]): void {
  const choice = body.tool_choice;
  if (choice === undefined || choice === null) return;
  const offered = arrayOrEmpty(body.tools).length + tools.length > 0;
  const forced = choice === 'required' || isObject(choice);
  refuseIf(forced && !offered, "Tool choice 'required' must be specified with 'tools' parameter.");
  if (!isObject(choice) || (choice.type !== 'function' && choice.type !== 'custom')) return;
  refuseIf(
    !tools.some((tool) => tool.name === choice.name),
    `Tool choice '${String(choice.name)}' not found in 'tools' parameter.`,
  );
}

function readItems(body: JsonObject, issued: Issued): JsonObject[] {
  const items = arrayOrEmpty(body.input).map((value, index) => readItem(objectOrEmpty(value), index, body, issued));
  refuseIf(items.length === 0, "Invalid 'input': empty array.");
  checkReasoningItems(items, issued);
  checkPairs(items, 'function_call', 'function call');
  checkPairs(items, 'custom_tool_call', 'custom tool call');
  return items;
}

function readItem(item: JsonObject, index: number, body: JsonObject, issued: Issued): JsonObject {
  const where = `input[${index}]`;
  const type = String(item.type ?? (item.role === undefined ? 'undefined' : 'message'));
  const fields = ITEM_FIELDS[type];
  if (fields === undefined) refuse(`Invalid value: '${type}'. (${where}.type)`);
  if (type === 'item_reference') return referredItem(String(item.id), issued);
  const known = new Set([...fields, 'type', 'id', 'status', 'internal_chat_message_metadata_passthrough']);
  onlyKnown(item, known, (name) => `Unknown parameter: '${where}.${name}'.`);
  const prefix = PREFIXES[type];
  refuseIf(
    prefix !== undefined && typeof item.id === 'string' && !item.id.startsWith(prefix),
    `Invalid '${where}.id': '${String(item.id)}'. Expected an ID that begins with '${prefix}'.`,
  );
  refuseIf(item.id === null, `Invalid type for '${where}.id': expected a string, but got null instead.`);
  limitLength(item, ['id', 'call_id', 'name'], 64);
  if (type === 'message') checkMessage(item, where);
  if (type.endsWith('_output') && type !== 'tool_search_output') checkOutput(item, where);
  if (type === 'function_call') {
    refuseIf(typeof item.arguments !== 'string', `Invalid type for '${where}.arguments': expected a string.`);
    checkOpenAiName(item.name, `${where}.name`);
  }
  if (type === 'custom_tool_call') refuseIf(typeof item.input !== 'string', `Missing '${where}.input'.`);
  if (type === 'reasoning') checkReasoning(item, where, body, issued);
  return { ...item, type };
}

function referredItem(id: string, issued: Issued): JsonObject {
  const found = issued.items.get(id);
  if (found?.stored !== true) {
    refuse(
      `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`,
    );
  }
  return found.item;
}

function checkMessage(item: JsonObject, where: string): void {
  const role = String(item.role);
  refuseIf(!names('user assistant system developer').has(role), `Invalid value: '${role}'. (${where}.role)`);
  if (typeof item.content === 'string') return;
  refuseIf(!Array.isArray(item.content), `Invalid type for '${where}.content'.`);
  arrayOrEmpty(item.content).forEach((value, at) => {
    const part = objectOrEmpty(value);
    const type = String(part.type);
    const fits = role === 'assistant' ? type === 'output_text' || type === 'refusal' : type.startsWith('input_');
    const fields = PARTS[type];
    if (!fits || fields === undefined) refuse(`Invalid value: '${type}'. (${where}.content[${at}].type)`);
    onlyKnown(part, fields, (name) => `Unknown parameter: '${where}.content[${at}].${name}'.`);
  });
}

function checkOutput(item: JsonObject, where: string): void {
  if (typeof item.output === 'string') return;
  refuseIf(!Array.isArray(item.output), `Invalid type for '${where}.output'.`);
  arrayOrEmpty(item.output).forEach((value, at) => {
    const type = String(objectOrEmpty(value).type);
    refuseIf(!type.startsWith('input_'), `Invalid value: '${type}'. (${where}.output[${at}].type)`);
  });
}

function checkReasoning(item: JsonObject, where: string, body: JsonObject, issued: Issued): void {
  refuseIf(!Array.isArray(item.summary), `Missing required parameter: '${where}.summary'.`);
  const sealed = item.encrypted_content;
  if (typeof sealed === 'string') {
    return refuseIf(
      !issued.seals.has(sealed),
      `The encrypted content for item ${String(item.id)} could not be verified.`,
    );
  }
  const stored = issued.items.get(String(item.id))?.stored === true;
  refuseIf(
    !stored && body.store !== undefined,
    `Item with id '${String(item.id)}' not found. Items are not persisted when \`store\` is set to false.`,
  );
  refuseIf(!stored, `Item with id '${String(item.id)}' not found.`);
}

/** An item with an id that was produced after reasoning needs that reasoning before it, and the reverse. */
function checkReasoningItems(items: readonly JsonObject[], issued: Issued): void {
  const present = new Set(items.map((item) => String(item.id)));
  items.forEach((item, index) => {
    const needed = issued.items.get(String(item.id))?.reasoning;
    refuseIf(
      needed !== undefined && !present.has(needed),
      `Item '${String(item.id)}' of type '${String(item.type)}' was provided without its required 'reasoning' item: '${needed}'.`,
    );
    refuseIf(
      item.type === 'reasoning' && index === items.length - 1,
      `Item '${String(item.id)}' of type 'reasoning' was provided without its required following item.`,
    );
  });
}

function checkPairs(items: readonly JsonObject[], type: string, name: string): void {
  const open = new Set<string>();
  const known = new Set<string>();
  for (const item of items) {
    const id = String(item.call_id);
    if (item.type === type) {
      open.add(id);
      known.add(id);
    }
    if (item.type !== `${type}_output`) continue;
    refuseIf(!known.has(id), `No tool call found for ${name} output with call_id ${id}.`);
    refuseIf(!open.delete(id), `Duplicate item found with call_id ${id}.`);
  }
  refuseIf(open.size > 0, `No tool output found for ${name} ${[...open]}.`);
}

function readTurns(items: readonly JsonObject[]): Pick<ModelRequest, 'turns' | 'results'> {
  const turns: SeenCall[][] = [];
  const results = new Map<string, string>();
  let turn: SeenCall[] | undefined;
  let afterThinking = false;
  for (const item of items) {
    if (item.type === 'reasoning') afterThinking = true;
    else if (item.type === 'function_call' || item.type === 'custom_tool_call') {
      if (turn === undefined) {
        turn = [];
        turns.push(turn);
      }
      const input = String(item.type === 'function_call' ? item.arguments : item.input);
      turn.push({ id: String(item.call_id), name: String(item.name), input, afterThinking });
    } else if (typeof item.output === 'string' || Array.isArray(item.output)) {
      results.set(String(item.call_id), textOfContent(item.output));
      turn = undefined;
      afterThinking = false;
    }
  }
  return { turns, results };
}
