import { homedir } from 'node:os';
import * as vscode from 'vscode';
import { LongOutput } from '../../../chat/tools/long-output.ts';
import { type RunningCommand, startShellCommand } from '../../../chat/tools/shell-command.ts';
import { plainOutput, TerminalFilter } from '../../../chat/tools/terminal-output.ts';
import type { ToolOutcome } from '../../../chat/tools/tools.ts';
import { findControl, showUnseen } from '../../../chat/tools/visible-text.ts';
import { rememberCommand } from '../attachments/terminal-text.ts';

const NAME = 'Svc';
/** After this time, the result reports to the model that the command is still running. */
const COMMAND_MS = 120_000;
/** The same for a command in the background. */
const BACKGROUND_MS = 3000;
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

export interface TerminalCommand {
  readonly command: string;
  /** Absolute path. */
  readonly cwd: string;
  /** Returns after a short time, while the command runs on. */
  readonly background: boolean;
  /** The conversation (see `ToolRun.owner`). */
  readonly owner: object;
}

/** A command that was started, with its output so far. */
interface StartedCommand {
  readonly output: LongOutput;
  readonly ended: Promise<number | NodeJS.Signals>;
  kill(): void;
}

/** The terminals for approved commands. Each runs one command at a time. */
export class CommandTerminals implements vscode.Disposable {
  readonly #terminals = new Set<CommandTerminal>();
  /** Commands that were still running when their result was returned, by number. */
  readonly #background = new Map<number, { readonly started: StartedCommand; readonly owner: object }>();
  #count = 0;

  dispose(): void {
    for (const each of this.#terminals) each.dispose();
  }

  /** Runs a command that the user has allowed and returns its output. Stop ends the command. */
  async run({ command, cwd, background, owner }: TerminalCommand, signal: AbortSignal): Promise<ToolOutcome> {
    requireReadable(command);
    const terminal = [...this.#terminals].find(({ busy }) => !busy) ?? this.#create();
    const started = await terminal.start(command, cwd, signal);
    if (!started) return { output: 'Stopped.', failed: true };
    const ended = await whenEnded(started, background ? BACKGROUND_MS : COMMAND_MS, signal);
    if (ended.type === 'stopped') started.kill();
    if (ended.type !== 'running') return commandOutcome(started, ended);
    this.#count += 1;
    this.#background.set(this.#count, { started, owner });
    const { output } = commandOutcome(started, ended);
    return { output: `${output}\n[Use terminal_output with id ${this.#count} to read on or to stop it]` };
  }

  /**
   * Reads the output of a command of the same conversation that is still running.
   *
   * @param wait maximum time in milliseconds.
   */
  async read(
    { id, owner }: { readonly id: number; readonly owner: object },
    wait: number,
    stop: boolean,
    signal: AbortSignal,
  ): Promise<ToolOutcome> {
    const known = this.#background.get(id);
    const started = known?.owner === owner ? known.started : undefined;
    if (!started) throw new Error(`There is no command with id ${id}.`);
    if (stop) started.kill();
    const ended = await whenEnded(started, stop ? COMMAND_MS : wait, signal);
    return commandOutcome(started, ended.type === 'stopped' ? { type: 'running' } : ended);
  }

  #create(): CommandTerminal {
    const created = new CommandTerminal(() => this.#terminals.delete(created));
    this.#terminals.add(created);
    return created;
  }
}

type Ended = { type: 'ended'; code: number | NodeJS.Signals } | { type: 'stopped' } | { type: 'running' };

function commandOutcome({ output }: StartedCommand, ended: Ended): ToolOutcome {
  const text = `${plainOutput(output.text).trim()}\n[${formatStatus(ended)}]`;
  return ended.type === 'ended' && typeof ended.code === 'number'
    ? { output: text, exitCode: ended.code }
    : { output: text };
}

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

  dispose(): void {
    this.close();
    this.#terminal.dispose();
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

  /** Undefined if it was stopped before it started. Rejects if the shell can't be started. */
  async start(command: string, cwd: string, signal: AbortSignal): Promise<StartedCommand | undefined> {
    this.busy = true;
    this.#terminal.show(true);
    await this.#opened.promise;
    if (signal.aborted) {
      this.busy = false;
      return undefined;
    }
    this.#show(`\u001b[1m$ ${showUnseen(command)}\u001b[0m\n`);
    const remembered = rememberCommand(this.#terminal, command);
    const output = new LongOutput(MAX);
    const filter = new TerminalFilter();
    try {
      const running = startShellCommand({
        shell: userShell(),
        command,
        cwd,
        env: process.env,
        onOutput: (text) => {
          output.append(text);
          remembered.output = (remembered.output + text).slice(-MAX);
          this.#show(filter.write(text));
        },
      });
      this.#running = running;
      void running.ended
        .then((code) => {
          if (typeof code === 'number') remembered.exitCode = code;
          this.#end(`[${formatStatus({ type: 'ended', code })}]`);
        })
        .catch((error: unknown) => this.#end(String(error)));
      return { output, ended: running.ended, kill: () => running.kill() };
    } catch (error) {
      this.#end(String(error));
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

async function whenEnded(started: StartedCommand, ms: number, signal: AbortSignal): Promise<Ended> {
  const limit = Promise.withResolvers<Ended>();
  const stop = () => limit.resolve({ type: 'stopped' });
  const timer = setTimeout(() => limit.resolve({ type: 'running' }), ms);
  signal.addEventListener('abort', stop);
  try {
    const ended = started.ended.then((code): Ended => ({ type: 'ended', code }));
    return await Promise.race([ended, limit.promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
}

export function isPosixShell(): boolean {
  return /(?:^|[\\/])(?:ba|z|da|k|a)?sh(?:\.exe)?$/i.test(userShell());
}

function userShell(): string {
  const { SHELL, ComSpec } = process.env;
  return vscode.env.shell || (process.platform === 'win32' ? ComSpec : SHELL) || '/bin/sh';
}

/** The folder of commands without another one. */
export function workingFolder(): string {
  const folder = vscode.workspace.workspaceFolders?.find(({ uri }) => uri.scheme === 'file');
  return folder?.uri.fsPath ?? homedir();
}
