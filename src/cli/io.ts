/** What a command may touch of the process; tests hand in their own. */
export interface Io {
  /** Resolves when the text has been taken, so that a pipe gets all of it. */
  readonly out: (text: string) => Promise<void>;
  /** As `out`, for sequences of our own that move a terminal’s cursor; absent: `out` takes them too. */
  readonly draw?: (text: string) => Promise<void>;
  readonly err: (text: string) => Promise<void>;
  readonly input: NodeJS.ReadableStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  readonly home: string;
  readonly cwd: string;
  /** Aborts on SIGINT, SIGTERM and SIGHUP. */
  readonly signal: AbortSignal;
  /** From now on these signals call `listener` instead of ending the process. */
  readonly onFurtherSignals?: (listener: () => void) => void;
  /** Starts svc with these arguments as a process that goes on by itself; absent: nothing is left behind. */
  readonly leaveBehind?: (args: readonly string[]) => void;
}

/** A command: its arguments without its name; resolves with the exit code (0 done, 1 failed, 2 wrong use). */
export type Run = (args: string[], io: Io) => Promise<number>;

/** The wrong words on the command line; the exit code is 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
