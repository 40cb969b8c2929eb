import type { AnswerOptions } from '../message-parts.ts';
import type { ChatTool } from '../tools/tools.ts';

/** Names of tools in prompt files of VS Code, and ours for the same work. */
const ALIASES: Readonly<Record<string, readonly string[]>> = {
  codebase: ['search_text', 'list_files', 'read_file', 'find_symbols'],
  search: ['search_text', 'list_files', 'find_symbols'],
  usages: ['find_references', 'go_to_definition'],
  read: ['read_file'],
  readFile: ['read_file'],
  problems: ['get_problems'],
  changes: ['git_diff'],
  edit: ['edit_file', 'edit_files', 'create_file', 'rename_file', 'delete_file'],
  editFiles: ['edit_file', 'edit_files', 'create_file', 'rename_file', 'delete_file'],
  createFile: ['create_file'],
  execute: ['run_in_terminal'],
  runCommands: ['run_in_terminal'],
  runInTerminal: ['run_in_terminal'],
  terminal: ['run_in_terminal'],
  fetch: ['fetch_web_page'],
  web: ['fetch_web_page'],
  todo: ['update_tasks'],
  todos: ['update_tasks'],
};

/** The tools that may be called for a message. */
export function toolsFor(tools: readonly ChatTool[], options: AnswerOptions | undefined): readonly ChatTool[] {
  const named = options?.tools?.flatMap((name) => {
    const plain = name.slice(name.lastIndexOf('/') + 1);
    return [name, plain, ...(Object.hasOwn(ALIASES, plain) ? (ALIASES[plain] ?? []) : [])];
  });
  return tools.filter(
    (tool) => (!named || named.includes(tool.name)) && !((options?.plan || options?.readOnly) && tool.changes),
  );
}

/** Added to the system instructions in plan mode. */
export const PLAN_INSTRUCTIONS = [
  'Plan mode: change nothing. Inspect what you need with the tools, and ask if something essential is unclear.',
  'Then answer with a plan: the goal in one sentence, numbered steps that name the files and what changes in each, how the result is checked, and open questions. Do not write the whole code.',
].join('\n');

/** The message that turns a plan into work. */
export const CARRY_OUT_PLAN = 'Carry out the plan.';
