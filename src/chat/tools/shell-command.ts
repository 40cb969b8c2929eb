import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as delay, setImmediate as immediate } from 'node:timers/promises';

export interface ShellCommand {
  /** The user's shell, as a path or a name. */
  readonly shell: string;
  readonly command: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly onOutput: (text: string) => void;
}

export interface RunningCommand {
  /** The exit code, or the name of the signal that ended it. Rejects if the shell cannot be started. */
  readonly ended: Promise<number | NodeJS.Signals>;
  /** Sends input from the user. */
  input(text: string): void;
  interrupt(): void;
  /** Ends the command and all its child processes. */
  kill(): void;
}

/** Time between SIGTERM and SIGKILL. */
const GRACE_MS = 2000;
/**
 * Reading ends when no output came for this time after the shell has ended. A background process may keep the pipe
 * open.
 */
const DRAIN_MS = 200;
/** A background process may also print for ever. */
const DRAIN_ROUNDS = 5;
/** Reading pauses after this many characters, so that endless output does not fill the terminal's memory. */
const BURST = 256 * 1024;
const PAUSE_MS = 50;

/**
 * Runs a command in a shell that receives it as one argument. The shell is not interactive, so tabs, `!` and control
 * characters have no special meaning, and no history is kept.
 */
export function startShellCommand({ shell, command, cwd, env, onOutput }: ShellCommand): RunningCommand {
  const posix = process.platform !== 'win32';
  const { args, verbatim } = shellArguments(shell, command);
  const child = spawn(shell, args, {
    cwd,
    env: commandEnvironment(env),
    // A separate process group, so that all child processes can be ended.
    detached: posix,
    windowsVerbatimArguments: verbatim,
    windowsHide: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const received = follow(child, onOutput);
  // The command may end without reading its input.
  child.stdin?.on('error', () => undefined);
  const signal = (name: NodeJS.Signals) => (posix ? signalGroup(child, name) : endTree(child));
  return {
    ended: ending(child, received),
    input: (text) => void child.stdin?.write(text),
    interrupt: () => signal('SIGINT'),
    kill: () => {
      signal('SIGTERM');
      if (posix) setTimeout(() => signal('SIGKILL'), GRACE_MS).unref();
    },
  };
}

/** How to pass a command to each shell as one argument (see its manual: `-c`, `-EncodedCommand`, `/c`). */
export function shellArguments(shell: string, command: string): { args: readonly string[]; verbatim: boolean } {
  const name = shell
    .replace(/^.*[\\/]/, '')
    .toLowerCase()
    .replace(/\.exe$/, '');
  if (name === 'pwsh' || name === 'powershell') {
    const encoded = Buffer.from(command, 'utf16le').toString('base64');
    return { args: ['-NoLogo', '-NonInteractive', '-EncodedCommand', encoded], verbatim: false };
  }
  // cmd would run only the first line.
  if (name === 'cmd' && command.includes('\n')) throw new Error('This shell (cmd) accepts only commands of one line.');
  // With /s, cmd runs everything between the first and the last quote.
  if (name === 'cmd') return { args: ['/d', '/s', '/c', `"${command}"`], verbatim: true };
  // A leading space prevents a command that starts with - or + from being parsed as an option.
  return { args: ['-c', /^[-+]/.test(command) ? ` ${command}` : command], verbatim: false };
}

/** Removes variables for the extension host, as VS Code does for its terminals. */
function commandEnvironment(env: ShellCommand['env']): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(([name]) => !/^(?:ELECTRON_|VSCODE_)/i.test(name));
  return { ...Object.fromEntries(kept), TERM: 'dumb', PAGER: 'cat', GIT_PAGER: 'cat', GIT_TERMINAL_PROMPT: '0' };
}

/** @returns the number of characters that were read so far. */
function follow(child: ChildProcess, onOutput: (text: string) => void): () => number {
  let sent = 0;
  let all = 0;
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8');
    stream?.on('data', (text: string) => {
      onOutput(text);
      sent += text.length;
      all += text.length;
      if (sent < BURST) return;
      sent = 0;
      stream.pause();
      setTimeout(() => stream.resume(), PAUSE_MS);
    });
  }
  return () => all;
}

async function ending(child: ChildProcess, received: () => number): Promise<number | NodeJS.Signals> {
  let open = true;
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve())).then(() => {
    open = false;
  });
  const code = await new Promise<number | NodeJS.Signals>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (exitCode, signal) => resolve(exitCode ?? signal ?? 1));
  });
  for (let before = -1, round = 0; open && before < received() && round < DRAIN_ROUNDS; round += 1) {
    before = received();
    await Promise.race([closed, delay(DRAIN_MS, undefined, { ref: false })]);
    // After a long pause of this process the timer ends first, although output can be read.
    await immediate();
  }
  return code;
}

function signalGroup(child: ChildProcess, name: NodeJS.Signals): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, name);
  } catch {
    // All processes have ended.
  }
}

function endTree({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  spawn('taskkill', ['/pid', String(pid), '/t', '/f'], { windowsHide: true }).on('error', () => undefined);
}
