import type { ChatTool } from './tools.ts';

/** Each tool costs tokens in every request, and vendors take 128 at most (OpenAI, "function calling"). */
export const MOST_TOOLS = 64;

/** Tools under who offers them. */
export interface ToolGroup {
  readonly origin: string;
  readonly tools: readonly ChatTool[];
}

/** In the order in which the first of each comes. */
export function toolGroups(tools: readonly ChatTool[]): readonly ToolGroup[] {
  return [...Map.groupBy(tools, ({ origin }) => origin)].map(([origin, group]) => ({ origin, tools: group }));
}

/** What a model is offered: all but those whose names are turned off, the first `MOST_TOOLS`. */
export function offeredTools(tools: readonly ChatTool[], off: readonly string[]): readonly ChatTool[] {
  return tools.filter(({ name }) => !off.includes(name)).slice(0, MOST_TOOLS);
}

/**
 * The names that are turned off once a person has chosen some of these. A tool that isn't there just now – its server
 * does not run, the workspace is not trusted – stays as it was.
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
