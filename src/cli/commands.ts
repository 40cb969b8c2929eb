import type { Run } from './io.ts';

export interface Command {
  readonly name: string;
  /** What stands after the name in the list of commands. */
  readonly usage: string;
  readonly summary: string;
  /** Loads the command's file only when it is called: `svc models` does not load a server. */
  readonly load: () => Promise<{ readonly run: Run }>;
}

/** A new command is a file that exports `run`, and a row here. */
export const COMMANDS: readonly Command[] = [
  {
    name: 'models',
    usage: '[--provider ID] [--json]',
    summary: 'List the models that are available.',
    load: () => import('./models.ts'),
  },
  {
    name: 'config',
    usage: '[path] [--json]',
    summary: 'Show the configuration, where each part is from, and what is wrong with it.',
    load: () => import('./config.ts'),
  },
  {
    name: 'serve',
    usage: '[--config FILE] [--host HOST] [--port N] [--log-level LEVEL] [--drain SECONDS]',
    summary:
      'Run the gateway. It ends on SIGTERM after a drain, with --exit-with-stdin when its input closes, with --parent-pid N when that process ends.',
    load: () => import('./serve.ts'),
  },
];
