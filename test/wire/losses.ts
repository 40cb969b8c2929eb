import type { FormatName } from '../../src/wire/format-name.ts';

/** Something that one format says and another has no word for. docs/formats.md has its table from this; test/wire/lossy-rows.test.ts shows each row. */
export interface Loss {
  /** What is said. */
  readonly what: string;
  /** The formats that can say it. */
  readonly from: readonly FormatName[];
  /** Those it is carried to. */
  readonly to: readonly FormatName[];
  readonly happens: 'dropped' | 'changed' | 'refused';
  readonly how: string;
}

const chat: FormatName = 'chat-completions';
const responses: FormatName = 'responses';
const messages: FormatName = 'messages';

/** `refused` is a 400 `unsupported_field` that names the field. */
export const LOSSES: readonly Loss[] = [
  {
    what: '`stop`, `stop_sequences`',
    from: [chat, messages],
    to: [responses],
    happens: 'dropped',
    how: 'Responses has no stop sequences',
  },
  {
    what: 'stop sequences of whitespace alone',
    from: [chat],
    to: [messages],
    happens: 'dropped',
    how: 'Messages refuses them',
  },
  {
    what: '`frequency_penalty`, `presence_penalty`, `seed`',
    from: [chat],
    to: [responses, messages],
    happens: 'dropped',
    how: 'no such fields',
  },
  { what: '`top_k`', from: [chat, messages], to: [responses], happens: 'dropped', how: 'no such field' },
  { what: '`temperature` above 1', from: [chat, responses], to: [messages], happens: 'changed', how: 'becomes 1' },
  {
    what: '`temperature` with `top_p`',
    from: [chat, responses],
    to: [messages],
    happens: 'changed',
    how: '`temperature` stays: the API takes one of the two',
  },
  {
    what: '`temperature`, `top_p`, `top_k` with reasoning',
    from: [chat, responses, messages],
    to: [messages],
    happens: 'dropped',
    how: 'the API refuses them while thinking',
  },
  { what: '`n` above 1', from: [chat], to: [responses, messages], happens: 'refused', how: 'one answer at a time' },
  {
    what: '`functions`, `function_call`',
    from: [chat],
    to: [responses, messages],
    happens: 'refused',
    how: 'use `tools`',
  },
  {
    what: 'audio output (`modalities`)',
    from: [chat],
    to: [responses, messages],
    happens: 'refused',
    how: 'text only',
  },
  {
    what: '`logprobs`, `logit_bias`, `prediction`, `service_tier` and other fields of one format',
    from: [chat, responses, messages],
    to: [chat, responses, messages],
    happens: 'dropped',
    how: 'they reach an upstream of the same format only',
  },
  {
    what: '`store`, `previous_response_id`, `conversation`, `background`, `prompt`',
    from: [responses],
    to: [chat, messages, responses],
    happens: 'refused',
    how: 'nothing is stored here',
  },
  {
    what: 'tools that the vendor runs (web search, MCP, …)',
    from: [responses, messages],
    to: [chat, responses, messages],
    happens: 'refused',
    how: 'only functions are carried',
  },
  {
    what: '`item_reference` and other items',
    from: [responses],
    to: [chat, messages],
    happens: 'refused',
    how: 'nothing is stored here',
  },
  {
    what: '`container`, `mcp_servers`',
    from: [messages],
    to: [chat, responses],
    happens: 'refused',
    how: 'run by the vendor',
  },
  {
    what: 'role `developer`',
    from: [chat, responses],
    to: [chat, responses, messages],
    happens: 'changed',
    how: 'becomes `system`',
  },
  {
    what: 'several system messages at the start',
    from: [chat, responses, messages],
    to: [chat, responses],
    happens: 'changed',
    how: 'joined by a blank line',
  },
  {
    what: 'a system message in the middle',
    from: [chat, responses],
    to: [messages],
    happens: 'changed',
    how: 'moved to `system`',
  },
  { what: '`name` of a message', from: [chat], to: [responses, messages], happens: 'dropped', how: 'no such field' },
  {
    what: '`cache_control`',
    from: [chat, messages],
    to: [responses],
    happens: 'dropped',
    how: 'Responses caches by itself',
  },
  { what: '`detail` of an image', from: [chat, responses], to: [messages], happens: 'dropped', how: 'no such field' },
  {
    what: 'recordings',
    from: [chat, responses],
    to: [messages],
    happens: 'refused',
    how: 'Messages has no audio input',
  },
  {
    what: 'a file by URL',
    from: [responses, messages],
    to: [chat],
    happens: 'refused',
    how: 'Chat Completions takes file data only',
  },
  {
    what: 'an image by a vendor’s file id',
    from: [responses, messages],
    to: [chat],
    happens: 'refused',
    how: 'Chat Completions takes URLs only',
  },
  {
    what: 'files other than PDF and text',
    from: [chat, responses],
    to: [messages],
    happens: 'refused',
    how: 'Messages takes documents only',
  },
  {
    what: 'images and files in a tool result',
    from: [responses, messages],
    to: [chat],
    happens: 'changed',
    how: 'moved to a user message after the results',
  },
  {
    what: '`is_error` of a tool result',
    from: [messages],
    to: [chat, responses],
    happens: 'dropped',
    how: 'no such field',
  },
  {
    what: 'empty text',
    from: [chat, responses],
    to: [messages],
    happens: 'dropped',
    how: 'Messages refuses empty blocks',
  },
  {
    what: 'text after a tool call',
    from: [responses, messages],
    to: [chat],
    happens: 'changed',
    how: 'joined to the text before it',
  },
  {
    what: 'JSON mode without a schema',
    from: [chat, responses],
    to: [messages],
    happens: 'dropped',
    how: 'Messages knows schemas only',
  },
  {
    what: 'name, description and `strict` of a response schema',
    from: [chat, responses],
    to: [messages],
    happens: 'dropped',
    how: 'the schema alone is carried',
  },
  {
    what: 'what a response schema asks beyond Messages’ (limits such as `minimum` and `pattern`, `oneOf`, open objects)',
    from: [chat, responses],
    to: [messages],
    happens: 'changed',
    how: 'limits go into the description, `oneOf` becomes `anyOf`, objects are closed',
  },
  {
    what: '`metadata`',
    from: [chat, responses],
    to: [messages],
    happens: 'dropped',
    how: 'Messages knows `user_id` only',
  },
  {
    what: 'reasoning effort',
    from: [chat, responses],
    to: [messages],
    happens: 'changed',
    how: 'adaptive thinking, or a budget of 2 to 95 percent of the limit for older models',
  },
  {
    what: 'a thinking budget',
    from: [messages],
    to: [chat, responses],
    happens: 'changed',
    how: 'low, medium or high by its share of the limit',
  },
  {
    what: 'reasoning together with a forced tool',
    from: [chat, responses],
    to: [messages],
    happens: 'changed',
    how: 'thinking is off: the API refuses both',
  },
  {
    what: 'a thinking signature, redacted thinking',
    from: [messages],
    to: [responses],
    happens: 'dropped',
    how: 'only its vendor can read it; to Chat Completions it goes in `reasoning_details`',
  },
  {
    what: 'encrypted reasoning',
    from: [responses],
    to: [messages],
    happens: 'dropped',
    how: 'only its vendor can read it; to Chat Completions it goes in `reasoning_details`',
  },
  {
    what: 'reasoning without a signature or encrypted content in the history',
    from: [chat, responses],
    to: [responses, messages],
    happens: 'dropped',
    how: 'Messages refuses it, Responses would not find it; Messages does not think in a tool loop that lost its own',
  },
  {
    what: 'which stop sequence was met',
    from: [messages],
    to: [chat, responses],
    happens: 'dropped',
    how: 'no such field',
  },
  { what: 'citations', from: [messages], to: [responses], happens: 'dropped', how: 'of another shape' },
  { what: 'annotations', from: [chat, responses], to: [messages], happens: 'dropped', how: 'of another shape' },
  { what: 'a refusal’s text', from: [chat, responses], to: [messages], happens: 'changed', how: 'becomes text' },
];

/** The table of docs/formats.md. */
export function lossTable(): string {
  const names = (formats: readonly FormatName[]): string => formats.join(', ');
  const rows = LOSSES.map(
    ({ what, from, to, happens, how }) => `| ${what} | ${names(from)} | ${names(to)} | ${happens} | ${how} |`,
  );
  return ['| what | from | to | what happens | how |', '|---|---|---|---|---|', ...rows].join('\n');
}
