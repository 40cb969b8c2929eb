import type { Command, Option } from './command.ts';

const JSON_OPTION: Option = { name: 'json', summary: 'Print JSON, for programs.' };
const MODEL: Option = { name: 'model', short: 'm', value: 'MODEL', summary: 'Use this model (PROVIDER/MODEL).' };

/** A new command is a file that exports `run`, and a row here. */
export const COMMANDS: readonly Command[] = [
  {
    name: 'models',
    usage: '[--provider ID] [--refresh] [--json]',
    summary: 'List the models that are available.',
    options: [
      { name: 'provider', value: 'ID', summary: 'Only those of this provider.' },
      { name: 'refresh', summary: 'Look for a newer catalog first, unless that was done within the hour.' },
      JSON_OPTION,
    ],
    load: () => import('./models.ts'),
  },
  {
    name: 'chat',
    usage: '[-m MODEL] [PROMPT]',
    summary: 'Ask a model; what is piped in goes along. Without a prompt, hold a conversation.',
    options: [
      MODEL,
      { name: 'variant', value: 'NAME', summary: 'The variant of the model.' },
      { name: 'system', short: 's', value: 'TEXT', summary: 'What the model is told before all else.' },
      { ...JSON_OPTION, summary: 'Print the answer with its usage and cost as JSON.' },
    ],
    load: () => import('./chat.ts'),
  },
  {
    name: 'fim',
    usage: 'FILE:LINE:COL [-m MODEL]',
    summary: 'Complete code at a place, counted from 1; a FILE of - is standard input.',
    options: [
      MODEL,
      { name: 'language', value: 'ID', summary: 'The language, where the name of the file does not say it.' },
      { name: 'max-lines', value: 'N', summary: 'At most this many lines.' },
      { ...JSON_OPTION, summary: 'Print the text with its usage and cost as JSON.' },
    ],
    load: () => import('./fim.ts'),
  },
  {
    name: 'config',
    usage: '[path] [--json]',
    summary: 'Show the configuration, where each part is from, and what is wrong with it.',
    words: ['path'],
    options: [JSON_OPTION],
    load: () => import('./config.ts'),
  },
  {
    name: 'serve',
    usage: '[--config FILE] [--host HOST] [--port N]',
    summary: 'Run the gateway (docs/gateway.md says more).',
    options: [
      { name: 'config', value: 'FILE', summary: 'Read this file as SVC_CONFIG does.' },
      { name: 'host', value: 'HOST', summary: 'Listen at this address, 127.0.0.1 by default.' },
      { name: 'port', value: 'N', summary: 'Listen at this port; 0 takes a free one.' },
      {
        name: 'log-level',
        value: 'LEVEL',
        choices: ['debug', 'info', 'warn', 'error', 'silent'],
        summary: 'How much is logged.',
      },
      { name: 'drain', value: 'SECONDS', summary: 'How long requests may go on after SIGTERM, 10 by default.' },
      { name: 'no-project', summary: 'Leave out the svc.jsonc of this folder and those above it.' },
      { name: 'exit-with-stdin', summary: 'End when standard input ends.' },
      { name: 'parent-pid', value: 'PID', summary: 'End when this process has ended.' },
    ],
    load: () => import('./serve.ts'),
  },
  {
    name: 'keys',
    usage: 'create|list|rotate|revoke [NAME]',
    summary: 'Make, list, rotate and revoke keys of the gateway.',
    words: ['create', 'list', 'rotate', 'revoke'],
    options: [
      { name: 'name', value: 'NAME', summary: 'The name of the key.' },
      { name: 'org', value: 'ID', summary: 'create: the organization it belongs to.' },
      { name: 'budget', value: 'USD', summary: 'create: the most that it may spend.' },
      { name: 'rpm', value: 'N', summary: 'create: requests a minute.' },
      { name: 'expires', value: 'DATE', summary: 'create: a date, or a time from now such as 30d.' },
      { name: 'grace', value: 'TIME', summary: 'rotate: how long the old key stays valid, 24h by default.' },
      JSON_OPTION,
    ],
    load: () => import('./keys.ts'),
  },
  {
    name: 'usage',
    usage: '[--since TIME] [--by FIELD] [--json]',
    summary: 'Show what went through the gateway and its cost.',
    options: [
      { name: 'since', value: 'TIME', summary: 'A date, or a time back from now such as 7d.' },
      { name: 'by', value: 'FIELD', choices: ['model', 'key', 'organization', 'day'], summary: 'What makes a row.' },
      { name: 'key', value: 'NAME', summary: 'Only what this key asked for.' },
      JSON_OPTION,
    ],
    load: () => import('./usage.ts'),
  },
  {
    name: 'completion',
    usage: 'bash|zsh|fish',
    summary: 'Print a script with which the shell completes commands, options and models.',
    words: ['bash', 'zsh', 'fish'],
    load: async () => ({ run: (await import('./shell-completion.ts')).completing(COMMANDS) }),
  },
];
