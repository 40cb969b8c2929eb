import type { Run } from './io.ts';
import type { Options } from './options.ts';

export interface Command {
  readonly name: string;
  /** What stands after the name in the list of commands. */
  readonly usage: string;
  readonly summary: string;
  readonly options?: Options;
  /** Words that may follow the name. */
  readonly words?: readonly string[];
  /** Loads the command's file only when it is called: `svc models` does not load a server. */
  readonly load: () => Promise<{ readonly run: Run }>;
}
