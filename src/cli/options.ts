/** An option of a command: parsed by `parseArgs`, which ignores what it does not know, and shown by help and shells. */
export interface Option {
  readonly type: 'string' | 'boolean';
  /** One letter, without the dash. */
  readonly short?: string;
  /** What it takes, as help names it; absent: nothing. `MODEL` and `FILE` are completed. */
  readonly value?: string;
  /** Its possible values, where that is a short list. */
  readonly choices?: readonly string[];
  readonly summary: string;
}

export type Options = Readonly<Record<string, Option>>;

const JSON_OPTION = { type: 'boolean', summary: 'Print JSON, for programs.' } as const;
const MODEL = { type: 'string', short: 'm', value: 'MODEL', summary: 'Use this model (PROVIDER/MODEL).' } as const;

/** The options of each command, by name without the dashes. */
export const OPTIONS = {
  models: {
    provider: { type: 'string', value: 'ID', summary: 'Only those of this provider.' },
    refresh: { type: 'boolean', summary: 'Look for a newer catalog first, unless that was done within the hour.' },
    json: JSON_OPTION,
  },
  chat: {
    model: MODEL,
    variant: { type: 'string', value: 'NAME', summary: 'The variant of the model.' },
    system: { type: 'string', short: 's', value: 'TEXT', summary: 'What the model is told before all else.' },
    json: { ...JSON_OPTION, summary: 'Print the answer with its usage and cost as JSON.' },
  },
  fim: {
    model: MODEL,
    language: { type: 'string', value: 'ID', summary: 'The language, where the name of the file does not say it.' },
    'max-lines': { type: 'string', value: 'N', summary: 'At most this many lines.' },
    json: { ...JSON_OPTION, summary: 'Print the text with its usage and cost as JSON.' },
  },
  config: { json: JSON_OPTION },
  serve: {
    config: { type: 'string', value: 'FILE', summary: 'Read this file as SVC_CONFIG does.' },
    host: { type: 'string', value: 'HOST', summary: 'Listen at this address, 127.0.0.1 by default.' },
    port: { type: 'string', value: 'N', summary: 'Listen at this port; 0 takes a free one.' },
    'log-level': {
      type: 'string',
      value: 'LEVEL',
      choices: ['debug', 'info', 'warn', 'error', 'silent'],
      summary: 'How much is logged.',
    },
    drain: { type: 'string', value: 'SECONDS', summary: 'How long requests may go on after SIGTERM, 10 by default.' },
    'no-project': { type: 'boolean', summary: 'Leave out the svc.jsonc of this folder and those above it.' },
    'exit-with-stdin': { type: 'boolean', summary: 'End when standard input ends.' },
    'parent-pid': { type: 'string', value: 'PID', summary: 'End when this process has ended.' },
  },
  keys: {
    name: { type: 'string', value: 'NAME', summary: 'The name of the key.' },
    org: { type: 'string', value: 'ID', summary: 'create: the organization it belongs to.' },
    budget: { type: 'string', value: 'USD', summary: 'create: the most that it may spend.' },
    rpm: { type: 'string', value: 'N', summary: 'create: requests a minute.' },
    expires: { type: 'string', value: 'DATE', summary: 'create: a date, or a time from now such as 30d.' },
    grace: { type: 'string', value: 'TIME', summary: 'rotate: how long the old key stays valid, 24h by default.' },
    json: JSON_OPTION,
  },
  usage: {
    since: { type: 'string', value: 'TIME', summary: 'A date, or a time back from now such as 7d.' },
    by: {
      type: 'string',
      value: 'FIELD',
      choices: ['model', 'key', 'organization', 'day'],
      summary: 'What makes a row.',
    },
    key: { type: 'string', value: 'NAME', summary: 'Only what this key asked for.' },
    json: JSON_OPTION,
  },
} as const satisfies Readonly<Record<string, Options>>;

export interface NamedOption extends Option {
  readonly name: string;
}

export function listOptions(options: Options = {}): readonly NamedOption[] {
  return Object.entries(options).map(([name, option]) => ({ name, ...option }));
}
