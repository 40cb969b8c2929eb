import { arrayOrEmpty, isObject, type JsonObject, objectOrEmpty } from '../../base/json.ts';
import type { Model, ProviderKind } from '../../catalog/model.ts';
import { placeSystemMessages } from './system-messages.ts';

/** Providers that forward Anthropic's cache breakpoints in Chat Completions. */
const KEEPS_CACHE_CONTROL: ReadonlySet<ProviderKind> = new Set(['openrouter', 'svc']);
/** Providers that refuse unknown reasoning fields in the history or bill them as input. */
const NO_REASONING_HISTORY: ReadonlySet<ProviderKind> = new Set(['openai', 'azure', 'mistral', 'inception']);
const NO_TOP_K: ReadonlySet<ProviderKind> = new Set(['openai', 'azure', 'mistral', 'inception', 'deepseek']);
/** Models of other vendors on Azure. They support only `max_tokens`. */
const NOT_OPENAI = /mistral|ministral|codestral|llama|phi-|deepseek|cohere|command|grok|jais/i;

/** OpenAI's fields that change nothing in the text of an answer. A client sends them to any model. */
const OPENAI_FIELDS = [
  ...['verbosity', 'prompt_cache_key', 'prompt_cache_retention', 'safety_identifier', 'service_tier'],
  ...['logprobs', 'top_logprobs'],
];
const NOT_OPENAI_KINDS: ReadonlySet<ProviderKind> = new Set(['mistral', 'inception']);
/** Hosts that refuse unknown fields (zed-industries/zed#36215: Groq, Cerebras; anomalyco/opencode#45113: NVIDIA). */
const STRICT_HOSTS = /(?:^|\.)(?:groq\.com|cerebras\.ai|nvidia\.com)$/;

function refusesOpenAIFields({ endpoint, id }: Model): boolean {
  const { kind, baseURL = '' } = endpoint;
  if (NOT_OPENAI_KINDS.has(kind) || (kind === 'azure' && NOT_OPENAI.test(id))) return true;
  return URL.canParse(baseURL) && STRICT_HOSTS.test(new URL(baseURL).hostname);
}

/** Mistral has `prompt_cache_key` too (docs.mistral.ai, "Chat completion"). */
function dropOpenAIFields(kind: ProviderKind, body: Record<string, unknown>): void {
  for (const field of OPENAI_FIELDS) {
    if (kind !== 'mistral' || field !== 'prompt_cache_key') delete body[field];
  }
}

/** Adapts a Chat Completions body to the vendor. Bodies of the other formats are not changed. */
export function adaptBody(model: Model, body: Record<string, unknown>): Record<string, unknown> {
  if (model.endpoint.format !== 'chat-completions') return body;
  const { kind } = model.endpoint;
  const adapted: Record<string, unknown> = {
    ...body,
    messages: adaptSystemMessages(model, arrayOrEmpty(body.messages)).map((message) => adaptMessage(kind, message)),
  };
  if (NO_TOP_K.has(kind)) delete adapted.top_k;
  if (Array.isArray(body.tools)) adapted.tools = body.tools.map((tool) => adaptTool(kind, objectOrEmpty(tool)));
  if (wantsCompletionTokens(model)) rename(adapted, 'max_tokens', 'max_completion_tokens');
  if (refusesOpenAIFields(model)) dropOpenAIFields(kind, adapted);
  if (kind === 'mistral') adaptForMistral(adapted);
  if (kind === 'openrouter' && typeof body.reasoning_effort === 'string') {
    delete adapted.reasoning_effort;
    adapted.reasoning = { effort: body.reasoning_effort };
  }
  return adapted;
}

/** Places system messages where the vendor's models accept them. Returns the same list if nothing changes. */
export function adaptSystemMessages(model: Model, messages: readonly unknown[]): readonly unknown[] {
  const { kind } = model.endpoint;
  // OpenAI accepts them anywhere. A gateway like this one places them itself.
  return isOpenAI(model) || kind === 'svc' ? messages : placeSystemMessages(kind, messages);
}

/**
 * Whether to use OpenAI's name of the limit. Spec ("Further client rules"): GPT-5 deployments on Azure expect it,
 * and a generic OpenAI-compatible provider expects `max_tokens`.
 */
export function wantsCompletionTokens(model: Model): boolean {
  return model.endpoint.format === 'chat-completions' && isOpenAI(model);
}

/** Whether the upstream supports what only OpenAI's models support: custom tools and a choice between some tools. */
export function isOpenAI({ endpoint, id }: Model): boolean {
  const { kind, format } = endpoint;
  return format === 'responses' || kind === 'openai' || (kind === 'azure' && !NOT_OPENAI.test(id));
}

/** docs.mistral.ai, "Chat completion": unknown fields are refused with 422. */
function adaptForMistral(body: Record<string, unknown>): void {
  delete body.stream_options;
  delete body.user;
  delete body.reasoning_effort;
  delete body.store;
  for (const [field, value] of Object.entries(body)) if (value === null) delete body[field];
  rename(body, 'max_completion_tokens', 'max_tokens');
  rename(body, 'seed', 'random_seed');
  if (body.tool_choice === 'required') body.tool_choice = 'any';
}

function rename(body: Record<string, unknown>, from: string, to: string): void {
  if (!(from in body)) return;
  body[to] ??= body[from];
  delete body[from];
}

function adaptMessage(kind: ProviderKind, value: unknown): unknown {
  if (!isObject(value)) return value;
  let message: JsonObject = value;
  const reasoned = message.reasoning_content !== undefined || message.reasoning_details !== undefined;
  if (reasoned && (NO_REASONING_HISTORY.has(kind) || (kind === 'deepseek' && message.tool_calls === undefined))) {
    // DeepSeek requires its reasoning within a tool loop and refused it elsewhere (its guide "Thinking Mode").
    const { reasoning_content: _text, reasoning_details: _details, ...rest } = message;
    message = rest;
  }
  if (!KEEPS_CACHE_CONTROL.has(kind) && Array.isArray(message.content)) {
    message = { ...message, content: message.content.map(withoutCacheControl) };
  }
  if (kind === 'mistral' && message.name !== undefined) {
    const { name: _, ...rest } = message;
    message = rest;
  }
  return message;
}

function withoutCacheControl(value: unknown): unknown {
  if (!isObject(value) || value.cache_control === undefined) return value;
  const { cache_control: _, ...rest } = value;
  return rest;
}

function adaptTool(kind: ProviderKind, tool: JsonObject): unknown {
  const kept = KEEPS_CACHE_CONTROL.has(kind) ? tool : objectOrEmpty(withoutCacheControl(tool));
  if (kind !== 'mistral' || !isObject(kept.function)) return kept;
  const { strict: _, ...definition } = kept.function;
  return { ...kept, function: definition };
}
