import { homedir } from 'node:os';
import * as vscode from 'vscode';
import { type RunningCommand, startShellCommand } from '../../../chat/tools/shell-command.ts';
import { plainOutput } from '../../../chat/tools/terminal-output.ts';
import type { ToolOutcome } from '../../../chat/tools/tools.ts';
import { findControl, showUnseen } from '../../../chat/tools/visible-text.ts';
import { rememberCommand } from '../attachments/terminal-text.ts';

const NAME = 'Svc';
/** After this time, the result reports to the model that the command is still running. */
const COMMAND_MS = 120_000;
const MAX = 60_000;

/** @throws Error if the command is empty or has control characters that make it unreadable. */
export function requireReadable(command: string): void {
  if (command.trim() === '') throw new Error(vscode.l10n.t('The command is empty.'));
  const control = findControl(command);
  if (control === undefined) return;
  throw new Error(
    vscode.l10n.t('The command has a control character ({0}). Only line breaks and tabs are allowed.', control),
  );
}

/** The terminals for approved commands. Each runs one command at a time. */
export class CommandTerminals implements vscode.Disposable {
  readonly #terminals = new Set<CommandTerminal>();

  dispose(): void {
    for (const each of this.#terminals) each.close();
  }

  /** Runs a command that the user has allowed and returns its output. */
  async run(command: string, signal: AbortSignal): Promise<ToolOutcome> {
    requireReadable(command);
    const terminal = [...this.#terminals].find(({ busy }) => !busy) ?? this.#create();
    return terminal.run(command, signal);
  }

  #create(): CommandTerminal {
    const created = new CommandTerminal(() => this.#terminals.delete(created));
    this.#terminals.add(created);
    return created;
  }
}

type Ended = { type: 'ended'; code: number | NodeJS.Signals } | { type: 'stopped' } | { type: 'running' };

/** Shows commands and their output, and sends the user's input to the shell process. */
class CommandTerminal implements vscode.Pseudoterminal {
  readonly #written = new vscode.EventEmitter<string>();
  readonly onDidWrite = this.#written.event;
  readonly #terminal: vscode.Terminal;
  readonly #opened = Promise.withResolvers<void>();
  readonly #onClose: () => void;
  #running: RunningCommand | undefined;
  #line = '';
  busy = false;

  constructor(onClose: () => void) {
    this.#onClose = onClose;
    this.#terminal = vscode.window.createTerminal({ name: NAME, pty: this });
  }

  open(): void {
    this.#opened.resolve();
  }

  /** The user closed the terminal, or the window is closing. */
  close(): void {
    this.#running?.kill();
    this.#opened.resolve();
    this.#onClose();
  }

  handleInput(data: string): void {
    for (const character of data) {
      if (character === '\u0003') this.#running?.interrupt();
      else if (character === '\u007f') this.#erase();
      else if (character === '\r') this.#send();
      else if (character >= ' ') this.#type(character);
    }
  }

  async run(command: string, signal: AbortSignal): Promise<ToolOutcome> {
    this.busy = true;
    this.#terminal.show(true);
    await this.#opened.promise;
    if (signal.aborted) {
      this.busy = false;
      return { output: 'Stopped.', failed: true };
    }
    this.#show(`\u001b[1m$ ${showUnseen(command)}\u001b[0m\n`);
    const remembered = rememberCommand(this.#terminal, command);
    let length = 0;
    try {
      const running = startShellCommand({
        ...{ shell: userShell(), command, cwd: workingFolder(), env: process.env },
        onOutput: (text) => {
          length += text.length;
          remembered.output = (remembered.output + text).slice(-MAX);
          this.#show(text);
        },
      });
      this.#running = running;
      void running.ended
        .then((code) => this.#end(`[${formatStatus({ type: 'ended', code })}]`))
        .catch((error: unknown) => this.#end(String(error)));
      const ended = await whenEnded(running, signal);
      if (ended.type === 'stopped') running.kill();
      if (ended.type === 'ended' && typeof ended.code === 'number') remembered.exitCode = ended.code;
      const cut = length > MAX ? `[cut: ${length - MAX} characters before]\n` : '';
      return { output: `${cut}${plainOutput(remembered.output).trim()}\n[${formatStatus(ended)}]` };
    } catch (error) {
      if (this.busy) this.#end(String(error));
      throw error;
    }
  }

  #end(status: string): void {
    this.#show(`\u001b[2m${status}\u001b[0m\n`);
    this.#running = undefined;
    this.#line = '';
    this.busy = false;
  }

  #show(text: string): void {
    this.#written.fire(text.replace(/\r?\n/g, '\r\n'));
  }

  #type(character: string): void {
    if (!this.#running) return;
    this.#line += character;
    this.#show(character);
  }

  #erase(): void {
    if (this.#line === '') return;
    this.#line = this.#line.slice(0, -1);
    this.#show('\b \b');
  }

  #send(): void {
    this.#running?.input(`${this.#line}\n`);
    if (this.#running) this.#show('\n');
    this.#line = '';
  }
}

function formatStatus(ended: Ended): string {
  if (ended.type === 'running') return 'still running';
  if (ended.type === 'stopped') return 'stopped';
  return typeof ended.code === 'number' ? `exit code ${ended.code}` : `ended by ${ended.code}`;
}

async function whenEnded(running: RunningCommand, signal: AbortSignal): Promise<Ended> {
  const limit = Promise.withResolvers<Ended>();
  const stop = () => limit.resolve({ type: 'stopped' });
  const timer = setTimeout(() => limit.resolve({ type: 'running' }), COMMAND_MS);
  signal.addEventListener('abort', stop);
  try {
    const ended = running.ended.then((code): Ended => ({ type: 'ended', code }));
    return await Promise.race([ended, limit.promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
}

function userShell(): string {
  const { SHELL, ComSpec } = process.env;
  return vscode.env.shell || (process.platform === 'win32' ? ComSpec : SHELL) || '/bin/sh';
}

function workingFolder(): string {
  const folder = vscode.workspace.workspaceFolders?.find(({ uri }) => uri.scheme === 'file');
  return folder?.uri.fsPath ?? homedir();
}
