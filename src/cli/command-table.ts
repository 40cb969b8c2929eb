import type { Command } from './command.ts';
import { OPTIONS } from './options.ts';

/** A new command is a file that exports `run`, and a row here. */
export const COMMANDS: readonly Command[] = [
  {
    name: 'models',
    usage: '[--provider ID] [--refresh] [--json]',
    summary: 'List the models that are available.',
    options: OPTIONS.models,
    load: () => import('./commands/models-command.ts'),
  },
  {
    name: 'chat',
    usage: '[-m MODEL] [PROMPT]',
    summary: 'Ask a model; what is piped in goes along. Without a prompt, hold a conversation.',
    options: OPTIONS.chat,
    load: () => import('./commands/chat-command.ts'),
  },
  {
    name: 'fim',
    usage: 'FILE:LINE:COL [-m MODEL]',
    summary: 'Complete code at a place, counted from 1; a FILE of - is standard input.',
    options: OPTIONS.fim,
    load: () => import('./commands/fim-command.ts'),
  },
  {
    name: 'config',
    usage: '[path] [--json]',
    summary: 'Show the configuration, where each part is from, and what is wrong with it.',
    words: ['path'],
    options: OPTIONS.config,
    load: () => import('./commands/config-command.ts'),
  },
  {
    name: 'serve',
    usage: '[--config FILE] [--host HOST] [--port N]',
    summary: 'Run the gateway (docs/gateway.md says more).',
    options: OPTIONS.serve,
    load: () => import('./commands/serve-command.ts'),
  },
  {
    name: 'keys',
    usage: 'create|list|rotate|revoke [NAME]',
    summary: 'Make, list, rotate and revoke keys of the gateway.',
    words: ['create', 'list', 'rotate', 'revoke'],
    options: OPTIONS.keys,
    load: () => import('./commands/keys-command.ts'),
  },
  {
    name: 'usage',
    usage: '[--since TIME] [--by FIELD] [--json]',
    summary: 'Show what went through the gateway and its cost.',
    options: OPTIONS.usage,
    load: () => import('./commands/usage-command.ts'),
  },
  {
    name: 'completion',
    usage: 'bash|zsh|fish',
    summary: 'Print a script with which the shell completes commands, options and models.',
    words: ['bash', 'zsh', 'fish'],
    load: async () => ({ run: (await import('./shell-completion.ts')).completing(COMMANDS) }),
  },
];
