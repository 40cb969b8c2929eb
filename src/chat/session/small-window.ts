import type { Tool } from '../../wire/conversation.ts';
import { mostTextTokens, mostTokens } from '../../wire/prompt-size.ts';

/** Windows, and the tokens that instructions and tools may take in them. A larger window has no maximum. */
const BUDGETS = [
  [8_192, 1_500],
  [32_768, 2_000],
  [65_536, 4_000],
] as const;
/** The part of the budget for instructions, if they are long. */
const INSTRUCTIONS_SHARE = 0.4;
/** Characters around a tool in a request. */
const WRAPPER = 40;
/** The tools without which no task ends, before all others. */
const FIRST = ['read_file', 'edit_file', 'search_text', 'list_files', 'run_in_terminal', 'create_file'];

export interface FixedPrompt {
  readonly instructions: string;
  readonly tools: readonly Tool[];
  /** The parts that are left out, by the names that users know. */
  readonly omitted: readonly string[];
}

/**
 * Instructions and tools for a window: shorter descriptions, then fewer tools, then a part of the instructions. The
 * result depends on nothing that changes between requests, because servers cache the beginning of a prompt.
 *
 * @param window in tokens; 0: unknown.
 * @param reserved is added to the instructions later.
 */
export function fitFixedPrompt(
  window: number,
  instructions: string,
  tools: readonly Tool[],
  reserved: string,
): FixedPrompt {
  const most = budgetOf(window) - mostTokens([reserved]);
  if (fixedTokens(instructions, tools) <= most) return { instructions, tools, omitted: [] };
  const text = cutInstructions(instructions, most * INSTRUCTIONS_SHARE);
  const omitted: string[] = text === instructions ? [] : ['instructions'];
  let left = most - fixedTokens(text, []);
  const kept = new Set<string>();
  const short = new Map(tools.map((tool) => [tool.name, shortTool(tool)]));
  for (const tool of [...tools].sort((a, b) => rank(a) - rank(b))) {
    const size = fixedTokens('', [short.get(tool.name) ?? tool]);
    if (size > left) omitted.push(tool.name);
    else {
      kept.add(tool.name);
      left -= size;
    }
  }
  const offered = tools.flatMap(({ name }) => (kept.has(name) ? (short.get(name) ?? []) : []));
  return { instructions: text, tools: offered, omitted };
}

/** The number of characters that the results of a step's calls may have, so that they fit beside the rest. */
export function mostOutput(window: number, calls: number): number {
  return window <= 0 ? Number.POSITIVE_INFINITY : Math.floor((window * 3) / 4 / Math.max(1, calls));
}

/** The tokens of instructions and tools as a request has them, rather too many. */
export function fixedTokens(instructions: string, tools: readonly Tool[]): number {
  const json = tools.reduce((sum, tool) => sum + JSON.stringify(tool).length + WRAPPER, 0);
  return mostTokens([instructions]) + mostTextTokens(json);
}

function budgetOf(window: number): number {
  if (window <= 0) return Number.POSITIVE_INFINITY;
  const most = BUDGETS.find(([below]) => window < below)?.[1] ?? Number.POSITIVE_INFINITY;
  return Math.min(most, window < 4_096 ? window / 3 : most);
}

function rank({ name }: Tool): number {
  const at = FIRST.indexOf(name);
  return at === -1 ? FIRST.length : at;
}

/** The first sentence describes the tool. The names of parameters are enough for the rest. */
function shortTool({ description = '', ...tool }: Tool): Tool {
  const sentence = /^[^\n]{0,200}?[.!?](?=\s|$)/.exec(description)?.[0] ?? description.slice(0, 100);
  return { ...tool, description: sentence, parameters: withoutDescriptions(tool.parameters) };
}

/** A property may have the name `description`: then its value is an object. */
function withoutDescriptions(schema: Tool['parameters']): Tool['parameters'] {
  const json = JSON.stringify(schema, (key, value: unknown) =>
    (key === 'description' && typeof value === 'string') || key === 'examples' ? undefined : value,
  );
  return JSON.parse(json);
}

function cutInstructions(text: string, most: number): string {
  if (mostTokens([text]) <= most) return text;
  const note = '\n[The rest does not fit.]';
  let length = Math.floor(most * 3) - note.length;
  while (length > 0 && mostTokens([text.slice(0, length) + note]) > most) length = Math.floor(length * 0.9);
  return text.slice(0, Math.max(0, length)) + note;
}
