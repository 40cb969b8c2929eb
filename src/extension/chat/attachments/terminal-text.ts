import * as vscode from 'vscode';
import { plainOutput } from '../../../chat/tools/terminal-output.ts';

const MAX = 60_000;

interface Ran {
  readonly terminal: vscode.Terminal;
  readonly command: string;
  output: string;
  exitCode: number | undefined;
}

let watched: Ran[] = [];

/** Remembers what the last commands in the terminals printed (needs shell integration). */
export function watchTerminals(): vscode.Disposable {
  const running = new Map<vscode.TerminalShellExecution, Ran>();
  return vscode.Disposable.from(
    vscode.window.onDidStartTerminalShellExecution(async ({ execution, terminal }) => {
      const ran: Ran = { terminal, command: execution.commandLine.value, output: '', exitCode: undefined };
      running.set(execution, ran);
      watched = [...watched.filter((each) => each.terminal !== terminal), ran];
      for await (const chunk of execution.read()) ran.output = (ran.output + chunk).slice(-MAX);
    }),
    vscode.window.onDidEndTerminalShellExecution(({ execution, exitCode }) => {
      const ran = running.get(execution);
      running.delete(execution);
      if (ran) ran.exitCode = exitCode;
    }),
    vscode.window.onDidCloseTerminal((terminal) => {
      watched = watched.filter((each) => each.terminal !== terminal);
    }),
  );
}

/** A command that runs in one of our terminals, which have no shell integration: the caller writes its output. */
export function rememberCommand(terminal: vscode.Terminal, command: string): Ran {
  const ran: Ran = { terminal, command, output: '', exitCode: undefined };
  watched = [...watched.filter((each) => each.terminal !== terminal), ran];
  return ran;
}

/** What the last command printed, of the terminal in front if one ran there; empty when none is known. */
export async function terminalText(): Promise<string> {
  const ran = watched.find(({ terminal }) => terminal === vscode.window.activeTerminal) ?? watched.at(-1);
  if (!ran) return '';
  const ending = ran.exitCode === undefined ? '' : `\n[exit code ${ran.exitCode}]`;
  let output = plainOutput(ran.output);
  // VS Code 1.139 tells nothing of an output that came in one piece with the start of its command: a quick one's.
  if (output === '' && ran.exitCode !== undefined && ran.terminal === vscode.window.activeTerminal) {
    output = (await copied('workbench.action.terminal.copyLastCommandOutput')).trimEnd();
  }
  return `$ ${ran.command}\n${output}${ending}`;
}

/** What is selected in the terminal in front; empty when nothing is. */
export function terminalSelection(): Promise<string> {
  return copied('workbench.action.terminal.copySelection');
}

/** What a command copies, by way of the clipboard, which gets its content back: the API has no other way. */
async function copied(command: string): Promise<string> {
  const before = await vscode.env.clipboard.readText();
  try {
    // The command leaves the clipboard alone where there is nothing to copy.
    await vscode.env.clipboard.writeText('');
    await vscode.commands.executeCommand(command);
    return await vscode.env.clipboard.readText();
  } finally {
    await vscode.env.clipboard.writeText(before);
  }
}
