import { constants } from 'node:os';

/** The process functions that a command may use. Tests pass their own. */
export interface Io {
  /** Resolves when the text is written, so that a pipe gets all of it. */
  readonly out: (text: string) => Promise<void>;
  /** Like `out`, for our own cursor sequences. Absent: `out` accepts them too. */
  readonly draw?: (text: string) => Promise<void>;
  /** True if standard output is a terminal that shows styles. */
  readonly styles?: boolean;
  readonly err: (text: string) => Promise<void>;
  readonly input: NodeJS.ReadableStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  readonly home: string;
  readonly cwd: string;
  /** Ignore the configuration of the working folder and of those above it. */
  readonly noProject?: boolean;
  /** Aborts on SIGINT, SIGTERM and SIGHUP, with `Interrupted` as the reason. */
  readonly signal: AbortSignal;
  /** After this call, these signals call `listener` instead of ending the process. */
  readonly onFurtherSignals?: (listener: () => void) => void;
  /** Starts svc with these arguments as a detached process. Absent: no process is started. */
  readonly spawnDetached?: (args: readonly string[]) => void;
}

/**
 * Runs a command with its arguments (without its name). Resolves with the exit code: 0 success, 1 failure, 2 usage
 * error.
 */
export type Run = (args: string[], io: Io) => Promise<number>;

/** The reason of `Io.signal`: the process received this signal. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
  /** 128 and the number of the signal, as a shell reports it: 130 for SIGINT, 143 for SIGTERM, 129 for SIGHUP. */
  readonly exitCode: number;

  constructor(signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP') {
    super(`Received ${signal}.`);
    this.exitCode = 128 + constants.signals[signal];
  }
}

/** The exit code of a command that the signal stopped. */
export function stoppedCode({ reason }: AbortSignal): number {
  return reason instanceof Interrupted ? reason.exitCode : 130;
}

/** Invalid command line. The exit code is 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
