import type { Toolbox, ToolUse } from '../upstream/strict/scripted-model.ts';

/** The tools of each client by what they do. */

const execCommand = (cmd: string): ToolUse => ({ name: 'exec_command', input: { cmd } });
const patch = (file: string, from: string, to: string): string =>
  `*** Begin Patch\n*** Update File: ${file}\n@@\n-Hello from ${from}.\n+Hello from ${to}.\n*** End Patch\n`;
const script = (code: string): ToolUse => ({ name: 'exec', input: `${code}\n` });
const scriptedCommand = (cmd: string): ToolUse =>
  script(`text((await tools.exec_command(${JSON.stringify({ cmd })})).output);`);

export const CODEX: Toolbox = {
  read: (file) => execCommand(`cat ${file}`),
  run: execCommand,
  edit: (file, from, to) => ({ name: 'apply_patch', input: patch(file, from, to) }),
};

/** A model that Codex does not know has no `apply_patch`. */
export const CODEX_UNKNOWN: Toolbox = {
  ...CODEX,
  edit: (file, from, to) => execCommand(`sed -i s/${from}/${to}/ ${file}`),
};

/** Models whose tools are called by JavaScript. */
export const CODEX_SCRIPTED: Toolbox = {
  read: (file) => scriptedCommand(`cat ${file}`),
  run: scriptedCommand,
  edit: (file, from, to) => script(`text(await tools.apply_patch(${JSON.stringify(patch(file, from, to))}));`),
};

export const CLAUDE_CODE: Toolbox = {
  read: (file) => ({ name: 'Read', input: { file_path: file } }),
  run: (command) => ({ name: 'Bash', input: { command } }),
  edit: (file, from, to) => ({
    name: 'Edit',
    input: { replace_all: false, file_path: file, old_string: from, new_string: to },
  }),
};
