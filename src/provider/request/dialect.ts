import { arrayOrEmpty, isObject, type JsonObject, objectOrEmpty } from '../../base/json.ts';
import type { Model, ProviderKind } from '../../catalog/model.ts';

/** LiveConfiguration that pass Anthropic's breakpoints on in Chat Completions. */
const KEEPS_CACHE_CONTROL: ReadonlySet<ProviderKind> = new Set(['openrouter', 'svc']);
/** LiveConfiguration that refuse, or bill, what they don't know about reasoning in the history. */
const NO_REASONING_HISTORY: ReadonlySet<ProviderKind> = new Set(['openai', 'azure', 'mistral', 'inception']);
const NO_TOP_K: ReadonlySet<ProviderKind> = new Set(['openai', 'azure', 'mistral', 'inception', 'deepseek']);
/** Azure serves other vendors' models too; those know `max_tokens` only. */
const NOT_OPENAI = /mistral|ministral|codestral|llama|phi-|deepseek|cohere|command|grok|jais/i;

/** Where vendors differ within Chat Completions; bodies of the other formats pass unchanged. */
export function adaptBody(model: Model, body: Record<string, unknown>): Record<string, unknown> {
  if (model.endpoint.format !== 'chat-completions') return body;
  const { kind } = model.endpoint;
  const adapted: Record<string, unknown> = {
    ...body,
    messages: arrayOrEmpty(body.messages).map((message) => adaptMessage(kind, message)),
  };
  if (NO_TOP_K.has(kind)) delete adapted.top_k;
  if (Array.isArray(body.tools)) adapted.tools = body.tools.map((tool) => adaptTool(kind, objectOrEmpty(tool)));
  if (wantsCompletionTokens(model)) rename(adapted, 'max_tokens', 'max_completion_tokens');
  if (kind === 'mistral') adaptForMistral(adapted);
  if (kind === 'openrouter' && typeof body.reasoning_effort === 'string') {
    delete adapted.reasoning_effort;
    adapted.reasoning = { effort: body.reasoning_effort };
  }
  return adapted;
}

/**
 * OpenAI's own name for the limit. Spec ("Further client rules"): GPT-5 deployments on Azure expect it,
 * while a generic OpenAI-compatible provider is sent `max_tokens`.
 */
export function wantsCompletionTokens(model: Model): boolean {
  const { kind } = model.endpoint;
  return kind === 'openai' || (kind === 'azure' && !NOT_OPENAI.test(model.id));
}

/** docs.mistral.ai, "Chat completion": unknown fields are refused with 422. */
function adaptForMistral(body: Record<string, unknown>): void {
  delete body.stream_options;
  delete body.user;
  delete body.reasoning_effort;
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
    // DeepSeek wants its reasoning back within a tool loop and refused it elsewhere (its "Thinking mode" guide).
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
