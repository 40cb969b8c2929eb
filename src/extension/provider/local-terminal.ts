import { homedir } from 'node:os';
import * as vscode from 'vscode';
import { defined } from '../../base/json.ts';
import { findProgram } from '../../base/run-git.ts';
import { pathWithOllama } from '../../catalog/local-setup.ts';

const SHELL_MS = 3_000;

const newPath = () => pathWithOllama(process.env, process.platform);

export function hasProgram(name: string): boolean {
  return findProgram(name, newPath() ?? process.env, process.platform) !== undefined;
}

/** Its folder is not the workspace: shells may look there first, and a repository may contain an `ollama.exe`. */
export function openTerminal(name: string): vscode.Terminal {
  return vscode.window.createTerminal({ name, cwd: homedir(), ...defined({ env: newPath() }) });
}

/** A shell echoes a text twice that comes before its prompt. Without VS Code's integration it is given some time. */
export function shellReady(terminal: vscode.Terminal): Promise<void> {
  if (terminal.shellIntegration) return Promise.resolve();
  return new Promise((resolve) => {
    const started = vscode.window.onDidChangeTerminalShellIntegration((event) => event.terminal === terminal && stop());
    const timer = setTimeout(() => stop(), SHELL_MS);
    const stop = () => {
      started.dispose();
      clearTimeout(timer);
      resolve();
    };
  });
}
