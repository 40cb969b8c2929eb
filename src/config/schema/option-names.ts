import { splitWords } from '../../base/split-words.ts';
/**
 * Names of options that configuration files of opencode and Kilo use (those of the Vercel AI SDK), and their names in
 * the requests of each format. Source: ai-sdk.dev, "Providers"; opencode.ai/docs, "Providers" and "Models".
 * scripts/configuration-tables.ts makes a table of docs/configuration.md from them.
 */
import type { FormatName } from '../../wire/format-name.ts';

type Fields = Partial<Record<FormatName, string>>;

const everywhere = (name: string): Fields => ({ 'chat-completions': name, responses: name, messages: name });
const openAI = (name: string): Fields => ({ 'chat-completions': name, responses: name });

/** Dotted paths of request fields by format. A format without a path has no such field. */
export const FIELD_OPTIONS: Readonly<Record<string, Fields>> = {
  reasoningEffort: {
    'chat-completions': 'reasoning_effort',
    responses: 'reasoning.effort',
    messages: 'output_config.effort',
  },
  effort: { messages: 'output_config.effort' },
  reasoningSummary: { responses: 'reasoning.summary' },
  textVerbosity: { 'chat-completions': 'verbosity', responses: 'text.verbosity' },
  // ai.google.dev, "OpenAI compatibility": fields of Gemini are below `extra_body.google`.
  thinkingConfig: { 'chat-completions': 'extra_body.google.thinking_config' },
  maxTokens: { 'chat-completions': 'max_tokens', responses: 'max_output_tokens', messages: 'max_tokens' },
  maxOutputTokens: { 'chat-completions': 'max_tokens', responses: 'max_output_tokens', messages: 'max_tokens' },
  maxCompletionTokens: {
    'chat-completions': 'max_completion_tokens',
    responses: 'max_output_tokens',
    messages: 'max_tokens',
  },
  topP: everywhere('top_p'),
  topK: { 'chat-completions': 'top_k', messages: 'top_k' },
  frequencyPenalty: { 'chat-completions': 'frequency_penalty' },
  presencePenalty: { 'chat-completions': 'presence_penalty' },
  stopSequences: { 'chat-completions': 'stop', messages: 'stop_sequences' },
  logitBias: { 'chat-completions': 'logit_bias' },
  parallelToolCalls: openAI('parallel_tool_calls'),
  serviceTier: everywhere('service_tier'),
  promptCacheKey: openAI('prompt_cache_key'),
  promptCacheRetention: openAI('prompt_cache_retention'),
  safetyIdentifier: openAI('safety_identifier'),
  store: openAI('store'),
  // docs.ollama.com, "Chat": only Ollama's own API has them.
  num_ctx: { 'chat-completions': 'num_ctx' },
  numCtx: { 'chat-completions': 'num_ctx' },
  keep_alive: { 'chat-completions': 'keep_alive' },
  keepAlive: { 'chat-completions': 'keep_alive' },
};

/** Members of objects in options, such as `thinking.budgetTokens`. */
const MEMBERS: Readonly<Record<string, string>> = {
  budgetTokens: 'budget_tokens',
  includeThoughts: 'include_thoughts',
  thinkingBudget: 'thinking_budget',
  thinkingLevel: 'thinking_level',
};

/** Options of a provider that determine its connection, and their meaning. */
export const CONNECTION_OPTIONS: Readonly<Record<string, string>> = {
  organization: 'Header `OpenAI-Organization`.',
  project: 'Header `OpenAI-Project`.',
  authToken: 'Header `Authorization: Bearer …`.',
  queryParams: 'Parameters that are added to each address.',
  includeUsage: '`false`: `stream_options` is not sent, for servers that refuse it.',
  setCacheKey: '`true`: the chat sends the id of the conversation as `prompt_cache_key`.',
  headerTimeout: 'As `timeout`, if that is not set.',
  useDeploymentBasedUrls: 'Azure: `true` uses addresses by deployment, with the model’s id as the deployment.',
};

/** Options of other tools that Svc has no use for: their feature is always on, or depends on the catalog. */
export const UNUSED_OPTIONS: ReadonlySet<string> = new Set([
  'compatibility',
  'structuredOutputs',
  'supportsStructuredOutputs',
  'strictJsonSchema',
  'fetch',
  'generateId',
  'name',
  // Bedrock, Vertex, Kilo and LiteLLM.
  'region',
  'profile',
  'location',
  'kilocodeToken',
  'kilocodeOrganizationId',
  'litellmProxy',
]);

/** Fields of models in other tools’ files without effect here: the public catalog has them. */
export const UNUSED_MODEL_KEYS: ReadonlySet<string> = new Set([
  'experimental',
  'family',
  'interleaved',
  'knowledge',
  'last_updated',
  'open_weights',
  'release_date',
  'status',
  'structured_output',
]);

/** Top-level keys of opencode’s and Kilo’s files that are about other things than models. */
export const FOREIGN_SECTIONS: ReadonlySet<string> = new Set(
  splitWords(`
    agent attachment autoshare autoupdate command compaction default_agent enterprise experimental formatter
    instructions keybinds layout logLevel lsp mcp mode permission plugin plugins server share skills small_model snapshot
    theme tools tui username watcher
  `),
);

/**
 * Options with the names of the format's request fields. An option with the field's own name overrides one with another
 * name. Without effect in the format: it is omitted.
 */
export function requestFields(
  options: Readonly<Record<string, unknown>>,
  format: FormatName,
): Readonly<Record<string, unknown>> {
  const keys = Object.keys(options);
  if (!keys.some((key) => Object.hasOwn(FIELD_OPTIONS, key) || isPlainObject(options[key]))) return options;
  const fields: Record<string, unknown> = {};
  for (const key of keys.filter((each) => Object.hasOwn(FIELD_OPTIONS, each))) {
    const path = FIELD_OPTIONS[key]?.[format];
    if (path !== undefined) put(fields, path.split('.'), renamed(options[key]));
  }
  for (const key of keys.filter((each) => !Object.hasOwn(FIELD_OPTIONS, each))) {
    put(fields, [key], key === 'thinking' ? renamed(options[key]) : options[key]);
  }
  return fields;
}

function put(fields: Record<string, unknown>, [key = '', ...rest]: readonly string[], value: unknown): void {
  const present = fields[key];
  const inner = isPlainObject(present) ? { ...present } : {};
  if (rest.length > 0) put(inner, rest, value);
  else if (isPlainObject(value)) for (const [name, member] of Object.entries(value)) put(inner, [name], member);
  const stored = rest.length > 0 || isPlainObject(value) ? inner : value;
  // `__proto__` from a file must stay an ordinary key.
  Object.defineProperty(fields, key, { value: stored, enumerable: true, writable: true, configurable: true });
}

function renamed(value: unknown): unknown {
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [MEMBERS[key] ?? key, member]));
}

/** Not a secret, which is an object of its own class. */
function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
