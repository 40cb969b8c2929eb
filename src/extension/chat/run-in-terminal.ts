import * as vscode from 'vscode';
import { plainOutput } from '../../chat/terminal-output.ts';
import type { ToolOutcome } from '../../chat/tools.ts';

const NAME = 'Svc';
const SHELL_MS = 5000;
/** What a command may take before the model is told that it still runs. */
const COMMAND_MS = 120_000;
const MAX = 60_000;

/** Our terminal, with the shell integration that tells when a command ends; without it the output can't be read. */
async function shell(signal: AbortSignal): Promise<{ terminal: vscode.Terminal; integration: boolean }> {
  const present = vscode.window.terminals.find(({ name, exitStatus }) => name === NAME && exitStatus === undefined);
  const terminal = present ?? vscode.window.createTerminal({ name: NAME });
  terminal.show(true);
  if (terminal.shellIntegration) return { terminal, integration: true };
  const integration = await new Promise<boolean>((resolve) => {
    const finish = (found: boolean) => {
      clearTimeout(timer);
      heard.dispose();
      signal.removeEventListener('abort', stop);
      resolve(found);
    };
    const stop = () => finish(false);
    const timer = setTimeout(stop, SHELL_MS);
    const heard = vscode.window.onDidChangeTerminalShellIntegration(
      (event) => event.terminal === terminal && finish(true),
    );
    signal.addEventListener('abort', stop);
  });
  return { terminal, integration };
}

/** Runs a command that the person has allowed and gives what it printed. */
export async function runInTerminal(command: string, signal: AbortSignal): Promise<ToolOutcome> {
  const { terminal, integration } = await shell(signal);
  if (signal.aborted) return { output: 'Stopped.', failed: true };
  if (!integration || !terminal.shellIntegration) {
    terminal.sendText(command);
    return { output: 'The command was started. Its output can’t be read: this shell has no integration.' };
  }
  const execution = terminal.shellIntegration.executeCommand(command);
  let output = '';
  const reading = (async () => {
    for await (const chunk of execution.read()) output = (output + chunk).slice(-MAX);
  })();
  const ended = await whenEnded(execution, signal);
  if (ended.type === 'stopped') terminal.sendText('\u0003', false);
  if (ended.type === 'ended') await reading;
  const status = {
    ended: `exit code ${ended.type === 'ended' ? (ended.code ?? 'unknown') : ''}`,
    stopped: 'stopped',
    running: 'still running',
  }[ended.type];
  return { output: `${plainOutput(output).trim()}\n[${status}]` };
}

type Ended = { type: 'ended'; code: number | undefined } | { type: 'stopped' } | { type: 'running' };

function whenEnded(execution: vscode.TerminalShellExecution, signal: AbortSignal): Promise<Ended> {
  return new Promise((resolve) => {
    const finish = (ended: Ended) => {
      clearTimeout(timer);
      heard.dispose();
      signal.removeEventListener('abort', stop);
      resolve(ended);
    };
    const stop = () => finish({ type: 'stopped' });
    const timer = setTimeout(() => finish({ type: 'running' }), COMMAND_MS);
    const heard = vscode.window.onDidEndTerminalShellExecution((event) => {
      if (event.execution === execution) finish({ type: 'ended', code: event.exitCode });
    });
    signal.addEventListener('abort', stop);
  });
}
