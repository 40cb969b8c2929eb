import type { Run } from './io.ts';
import type { Options } from './options.ts';

export interface Command {
  readonly name: string;
  /** The arguments, as shown after the name in the list of commands. */
  readonly usage: string;
  readonly summary: string;
  readonly options?: Options;
  /** Words that may follow the name. */
  readonly words?: readonly string[];
  /** Loads the command's module on demand: `svc models` does not load a server. */
  readonly load: () => Promise<{ readonly run: Run }>;
}
