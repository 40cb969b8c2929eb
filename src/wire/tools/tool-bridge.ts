import { createHash } from 'node:crypto';
import { defined } from '../../base/json.ts';
import type { AssistantPart, Conversation, Tool, ToolCallPart, ToolName, Turn } from '../conversation.ts';
import type { Event } from '../event.ts';
import { type EventMapper, type Format, withEvents } from '../format.ts';
import { CustomToolInput, INPUT_ARGUMENT } from './custom-tool-input.ts';
import { toolKey } from './tool-choice.ts';
import { bridgeToolSchema, createMergeBudget, type MergeBudget } from './tool-schema.ts';

/*
 * Tools that the upstream's format or vendor does not support are sent as functions: those in a namespace, custom
 * tools, long names, and schemas with alternatives at their top. The calls in the answer are converted back.
 */

/** The names of functions that OpenAI and Anthropic accept. */
const VALID_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/** A tool of the client that the upstream knows by another name or as a function. */
interface BridgedTool extends ToolName {
  readonly custom: boolean;
}

export interface ToolBridge {
  /** The conversation for the upstream, or the same object if nothing changed. */
  readonly conversation: Conversation;
  /** Reads the upstream's answers with the client's tools. */
  readonly format: Format;
  /** Makes another reader of the upstream's answers read them with the client's tools. */
  readonly restore: (format: Format) => Format;
}

/** @param native the upstream supports custom tools and a choice between some of the tools (OpenAI). */
export function bridgeTools(conversation: Conversation, format: Format, native: boolean): ToolBridge {
  const names = new FunctionNames(conversation.tools);
  const bridged = new Map<string, BridgedTool>();
  for (const tool of conversation.tools) {
    const own = identify(tool);
    const custom = tool.custom !== undefined && !native;
    const name = names.find(own);
    if (custom || name !== tool.name) bridged.set(name, { ...own, custom });
  }
  const turns = bridgeTurns(conversation.turns, names, native);
  const budget = createMergeBudget();
  const tools = conversation.tools.map((tool) => bridgeTool(tool, names, native, budget));
  const chosen = bridgeChoice(conversation, names, native);
  const same = turns === conversation.turns && chosen === undefined;
  if (same && tools.every((tool, index) => tool === conversation.tools[index]))
    return { conversation, format, restore: (other) => other };
  const kept = chosen?.only === undefined ? tools : tools.filter(({ name }) => chosen.only?.has(name));
  const choice = chosen === undefined ? {} : { toolChoice: chosen.toolChoice };
  const restore = (other: Format) => (bridged.size === 0 ? other : withEvents(other, () => new RestoredCalls(bridged)));
  return { conversation: { ...conversation, turns, tools: kept, ...choice }, format: restore(format), restore };
}

function identify({ name, namespace }: Tool): ToolName {
  return defined({ name, namespace: namespace?.name });
}

/** Assigns each tool the name of its function. A name depends only on the tools, so prompts remain cacheable. */
class FunctionNames {
  readonly #names = new Map<string, string>();
  readonly #used = new Set<string>();

  /** A plain function keeps its name, also if a tool of a namespace would get the same. */
  constructor(tools: readonly Tool[]) {
    for (const tool of tools) if (tool.namespace === undefined) this.find(identify(tool));
  }

  find(tool: ToolName): string {
    const key = toolKey(tool);
    const known = this.#names.get(key);
    if (known !== undefined) return known;
    const full = tool.namespace === undefined ? tool.name : `${tool.namespace}__${tool.name}`;
    const name = VALID_NAME.test(full) && !this.#used.has(full) ? full : shorten(full, key);
    this.#names.set(key, name);
    this.#used.add(name);
    return name;
  }
}

function shorten(name: string, key: string): string {
  const hash = createHash('sha256').update(key).digest('hex').slice(0, 8);
  return `${name.slice(0, 55).replace(/[^a-zA-Z0-9_-]/g, '_')}_${hash}`;
}

function bridgeTool(tool: Tool, names: FunctionNames, native: boolean, budget: MergeBudget): Tool {
  const name = names.find(identify(tool));
  if (tool.custom !== undefined) return native ? renamed(tool, name) : functionFor(tool, name);
  const parameters = bridgeToolSchema(tool.parameters, budget);
  if (parameters === tool.parameters) return renamed(tool, name);
  // A merged schema does not have the form that strict mode requires.
  const { strict: _, ...open } = renamed(tool, name);
  return { ...open, parameters };
}

