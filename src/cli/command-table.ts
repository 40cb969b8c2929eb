import type { Command } from './options.ts';
import { OPTIONS } from './options.ts';

/** To add a command, create a file that exports `run` and add a row here. */
export const COMMANDS: readonly Command[] = [
  {
    name: 'models',
    usage: '[--provider ID] [--refresh] [--json]',
    summary: 'List the models that are available.',
    options: OPTIONS.models,
    examples: ['svc models', 'svc models --provider mistral --json  # with limits and prices'],
    load: () => import('./commands/models-command.ts'),
  },
  {
    name: 'chat',
    usage: '[-m MODEL] [PROMPT]',
    summary: 'Send a prompt and piped input to a model. Without both, start a conversation.',
    options: OPTIONS.chat,
    examples: [
      "svc chat 'What does EAGAIN mean?'",
      "git diff | svc chat 'Write a commit message'",
      'svc chat -m mistral/mistral-large-latest  # a conversation',
    ],
    load: () => import('./commands/chat-command.ts'),
  },
  {
    name: 'fim',
    usage: 'FILE:LINE:COL [-m MODEL]',
    summary: 'Complete code at a position. LINE and COL start at 1; use - as FILE for standard input.',
    options: OPTIONS.fim,
    examples: ['svc fim src/app.ts:12:8', 'svc fim -:3:1 --language python < app.py'],
    load: () => import('./commands/fim-command.ts'),
  },
  {
    name: 'config',
    usage: '[path] [--json]',
    summary: 'Show the configuration, the source of each value, and its problems.',
    words: ['path'],
    options: OPTIONS.config,
    examples: ['svc config', 'svc config path  # the file to edit'],
    load: () => import('./commands/config-command.ts'),
  },
  {
    name: 'serve',
    usage: '[--config FILE] [--host HOST] [--port N]',
    summary: 'Run the gateway (see docs/gateway.md).',
    options: OPTIONS.serve,
    examples: ['svc serve', 'svc serve --port 8080 --config gateway.jsonc'],
    needsSqlite: true,
    load: () => import('./commands/serve-command.ts'),
  },
  {
    name: 'keys',
    usage: 'create|list|rotate|revoke [NAME]',
    summary: 'Create, list, rotate and revoke keys of the gateway.',
    words: ['create', 'list', 'rotate', 'revoke'],
    options: OPTIONS.keys,
    examples: ['svc keys create --name ci --budget 20 --rpm 60', 'svc keys revoke ci'],
    needsSqlite: true,
    load: () => import('./commands/keys-command.ts'),
  },
  {
    name: 'usage',
    usage: '[--since TIME] [--by FIELD] [--json]',
    summary: 'Show the usage of the gateway and its cost.',
    options: OPTIONS.usage,
    examples: ['svc usage --since 7d --by key', 'svc usage --by day --json'],
    needsSqlite: true,
    load: () => import('./commands/usage-command.ts'),
  },
  {
    name: 'completion',
    usage: 'bash|zsh|fish',
    summary: 'Print a shell script that completes commands, options and models.',
    words: ['bash', 'zsh', 'fish'],
    examples: ['source <(svc completion bash)'],
    load: async () => ({ run: (await import('./shell-completion.ts')).createCompletionCommand(COMMANDS) }),
  },
];
