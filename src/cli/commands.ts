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
    usage: '[--config FILE] [--host HOST] [--port N]',
    summary: 'Run the gateway (docs/gateway.md has all options).',
    load: () => import('./serve.ts'),
  },
  {
    name: 'keys',
    usage: 'create|list|rotate|revoke [NAME]',
    summary: 'Keys of the gateway; create takes --org, --budget USD, --rpm N, --expires DATE, rotate --grace TIME.',
    load: () => import('./keys.ts'),
  },
  {
    name: 'usage',
    usage: '[--json] [--since TIME] [--by FIELD]',
    summary: 'Show what went through the gateway and its cost, by model, key, organization or day.',
    load: () => import('./usage.ts'),
  },
];
