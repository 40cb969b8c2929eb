import { countTokens } from '../../wire/prompt-size.ts';
import { type ChatTool, toolForModel } from './tools.ts';

/** Each tool costs tokens in every request, and vendors accept at most 128 (OpenAI, "Function calling"). */
export const MAX_TOOLS = 64;

/** The tools of one origin. */
export interface ToolGroup {
  readonly origin: string;
  readonly tools: readonly ChatTool[];
}

/** Groups tools by origin, in the order of their first tool. */
export function toolGroups(tools: readonly ChatTool[]): readonly ToolGroup[] {
  return [...Map.groupBy(tools, ({ origin }) => origin)].map(([origin, group]) => ({ origin, tools: group }));
}

/** Approximate number of tokens of a tool in each request. */
export function toolTokens(tool: ChatTool): number {
  return countTokens(JSON.stringify(toolForModel(tool)));
}

/** The tools for a model: those that are not turned off, at most `MAX_TOOLS`. */
export function offeredTools(tools: readonly ChatTool[], off: readonly string[]): readonly ChatTool[] {
  return tools.filter(({ name }) => !off.includes(name)).slice(0, MAX_TOOLS);
}

/**
 * The names that are turned off after the user chose among `tools`. A tool that is not available at the moment (its
 * server is not running, the workspace is not trusted) keeps its state.
 */
export function disabledTools(
  tools: readonly ChatTool[],
  chosen: ReadonlySet<string>,
  before: readonly string[],
): readonly string[] {
  const here = new Set(tools.map(({ name }) => name));
  const now = [...here].filter((name) => !chosen.has(name));
  return [...before.filter((name) => !here.has(name)), ...now].sort();
}
