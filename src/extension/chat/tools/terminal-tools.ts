import * as vscode from 'vscode';
import * as z from 'zod';
import { commandFiles } from '../../../chat/tools/command-files.ts';
import { defineReadingTool, defineTool } from '../../../chat/tools/define-tool.ts';
import type { ChatTool } from '../../../chat/tools/tools.ts';
import { type CommandTerminals, isPosixShell, requireReadable, workingFolder } from './command-terminals.ts';
import { fileAt, workspaceFile } from './workspace-path.ts';

/** The longest time that a call waits for output. */
const MAX_WAIT_S = 110;

/** Tools that run commands in a terminal which the user sees. */
export function terminalTools(terminals: CommandTerminals): readonly ChatTool[] {
  return [
    defineTool(
      {
        name: 'run_in_terminal',
        description: 'Runs a shell command in the workspace. Returns its output and exit code.',
        input: z.object({
          command: z.string(),
          explanation: z.string().describe('One sentence for the user.').optional(),
          cwd: z.string().describe('Folder in the workspace. Default: its root.').optional(),
          background: z.boolean().describe('Does not wait for the end, as for a server.').optional(),
        }),
      },
      true,
      async ({ command, explanation = '', cwd = '', background = false }) => {
        requireReadable(command);
        const folder = cwd === '' ? undefined : await workspaceFile(cwd);
        const posix = isPosixShell();
        const place = folder?.real ?? workingFolder();
        const findFile = (real: string) => fileAt(vscode.Uri.file(real));
        const { caution, inside, reads, uncertain } = await commandFiles({ command, posix }, place, findFile);
        return {
          confirmation: caution ?? true,
          action: { type: 'command', command, cwd: folder?.relative ?? '', explanation },
          reads,
          shell: { posix, inside, uncertain },
          run: ({ signal, owner }) => terminals.run({ command, cwd: place, background, owner }, signal),
        };
      },
    ),
    defineReadingTool(
      {
        name: 'terminal_output',
        description: 'Reads the output of a command that is still running, or stops it.',
        input: z.object({
          id: z.number(),
          wait: z.number().describe('Seconds to wait for its end. Default: 0.').optional(),
          stop: z.boolean().optional(),
        }),
      },
      ({ id, wait = 0, stop = false }, { signal, owner }) =>
        terminals.read({ id, owner }, Math.min(MAX_WAIT_S, Math.max(0, wait)) * 1000, stop, signal),
    ),
  ];
}
