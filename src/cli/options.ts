import { BUDGET_MODES, BUDGET_PERIODS } from '../config/settings/limit-values.ts';
import { ADMIN_SCOPES } from '../protocol/admin-api/key-properties.ts';
import type { Run } from './io.ts';
/**
 * An option of a command. `parseArgs` reads `type` and `short` and ignores the rest. Help and shell completion show the
 * other fields.
 */
export interface Option {
  readonly type: 'string' | 'boolean';
  /** May be used several times. */
  readonly multiple?: boolean;
  /** One letter, without the dash. */
  readonly short?: string;
  /** The name of its value in the help text. Absent: no value. The shell completes `MODEL` and `FILE`. */
  readonly value?: string;
  /** The possible values, if there are few. */
  readonly choices?: readonly string[];
  readonly summary: string;
}

export type Options = Readonly<Record<string, Option>>;

export interface Command {
  readonly name: string;
  /** The arguments, as shown after the name in the list of commands. */
  readonly usage: string;
  readonly summary: string;
  readonly options?: Options;
  /** Words that may follow the name. */
  readonly words?: readonly string[];
  /** Command lines with a comment after `#`, for the help. */
  readonly examples: readonly string[];
  /** The command ends its work after a signal, and then has its own exit code. */
  readonly drains?: boolean;
  /** Loads the command's module on demand: `svc models` does not load a server. */
  readonly load: () => Promise<{ readonly run: Run }>;
}

const JSON_OPTION = { type: 'boolean', summary: 'Print JSON for other programs.' } as const;
const CONFIG = { type: 'string', value: 'FILE', summary: 'Read this configuration file, like SVC_CONFIG.' } as const;
const GATEWAY = {
  type: 'string',
  value: 'URL',
  summary: 'Use the gateway at this address, with the admin key in SVC_ADMIN_KEY.',
} as const;
const MODEL = { type: 'string', short: 'm', value: 'MODEL', summary: 'Use this model (PROVIDER/MODEL).' } as const;

const NO_PROJECT = {
  type: 'boolean',
  summary: 'Ignore the svc.jsonc of this folder and of its parent folders.',
} as const;