function renamed(tool: Tool, name: string): Tool {
  if (name === tool.name && tool.namespace === undefined) return tool;
  const { namespace, ...rest } = tool;
  return defined({ ...rest, name, description: tool.description ?? namespace?.description });
}

function functionFor(tool: Tool, name: string): Tool {
  const { custom, ...rest } = renamed(tool, name);
  const grammar = custom?.grammar;
  const text = [
    rest.description,
    `Send the whole text as the string \`${INPUT_ARGUMENT}\`, not as JSON inside it.`,
    grammar && `The text must match this ${grammar.syntax} grammar:\n${grammar.definition}`,
  ];
  return {
    ...rest,
    description: text.filter((part) => part !== undefined).join('\n\n'),
    parameters: {
      type: 'object',
      properties: { [INPUT_ARGUMENT]: { type: 'string' } },
      required: [INPUT_ARGUMENT],
      additionalProperties: false,
    },
  };
}

interface BridgedChoice {
  readonly toolChoice: NonNullable<Conversation['toolChoice']>;
  /** The names of the functions to send, if not all. */
  readonly only?: ReadonlySet<string>;
}

/** `undefined` if the choice does not change. */
function bridgeChoice({ toolChoice }: Conversation, names: FunctionNames, native: boolean): BridgedChoice | undefined {
  if (toolChoice?.type === 'tool') {
    const name = names.find(toolChoice);
    return name === toolChoice.name ? undefined : { toolChoice: { type: 'tool', name } };
  }
  if (toolChoice?.type !== 'allowed') return undefined;
  const { mode } = toolChoice;
  const allowed = toolChoice.tools.map((tool) => ({ name: names.find(tool) }));
  if (native) return { toolChoice: { type: 'allowed', mode, tools: allowed } };
  return { toolChoice: { type: mode }, only: new Set(allowed.map(({ name }) => name)) };
}

function bridgeTurns(turns: readonly Turn[], names: FunctionNames, native: boolean): readonly Turn[] {
  const bridge = (part: AssistantPart): AssistantPart =>
    part.type === 'tool-call' ? bridgeCall(part, names, native) : part;
  const bridged = turns.map((turn): Turn => {
    if (turn.role !== 'assistant') return turn;
    const parts = turn.parts.map(bridge);
    return parts.every((part, index) => part === turn.parts[index]) ? turn : { ...turn, parts };
  });
  return bridged.every((turn, index) => turn === turns[index]) ? turns : bridged;
}

function bridgeCall(call: ToolCallPart, names: FunctionNames, native: boolean): ToolCallPart {
  const name = names.find(call);
  const lowered = call.custom === true && !native;
  if (name === call.name && call.namespace === undefined && !lowered) return call;
  const { namespace: _, custom: __, ...rest } = call;
  if (lowered) return { ...rest, name, arguments: JSON.stringify({ [INPUT_ARGUMENT]: call.arguments }) };
  return defined({ ...rest, name, custom: call.custom });
}

/** Converts the calls of an answer back to the client's tools. */
class RestoredCalls implements EventMapper {
  readonly #bridged: ReadonlyMap<string, BridgedTool>;
  /** The open calls of custom tools, by part. */
  readonly #inputs = new Map<number, CustomToolInput>();

  constructor(bridged: ReadonlyMap<string, BridgedTool>) {
    this.#bridged = bridged;
  }

  map(events: readonly Event[]): readonly Event[] {
    return events.flatMap((event): Event | Event[] => {
      if (event.type === 'tool-call') return this.#call(event);
      if (event.type === 'tool-arguments') return this.#arguments(event);
      return event.type === 'finish' ? [...this.#end(), event] : event;
    });
  }

  #call(event: Extract<Event, { type: 'tool-call' }>): Event {
    const tool = this.#bridged.get(event.name);
    if (tool === undefined) return event;
    if (tool.custom) this.#inputs.set(event.part, new CustomToolInput());
    const { name, namespace, custom } = tool;
    return defined({ ...event, name, namespace, custom: custom ? (true as const) : event.custom });
  }

  #arguments(event: Extract<Event, { type: 'tool-arguments' }>): Event | Event[] {
    const input = this.#inputs.get(event.part);
    if (input === undefined) return event;
    const text = input.push(event.json);
    if (!event.last) return text === '' ? [] : { ...event, json: text };
    this.#inputs.delete(event.part);
    return { ...event, json: text + input.end() };
  }

  #end(): Event[] {
    const rest = [...this.#inputs].map(([part, input]): Event => ({ type: 'tool-arguments', part, json: input.end() }));
    this.#inputs.clear();
    return rest.filter((event) => event.type === 'tool-arguments' && event.json !== '');
  }
}
