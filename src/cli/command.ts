import type { Run } from './io.ts';

/** An option of a command, for its help and for the shells' completion. */
export interface Option {
  /** Without the dashes. */
  readonly name: string;
  /** One letter, without the dash. */
  readonly short?: string;
  /** What it takes, as help names it; absent: nothing. `MODEL` and `FILE` are completed. */
  readonly value?: string;
  /** What it may be, where that is a short list. */
  readonly choices?: readonly string[];
  readonly summary: string;
}

export interface Command {
  readonly name: string;
  /** What stands after the name in the list of commands. */
  readonly usage: string;
  readonly summary: string;
  readonly options?: readonly Option[];
  /** Words that may follow the name. */
  readonly words?: readonly string[];
  /** Loads the command's file only when it is called: `svc models` does not load a server. */
  readonly load: () => Promise<{ readonly run: Run }>;
}
