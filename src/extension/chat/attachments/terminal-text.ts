import * as vscode from 'vscode';
import { plainOutput } from '../../../chat/tools/terminal-output.ts';

const MAX = 60_000;

interface RecordedCommand {
  readonly terminal: vscode.Terminal;
  readonly command: string;
  output: string;
  exitCode: number | undefined;
}

let lastCommands: RecordedCommand[] = [];

/** Records the output of the last command in each terminal (needs shell integration). */
export function watchTerminals(): vscode.Disposable {
  const running = new Map<vscode.TerminalShellExecution, RecordedCommand>();
  return vscode.Disposable.from(
    vscode.window.onDidStartTerminalShellExecution(async ({ execution, terminal }) => {
      const recorded: RecordedCommand = {
        terminal,
        command: execution.commandLine.value,
        output: '',
        exitCode: undefined,
      };
      running.set(execution, recorded);
      lastCommands = [...lastCommands.filter((each) => each.terminal !== terminal), recorded];
      for await (const chunk of execution.read()) recorded.output = (recorded.output + chunk).slice(-MAX);
    }),
    vscode.window.onDidEndTerminalShellExecution(({ execution, exitCode }) => {
      const recorded = running.get(execution);
      running.delete(execution);
      if (recorded) recorded.exitCode = exitCode;
    }),
    vscode.window.onDidCloseTerminal((terminal) => {
      lastCommands = lastCommands.filter((each) => each.terminal !== terminal);
    }),
  );
}

/** Records a command in one of our own terminals, which have no shell integration. The caller adds its output. */
export function rememberCommand(terminal: vscode.Terminal, command: string): RecordedCommand {
  const recorded: RecordedCommand = { terminal, command, output: '', exitCode: undefined };
  lastCommands = [...lastCommands.filter((each) => each.terminal !== terminal), recorded];
  return recorded;
}

/** The last command with its output, preferably of the active terminal; empty if none is known. */
export async function terminalText(): Promise<string> {
  const recorded =
    lastCommands.find(({ terminal }) => terminal === vscode.window.activeTerminal) ?? lastCommands.at(-1);
  if (!recorded) return '';
  const ending = recorded.exitCode === undefined ? '' : `\n[exit code ${recorded.exitCode}]`;
  let output = plainOutput(recorded.output);
  // VS Code 1.139 reports no output for quick commands, whose output arrives together with the start of the command.
  if (output === '' && recorded.exitCode !== undefined && recorded.terminal === vscode.window.activeTerminal) {
    output = (await copied('workbench.action.terminal.copyLastCommandOutput')).trimEnd();
  }
  return `$ ${recorded.command}\n${output}${ending}`;
}

/** The last command, if it failed. */
export function failedCommand(): { readonly command: string; readonly output: string } | undefined {
  const last = lastCommands.at(-1);
  return last?.exitCode ? { command: last.command, output: plainOutput(last.output) } : undefined;
}

/** The selection in the active terminal; empty if there is none. */
export function terminalSelection(): Promise<string> {
  return copied('workbench.action.terminal.copySelection');
}

/** Runs a copy command and returns the copied text. The API offers only the clipboard, which is restored. */
async function copied(command: string): Promise<string> {
  const before = await vscode.env.clipboard.readText();
  try {
    // The command does not change the clipboard if there is nothing to copy.
    await vscode.env.clipboard.writeText('');
    await vscode.commands.executeCommand(command);
    return await vscode.env.clipboard.readText();
  } finally {
    await vscode.env.clipboard.writeText(before);
  }
}
