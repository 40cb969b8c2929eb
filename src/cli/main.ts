#!/usr/bin/env node

import { spawn } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { nearMisses } from '../base/near-miss.ts';
import { SvcError } from '../wire/errors/svc-error.ts';
import { COMMANDS } from './command-table.ts';
import { Interrupted, type Io, stoppedCode, UsageError } from './io.ts';
import type { Command } from './options.ts';
import { listOptions } from './options.ts';
import { drawer, showsStyles, writer } from './output/output.ts';
import { version } from './version.ts';

/** Runs a command line (without `node` and the script). Resolves with the exit code and never rejects. */
export async function main(args: readonly string[], io: Io, commands: readonly Command[] = COMMANDS): Promise<number> {
  const [name, ...rest] = args;
  try {
    if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
      const [about] = rest;
      if (name === 'help' && about !== undefined) return await main([about, '--help'], io, commands);
      await io.out(help(commands));
      return name === undefined ? 2 : 0;
    }
    if (name === '--version' || name === '-v') {
      await io.out(`${version()}\n`);
      return 0;
    }
    const command = commands.find((each) => each.name === name);
    if (command === undefined) throw new UsageError(unknownCommand(name, commands));
    if (requestsHelp(rest)) {
      await io.out(formatHelp(command));
      return 0;
    }
    return command.drains ? await runCommand(command, rest, io) : await runStoppable(command, rest, io);
  } catch (error) {
    return await explain(error, io);
  }
}

/** Runs a command that a signal stops. It prints nothing more, and the exit code is that of the signal. */
async function runStoppable(command: Command, args: string[], io: Io): Promise<number> {
  try {
    const code = await runCommand(command, args, io);
    return io.signal.aborted ? stoppedCode(io.signal) : code;
  } catch (error) {
    if (io.signal.aborted) return stoppedCode(io.signal);
    throw error;
  }
}

/** Arguments after `--` are not options: they may be a prompt. */
function requestsHelp(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  const options = end < 0 ? args : args.slice(0, end);
  return options.includes('--help') || options.includes('-h');
}

async function runCommand(command: Command, args: string[], io: Io): Promise<number> {
  const { run } = await command.load();
  try {
    return await run(args, io);
  } catch (error) {
    const unknown = unknownOption(error);
    if (unknown === undefined) throw error;
    const [near] = nearMisses(
      unknown.replace(/^-+/, ''),
      listOptions(command.options).map(({ name }) => name),
    );
    const hint = near === undefined ? '' : ` Did you mean --${near}?`;
    throw new UsageError(`Unknown option ${unknown}.${hint} Options: svc ${command.name} --help`);
  }
}

/** The option that `parseArgs` does not know. */
function unknownOption(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || error.code !== 'ERR_PARSE_ARGS_UNKNOWN_OPTION')
    return undefined;
  return /'(-[^']*)'/.exec(error.message)?.[1];
}

function help(commands: readonly Command[]): string {
  const width = Math.max(...commands.map(({ name, usage }) => name.length + usage.length + 1));
  const lines = commands.map(({ name, usage, summary }) => `  ${`${name} ${usage}`.padEnd(width)}  ${summary}`);
  return `svc <command>\n\n${lines.join('\n')}\n\nRun svc <command> --help for details of a command.\n`;
}

function formatHelp({ name, usage, summary, options, examples }: Command): string {
  const rows = listOptions(options).map((option) => {
    const value = option.choices?.join('|') ?? option.value;
    const dashed = `${option.short === undefined ? '    ' : `-${option.short}, `}--${option.name}`;
    return [value === undefined ? dashed : `${dashed} ${value}`, option.summary] as const;
  });
  const width = Math.max(0, ...rows.map(([left]) => left.length));
  const lines = rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}\n`).join('');
  const shown = examples.map((example) => `  ${example}\n`).join('');
  return `svc ${name} ${usage}\n\n${summary}\n${lines === '' ? '' : `\n${lines}`}\nExamples:\n${shown}`;
}

function unknownCommand(name: string, commands: readonly Command[]): string {
  const [near] = nearMisses(
    name,
    commands.map((command) => command.name),
  );
  return `Unknown command ${JSON.stringify(name)}.${near === undefined ? '' : ` Did you mean \`svc ${near}\`?`}`;
}

/** Prints an error for the user: a message and an action, no stack. */
async function explain(error: unknown, io: Io): Promise<number> {
  if (isBrokenPipe(error)) return 0;
  const message = error instanceof Error ? error.message : String(error);
  const action = error instanceof SvcError && error.action !== undefined ? `${error.action}\n` : '';
  await io.err(`svc: ${message}\n${action}`);
  return isWrongUse(error) ? 2 : 1;
}

function isWrongUse(error: unknown): boolean {
  if (error instanceof UsageError) return true;
  if (error instanceof SvcError) {
    const ours = error.errorType === 'invalid_request' || error.errorType === 'model_not_found';
    return ours && error.upstreamStatus === undefined;
  }
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && code.startsWith('ERR_PARSE_ARGS');
}

/** `svc models | head -1` closes the pipe early. That is not an error. */
function isBrokenPipe(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EPIPE';
}

/**
 * Signals that request an exit. A second signal of the same kind ends the process immediately, unless a command must
 * finish something.
 */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** The `Io` of this process. */
function processIo(): Io {
  const stop = new AbortController();
  // SIGHUP is included: a gateway must write its data when its terminal is closed.
  for (const signal of SIGNALS) process.once(signal, () => stop.abort(new Interrupted(signal)));
  // A broken pipe rejects the write that meets it. Without this listener, the `error` event would end the process with
  // a stack.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  return {
    out: writer(process.stdout),
    draw: drawer(process.stdout),
    styles: showsStyles(process.stdout, process.env),
    err: writer(process.stderr),
    input: process.stdin,
    env: process.env,
    platform: process.platform,
    home: homedir(),
    cwd: process.cwd(),
    signal: stop.signal,
    onFurtherSignals: (listener) => {
      for (const signal of SIGNALS) process.on(signal, listener);
    },
    spawnDetached: spawnSelf,
  };
}

/** Starts a detached process. A closed terminal and Ctrl-C do not end it, and this process does not wait for it. */
function spawnSelf(args: readonly string[]): void {
  const [, self] = process.argv;
  if (self === undefined) return;
  const child = spawn(process.execPath, [...process.execArgv, self, ...args], {
    detached: true,
    stdio: 'ignore',
    windowsHide: true,
  });
  // If it can't be started, a command in the next hour tries again.
  child.on('error', () => undefined);
  child.unref();
}

/** Runs the command line of this process. */
export async function runProcess(): Promise<void> {
  process.exitCode = await main(process.argv.slice(2), processIo());
}

// `launch/cli.js` starts the built program. The sources are started directly.
const script = process.argv[1];
if (script !== undefined && import.meta.url === pathToFileURL(realpathSync(script)).href) await runProcess();
