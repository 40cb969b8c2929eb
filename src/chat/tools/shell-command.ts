import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';

export interface ShellCommand {
  /** The user's shell, as a path or a name. */
  readonly shell: string;
  readonly command: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly onOutput: (text: string) => void;
}

export interface RunningCommand {
  /** The exit code, or the name of the signal that ended it. Rejects where the shell can't be started. */
  readonly ended: Promise<number | NodeJS.Signals>;
  /** What the user types while it runs. */
  input(text: string): void;
  interrupt(): void;
  /** Ends it and all that it started. */
  kill(): void;
}

/** A process that is asked to end gets this long. */
const GRACE_MS = 2000;
/** Output that is still in the pipe when the shell has ended; a process that it left running keeps the pipe open. */
const DRAIN_MS = 200;
/** A command that prints without end must not fill the memory of the terminal. */
const BURST = 256 * 1024;
const PAUSE_MS = 50;

/**
 * Runs a command in a shell that gets it as one argument. Nothing is typed: the shell is not interactive, so that tabs,
 * `!` and control characters in it mean nothing but themselves, and no history is kept.
 */
export function startShellCommand({ shell, command, cwd, env, onOutput }: ShellCommand): RunningCommand {
  const posix = process.platform !== 'win32';
  const { args, verbatim } = shellArguments(shell, command);
  const child = spawn(shell, args, {
    cwd,
    env: commandEnvironment(env),
    // A group of its own, so that all of it can be ended.
    detached: posix,
    windowsVerbatimArguments: verbatim,
    windowsHide: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  follow(child, onOutput);
  // The command may end without reading its input.
  child.stdin?.on('error', () => undefined);
  const signal = (name: NodeJS.Signals) => (posix ? signalGroup(child, name) : endTree(child));
  return {
    ended: ending(child),
    input: (text) => void child.stdin?.write(text),
    interrupt: () => signal('SIGINT'),
    kill: () => {
      signal('SIGTERM');
      if (posix) setTimeout(() => signal('SIGKILL'), GRACE_MS).unref();
    },
  };
}

/** How each shell takes a command as one argument (its manual: `-c`, `-EncodedCommand`, `/c`). */
export function shellArguments(shell: string, command: string): { args: readonly string[]; verbatim: boolean } {
  const name = shell
    .replace(/^.*[\\/]/, '')
    .toLowerCase()
    .replace(/\.exe$/, '');
  if (name === 'pwsh' || name === 'powershell') {
    const encoded = Buffer.from(command, 'utf16le').toString('base64');
    return { args: ['-NoLogo', '-NonInteractive', '-EncodedCommand', encoded], verbatim: false };
  }
  // It would run the first line alone.
  if (name === 'cmd' && command.includes('\n')) throw new Error('This shell (cmd) takes commands of one line only.');
  // With /s, it takes all between the first and the last quote.
  if (name === 'cmd') return { args: ['/d', '/s', '/c', `"${command}"`], verbatim: true };
  // A command that begins like an option would be read as one.
  return { args: ['-c', /^[-+]/.test(command) ? ` ${command}` : command], verbatim: false };
}

/** As VS Code does for its terminals: what is meant for the extension host alone is left out. */
function commandEnvironment(env: ShellCommand['env']): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(([name]) => !/^(?:ELECTRON_|VSCODE_)/i.test(name));
  return { ...Object.fromEntries(kept), TERM: 'dumb', PAGER: 'cat', GIT_PAGER: 'cat', GIT_TERMINAL_PROMPT: '0' };
}

function follow(child: ChildProcess, onOutput: (text: string) => void): void {
  let sent = 0;
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8');
    stream?.on('data', (text: string) => {
      onOutput(text);
      sent += text.length;
      if (sent < BURST) return;
      sent = 0;
      stream.pause();
      setTimeout(() => stream.resume(), PAUSE_MS);
    });
  }
}

async function ending(child: ChildProcess): Promise<number | NodeJS.Signals> {
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const code = await new Promise<number | NodeJS.Signals>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (exitCode, signal) => resolve(exitCode ?? signal ?? 1));
  });
  await Promise.race([closed, delay(DRAIN_MS, undefined, { ref: false })]);
  return code;
}

function signalGroup(child: ChildProcess, name: NodeJS.Signals): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, name);
  } catch {
    // All of it has ended.
  }
}

function endTree({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  spawn('taskkill', ['/pid', String(pid), '/t', '/f'], { windowsHide: true }).on('error', () => undefined);
}
