import path from 'node:path';
import type { Toolbox, ToolUse } from '../upstream/strict/scripted-model.ts';

/** The tools of a client by what they do. Some take absolute paths: `folder` is the workspace. */
export type MakeToolbox = (folder: string) => Toolbox;

const execCommand = (cmd: string): ToolUse => ({ name: 'exec_command', input: { cmd } });
const patch = (file: string, from: string, to: string): string =>
  `*** Begin Patch\n*** Update File: ${file}\n@@\n-Hello from ${from}.\n+Hello from ${to}.\n*** End Patch\n`;
const script = (code: string): ToolUse => ({ name: 'exec', input: `${code}\n` });
const scriptedCommand = (cmd: string): ToolUse =>
  script(`text((await tools.exec_command(${JSON.stringify({ cmd })})).output);`);

export const codex: MakeToolbox = () => ({
  read: (file) => execCommand(`cat ${file}`),
  run: execCommand,
  edit: (file, from, to) => ({ name: 'apply_patch', input: patch(file, from, to) }),
});

/** A model that Codex does not know has no `apply_patch`. */
export const codexUnknown: MakeToolbox = (folder) => ({
  ...codex(folder),
  edit: (file, from, to) => execCommand(`sed -i s/${from}/${to}/ ${file}`),
});

/** Models whose tools are called by JavaScript. */
export const codexScripted: MakeToolbox = () => ({
  read: (file) => scriptedCommand(`cat ${file}`),
  run: scriptedCommand,
  edit: (file, from, to) => script(`text(await tools.apply_patch(${JSON.stringify(patch(file, from, to))}));`),
});

export const claudeCode: MakeToolbox = (folder) => ({
  read: (file) => ({ name: 'Read', input: { file_path: path.join(folder, file) } }),
  run: (command) => ({ name: 'Bash', input: { command } }),
  edit: (file, from, to) => ({
    name: 'Edit',
    input: { replace_all: false, file_path: path.join(folder, file), old_string: from, new_string: to },
  }),
});

export const copilot: MakeToolbox = (folder) => ({
  read: (file) => ({ name: 'view', input: { path: path.join(folder, file) } }),
  run: (command) => ({ name: 'bash', input: { command, description: 'Runs the command of the task' } }),
  edit: (file, from, to) => ({
    name: 'edit',
    input: { path: path.join(folder, file), old_str: from, new_str: to },
  }),
});

export const kimi: MakeToolbox = () => ({
  read: (file) => ({ name: 'Read', input: { path: file } }),
  run: (command) => ({ name: 'Bash', input: { command } }),
  edit: (file, from, to) => ({ name: 'Edit', input: { path: file, old_string: from, new_string: to } }),
});

/** opencode, and Kilo, which has the same tools. */
export const opencode: MakeToolbox = (folder) => ({
  read: (file) => ({ name: 'read', input: { filePath: path.join(folder, file) } }),
  run: (command) => ({ name: 'bash', input: { command, description: 'Runs the command of the task' } }),
  edit: (file, from, to) => ({
    name: 'edit',
    input: { filePath: path.join(folder, file), oldString: from, newString: to },
  }),
});

export const qwenCode: MakeToolbox = (folder) => ({
  read: (file) => ({ name: 'read_file', input: { file_path: path.join(folder, file) } }),
  run: (command) => ({ name: 'run_shell_command', input: { command, is_background: false } }),
  edit: (file, from, to) => ({
    name: 'edit',
    input: { file_path: path.join(folder, file), old_string: from, new_string: to },
  }),
});

export const pi: MakeToolbox = () => ({
  read: (file) => ({ name: 'read', input: { path: file } }),
  run: (command) => ({ name: 'bash', input: { command } }),
  edit: (file, from, to) => ({ name: 'edit', input: { path: file, edits: [{ oldText: from, newText: to }] } }),
});

export const continueCli: MakeToolbox = (folder) => ({
  read: (file) => ({ name: 'Read', input: { filepath: path.join(folder, file) } }),
  run: (command) => ({ name: 'Bash', input: { command } }),
  edit: (file, from, to) => ({
    name: 'Edit',
    input: { file_path: path.join(folder, file), old_string: from, new_string: to },
  }),
});

/** Continue offers models that it knows as capable an edit of several places. */
export const continueMultiEdit: MakeToolbox = (folder) => ({
  ...continueCli(folder),
  edit: (file, from, to) => ({
    name: 'MultiEdit',
    input: { file_path: path.join(folder, file), edits: [{ old_string: from, new_string: to }] },
  }),
});

export const cline: MakeToolbox = (folder) => ({
  read: (file) => ({ name: 'read_files', input: { files: [{ path: path.join(folder, file) }] } }),
  run: (command) => ({ name: 'run_commands', input: { commands: [command] } }),
  edit: (file, from, to) => ({
    name: 'editor',
    input: { path: path.join(folder, file), old_text: from, new_text: to },
  }),
});

/** The tools of `sdk/tools.mjs`. */
export const sdkTools: MakeToolbox = () => ({
  read: (file) => ({ name: 'read_file', input: { path: file } }),
  run: (command) => ({ name: 'run_command', input: { command } }),
  edit: (file, from, to) => ({ name: 'edit_file', input: { path: file, from, to } }),
});

const MCP_NAMES = ['read_file', 'run_command', 'edit_file'].map((name) => `mcp__workspace__${name}`).join(',');

/** The same tools of an MCP server, as Claude's agent SDK names them. */
export const mcpTools: MakeToolbox = (folder) => {
  const { read, run, edit } = sdkTools(folder);
  const renamed = ({ name, input }: ToolUse): ToolUse => ({ name: `mcp__workspace__${name}`, input });
  return {
    read: (file) => renamed(read(file)),
    run: (command) => renamed(run(command)),
    edit: (file, from, to) => renamed(edit(file, from, to)),
    discover: { name: 'ToolSearch', input: { query: `select:${MCP_NAMES}`, max_results: 5 } },
  };
};
