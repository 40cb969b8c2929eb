import type { FormatName } from '../../src/wire/format-name.ts';

/** A feature of one format that another lacks. Source of the table in docs/formats.md; test/wire/lossy-rows.test.ts tests each row. */
export interface Loss {
  /** The content by scenario. */
  readonly what: string;
  /** The formats that support it. */
  readonly from: readonly FormatName[];
  /** The formats that it is converted to. */
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
    what: 'stop sequences of only white space',
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
    how: 'only `temperature` is sent: the API accepts one of the two',
  },
  {
    what: '`temperature`, `top_p`, `top_k` with reasoning',
    from: [chat, responses, messages],
    to: [messages],
    happens: 'dropped',
    how: 'the API refuses them with thinking',
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
    what: '`verbosity`, `logprobs`, `prompt_cache_key`, `prompt_cache_retention`',
    from: [chat, responses],
    to: [messages],
    happens: 'dropped',
    how: 'no such fields; also to Chat Completions providers that refuse them (Mistral, Groq, Cerebras, NVIDIA)',
  },
  {
    what: '`service_tier`',
    from: [chat, responses],
    to: [messages],
    happens: 'changed',
    how: '`default` becomes `standard_only` and back, `priority` becomes `auto`, others are dropped',
  },
  {
    what: '`safety_identifier`',
    from: [chat, responses],
    to: [messages],
    happens: 'changed',
    how: 'becomes `user_id`, unless there is a `user`',
  },
  {
    what: '`user`, `user_id`, `safety_identifier` and `prompt_cache_key` of more than 64 characters',
    from: [chat, responses, messages],
    to: [chat, responses],
    happens: 'changed',
    how: 'becomes its SHA-256 hash, which is the same in each request; to Messages from 257 characters',
  },
  {
    what: 'a limit of less than 16 tokens',
    from: [chat, messages],
    to: [responses],
    happens: 'changed',
    how: 'becomes 16',
  },
  {
    what: 'more than four `cache_control`',
    from: [chat],
    to: [messages],
    happens: 'changed',
    how: 'the last of tools and system prompt and the last of the messages are kept',
  },
  {
    what: '`store: true`',
    from: [chat],
    to: [responses, messages],
    happens: 'refused',
    how: 'the gateway stores nothing',
  },
  {
    what: '`logit_bias`, `prediction` and other fields of one format',
    from: [chat, responses, messages],
    to: [chat, responses, messages],
    happens: 'dropped',
    how: 'sent only to an upstream of the same format',
  },
  {
    what: '`store`, `previous_response_id`, `conversation`, `background`, `prompt`',
    from: [responses],
    to: [chat, messages, responses],
    happens: 'refused',
    how: 'the gateway stores nothing',
  },
  {
    what: 'tools that the vendor runs (web search, MCP, …)',
    from: [chat, responses, messages],
    to: [chat, responses, messages],
    happens: 'dropped',
    how: 'the header `Warning` of the answer names them',
  },
  {
    what: '`tool_choice` that demands a tool of the vendor',
    from: [chat, responses, messages],
    to: [chat, responses, messages],
    happens: 'refused',
    how: 'only its vendor can run it',
  },
  {
    what: 'calls of the vendor’s own tools in the history (`web_search_call`)',
    from: [responses],
    to: [chat, responses, messages],
    happens: 'dropped',
    how: 'the text after them has their result',
  },
  {
    what: 'tools in a namespace',
    from: [responses],
    to: [chat, messages],
    happens: 'changed',
    how: 'become functions `namespace__name`; calls come back with their namespace',
  },
  {
    what: 'custom tools',
    from: [chat, responses],
    to: [messages],
    happens: 'changed',
    how: 'become functions with the string `input`, the grammar in the description; calls come back as custom calls; the same for Chat Completions providers other than OpenAI',
  },
  {
    what: '`tool_choice` of some of the tools (`allowed_tools`)',
    from: [chat, responses],
    to: [messages],
    happens: 'changed',
    how: 'only these tools are sent; the same for Chat Completions providers other than OpenAI',
  },
  {
    what: 'names of tools that are longer than 64 characters or contain other characters than letters, digits, `_` and `-`',
    from: [chat, responses, messages],
    to: [chat, responses, messages],
    happens: 'changed',
    how: 'shortened, with a hash; calls come back with the client’s name',
  },
  {
    what: 'a tool’s schema with alternatives (`anyOf`, `oneOf`, `allOf`, `$ref`) at its top',
    from: [chat, responses, messages],
    to: [chat, responses, messages],
    happens: 'changed',
    how: 'becomes one object with the properties of all alternatives',
  },
  {
    what: '`item_reference` of an item that the gateway does not have, and other items',
    from: [responses],
    to: [chat, messages],
    happens: 'refused',
    how: 'the gateway keeps the items of translated answers for an hour',
  },
  {
    what: '`thread`',
    from: [messages],
    to: [chat, messages, responses],
    happens: 'refused',
    how: 'the gateway stores nothing; the SDK sends the whole history instead',
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
  {
    what: 'only system messages',
    from: [chat, responses],
    to: [responses, messages],
    happens: 'changed',
    how: 'the last one becomes a user message: the APIs refuse an empty list',
  },
  { what: '`name` of a message', from: [chat], to: [responses, messages], happens: 'dropped', how: 'no such field' },
  {
    what: '`cache_control`',
    from: [chat, messages],
    to: [responses],
    happens: 'dropped',
    how: 'Responses caches automatically',
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
    how: 'Chat Completions accepts file data only',
  },
  {
    what: 'an image by a vendor’s file id',
    from: [responses, messages],
    to: [chat],
    happens: 'refused',
    how: 'Chat Completions accepts URLs only',
  },
  {
    what: 'files other than PDF and text',
    from: [chat, responses],
    to: [messages],
    happens: 'refused',
    how: 'Messages accepts documents only',
  },
  {
    what: 'images and files in a tool result',
    from: [responses, messages],
    to: [chat],
    happens: 'changed',
    how: 'moved to a user message after the results',
  },
  {
    what: '`tool_reference` in a tool result, `defer_loading`',
    from: [messages],
    to: [chat, responses],
    happens: 'changed',
    how: 'becomes text; all tools are sent from the start',
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
    how: 'Messages supports schemas only',
  },
  {
    what: 'name, description and `strict` of a response schema',
    from: [chat, responses],
    to: [messages],
    happens: 'dropped',
    how: 'only the schema is sent',
  },
  {
    what: 'parts of a response schema that Messages does not support (limits such as `minimum` and `pattern`, `oneOf`, open objects)',
    from: [chat, responses],
    to: [messages],
    happens: 'changed',
    how: 'limits are moved to the description, `oneOf` becomes `anyOf`, objects are closed',
  },
  {
    what: '`metadata`',
    from: [chat, responses],
    to: [messages],
    happens: 'dropped',
    how: 'Messages supports `user_id` only',
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
    how: 'thinking is turned off: the API refuses both together',
  },
  {
    what: 'a thinking signature, redacted thinking',
    from: [messages],
    to: [responses],
    happens: 'dropped',
    how: 'only its provider can read it, and gets it back (see below)',
  },
  {
    what: 'encrypted reasoning',
    from: [responses],
    to: [messages],
    happens: 'dropped',
    how: 'only its provider can read it, and gets it back (see below)',
  },
  {
    what: 'reasoning without a signature or encrypted content in the history',
    from: [chat, responses],
    to: [responses, messages],
    happens: 'dropped',
    how: 'Messages refuses it, Responses would not find it; in a tool loop without its signed thinking, thinking is turned off for Messages',
  },
  {
    what: 'the stop sequence that ended the answer',
    from: [messages],
    to: [chat, responses],
    happens: 'dropped',
    how: 'no such field',
  },
  { what: 'citations', from: [messages], to: [responses], happens: 'dropped', how: 'the formats differ' },
  { what: 'annotations', from: [chat, responses], to: [messages], happens: 'dropped', how: 'the formats differ' },
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