/** The options of each command, by name without the dashes. */
export const OPTIONS = {
  models: {
    provider: { type: 'string', value: 'ID', summary: 'List only the models of this provider.' },
    refresh: { type: 'boolean', summary: 'Refresh the catalog first, at most once an hour.' },
    'no-project': NO_PROJECT,
    json: JSON_OPTION,
  },
  chat: {
    model: MODEL,
    variant: { type: 'string', value: 'NAME', summary: 'The variant of the model.' },
    system: { type: 'string', short: 's', value: 'TEXT', summary: 'The system prompt.' },
    json: { ...JSON_OPTION, summary: 'Print the answer with its usage and cost as JSON.' },
  },
  fim: {
    model: MODEL,
    language: { type: 'string', value: 'ID', summary: 'The language id, if the file name does not determine it.' },
    'max-lines': { type: 'string', value: 'N', summary: 'The maximum number of lines.' },
    json: { ...JSON_OPTION, summary: 'Print the text with its usage and cost as JSON.' },
  },
  edit: {
    model: MODEL,
    apply: { type: 'boolean', summary: 'Write the edit to the file.' },
    json: { ...JSON_OPTION, summary: 'Print the file after the edit with usage and cost as JSON.' },
  },
  config: { json: JSON_OPTION },
  trust: {
    list: { type: 'boolean', summary: 'List the folders that are allowed.' },
    remove: { type: 'boolean', summary: 'Do not allow the folder any more.' },
  },
  serve: {
    config: CONFIG,
    host: { type: 'string', value: 'HOST', summary: 'Listen on this address (default: 127.0.0.1).' },
    port: { type: 'string', value: 'N', summary: 'Listen on this port; 0 selects a free one.' },
    'log-level': {
      type: 'string',
      value: 'LEVEL',
      choices: ['debug', 'info', 'warn', 'error', 'silent'],
      summary: 'The log level.',
    },
    drain: { type: 'string', value: 'SECONDS', summary: 'Time for running requests after SIGTERM (default: 10).' },
    'drain-delay': {
      type: 'string',
      value: 'SECONDS',
      summary: 'Time after SIGTERM in which /readyz is 503 and requests are accepted (default: 0).',
    },
    workers: { type: 'string', value: 'N', summary: 'Use N processes that share the port (default: 1).' },
    'no-project': NO_PROJECT,
    'exit-with-stdin': { type: 'boolean', summary: 'Exit when standard input ends.' },
    'parent-pid': { type: 'string', value: 'PID', summary: 'Exit when this process exits.' },
  },
  keys: {
    name: { type: 'string', value: 'NAME', summary: 'The name of the key.' },
    org: { type: 'string', value: 'ID', summary: 'create: the organization of the key.' },
    user: { type: 'string', value: 'NAME', summary: 'create: the person or service that uses the key.' },
    admin: {
      type: 'string',
      value: 'SCOPE',
      choices: ADMIN_SCOPES,
      summary: 'create: let the key use the admin API: read everything, also change keys, or also admin keys.',
    },
    budget: {
      type: 'string',
      multiple: true,
      value: 'USD',
      summary: 'create, update: the maximum cost, such as 20, 20/month or 5/day:openai/*.',
    },
    period: {
      type: 'string',
      value: 'PERIOD',
      choices: BUDGET_PERIODS,
      summary: 'The period of a budget that names none (default: total).',
    },
    tz: { type: 'string', value: 'ZONE', summary: 'The time zone of the period (default: UTC).' },
    mode: {
      type: 'string',
      value: 'MODE',
      choices: BUDGET_MODES,
      summary: 'soft: running requests may exceed the budget; hard: they reserve their cost (default: soft).',
    },
    rpm: {
      type: 'string',
      multiple: true,
      value: 'N',
      summary: 'create, update: maximum requests per minute, such as 60 or 10:openai/*.',
    },
    tpm: { type: 'string', multiple: true, value: 'N', summary: 'create, update: maximum tokens per minute.' },
    parallel: { type: 'string', multiple: true, value: 'N', summary: 'create, update: maximum requests at a time.' },
    expires: { type: 'string', value: 'DATE', summary: 'create: expiry as a date, or a duration such as 30d.' },
    cut: { type: 'boolean', summary: 'revoke: end the running requests of the key too.' },
    grace: { type: 'string', value: 'TIME', summary: 'rotate: how long the old key remains valid (default: 24h).' },
    config: CONFIG,
    gateway: GATEWAY,
    json: JSON_OPTION,
  },
  usage: {
    since: { type: 'string', value: 'TIME', summary: 'Start of the period: a date, or a duration such as 7d.' },
    until: { type: 'string', value: 'TIME', summary: 'End of the period, not included.' },
    by: {
      type: 'string',
      value: 'FIELDS',
      choices: ['model', 'key', 'user', 'organization', 'provider', 'outcome', 'hour', 'day', 'week', 'month', 'tag:'],
      summary: 'Group by these fields, for example day,model or tag:project (default: model).',
    },
    tz: { type: 'string', value: 'ZONE', summary: 'Time zone of dates and periods (default: UTC).' },
    key: { type: 'string', value: 'NAME', summary: 'Show only the requests of this key.' },
    user: { type: 'string', value: 'NAME', summary: 'Show only the requests of this user.' },
    org: { type: 'string', value: 'ID', summary: 'Show only the requests of this organization.' },
    format: {
      type: 'string',
      value: 'FORMAT',
      choices: ['table', 'csv', 'json'],
      summary: 'The form of the output (default: table).',
    },
    config: CONFIG,
    gateway: GATEWAY,
    json: { ...JSON_OPTION, summary: 'The same as --format json.' },
  },
  state: { config: CONFIG, json: JSON_OPTION },
  admin: {
    config: CONFIG,
    port: { type: 'string', value: 'N', summary: 'The port of the running gateway, if it is not the configured one.' },
    'public-url': {
      type: 'string',
      value: 'URL',
      summary: 'The address of the gateway for the browser, if it is not gateway.publicUrl.',
    },
  },
} as const satisfies Readonly<Record<string, Options>>;

export interface NamedOption extends Option {
  readonly name: string;
}

export function listOptions(options: Options = {}): readonly NamedOption[] {
  return Object.entries(options).map(([name, option]) => ({ name, ...option }));
}
