import { amountOf, defined, isObject, type JsonObject, objectOrEmpty, tokenCount } from '../base/json.ts';
import type { Usage } from './event.ts';
import type { FormatName } from './format-name.ts';

/**
 * The tokens that an answer reports, read in one place for each format: the readers of `src/wire` and the gateway's
 * pass-through use the same functions, so that an answer costs the same on both ways.
 */

const READERS: Readonly<Record<FormatName, (usage: unknown) => Usage | undefined>> = {
  'chat-completions': readChatUsage,
  responses: readResponsesUsage,
  messages: readMessagesUsage,
};

/** The `usage` object of a format's answer; undefined when it reports no tokens. */
export function readReportedUsage(format: FormatName, usage: unknown): Usage | undefined {
  return READERS[format](usage);
}

export function readChatUsage(usage: unknown): Usage | undefined {
  if (!isObject(usage)) return undefined;
  const prompt = objectOrEmpty(usage.prompt_tokens_details);
  return totals(usage.prompt_tokens, usage.completion_tokens, {
    // DeepSeek's own name: prompt_cache_hit_tokens.
    cacheRead: tokenCount(prompt.cached_tokens) ?? tokenCount(usage.prompt_cache_hit_tokens),
    cacheWrite: tokenCount(prompt.cache_write_tokens),
    reasoning: tokenCount(objectOrEmpty(usage.completion_tokens_details).reasoning_tokens),
    cost: amountOf(usage.cost),
  });
}

export function readResponsesUsage(usage: unknown): Usage | undefined {
  if (!isObject(usage)) return undefined;
  const input = objectOrEmpty(usage.input_tokens_details);
  return totals(usage.input_tokens, usage.output_tokens, {
    cacheRead: tokenCount(input.cached_tokens),
    cacheWrite: tokenCount(input.cache_write_tokens),
    reasoning: tokenCount(objectOrEmpty(usage.output_tokens_details).reasoning_tokens),
    cost: amountOf(usage.cost),
  });
}

/** Anthropic's `input_tokens` does not include cached tokens; ours does. */
export function readMessagesUsage(usage: unknown): Usage | undefined {
  if (!isObject(usage)) return undefined;
  const cacheRead = tokenCount(usage.cache_read_input_tokens);
  const cacheWrite = tokenCount(usage.cache_creation_input_tokens);
  const read = totals(usage.input_tokens, usage.output_tokens, {
    cacheRead,
    cacheWrite,
    reasoning: tokenCount(objectOrEmpty(usage.output_tokens_details).thinking_tokens),
    cost: amountOf(usage.cost),
  });
  return read && { ...read, input: read.input + (cacheRead ?? 0) + (cacheWrite ?? 0) };
}

function totals(
  input: unknown,
  output: unknown,
  details: Readonly<Record<'cacheRead' | 'cacheWrite' | 'reasoning' | 'cost', number | undefined>>,
): Usage | undefined {
  const [read, written] = [tokenCount(input), tokenCount(output)];
  if (read === undefined && written === undefined) return undefined;
  return defined({ input: read ?? 0, output: written ?? 0, ...details });
}

/** The usage of a code completion: as in Chat Completions, or under the names of Ollama and llama.cpp. */
export function readFimUsage(chunk: JsonObject): Usage | undefined {
  const usage = readChatUsage(chunk.usage);
  if (usage) return usage;
  if (chunk.done !== true && chunk.stop !== true) return undefined;
  const input = tokenCount(chunk.prompt_eval_count) ?? tokenCount(chunk.tokens_evaluated);
  const output = tokenCount(chunk.eval_count) ?? tokenCount(chunk.tokens_predicted);
  return input === undefined && output === undefined ? undefined : { input: input ?? 0, output: output ?? 0 };
}

/** The `usage` object that an event of a format's stream, or a chunk of it, has. */
export function usageInEvent(format: FormatName, event: JsonObject): unknown {
  if (format === 'responses') return objectOrEmpty(event.response).usage;
  return format === 'messages' ? (objectOrEmpty(event.message).usage ?? event.usage) : event.usage;
}

/** What `readMessagesUsage` reads: nothing else of what a provider sends is kept. */
const MESSAGES_FIELDS = [
  'input_tokens',
  'output_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'output_tokens_details',
  'cost',
] as const;

/** The usage of one stream, from the `usage` objects of its events in their order. */
export class StreamUsage {
  readonly #format: FormatName;
  #fields: JsonObject = {};
  #total: Usage | undefined;

  constructor(format: FormatName) {
    this.#format = format;
  }

  /** The usage so far. */
  get total(): Usage | undefined {
    return this.#total;
  }

  /** Takes one `usage` object; undefined when it reports no tokens. */
  add(usage: unknown): Usage | undefined {
    const read = readReportedUsage(this.#format, this.#format === 'messages' ? this.#merged(usage) : usage);
    this.#total = read ?? this.#total;
    return read;
  }

  /** Messages reports the input at the start and the output at the end. A 0 that follows a count is no news. */
  #merged(usage: unknown): JsonObject | undefined {
    if (!isObject(usage)) return undefined;
    const fields: Record<string, unknown> = { ...this.#fields };
    for (const name of MESSAGES_FIELDS) {
      const value = usage[name];
      const known = isObject(value) || amountOf(value) !== undefined;
      if (known && (value !== 0 || fields[name] === undefined)) fields[name] = value;
    }
    this.#fields = fields;
    return fields;
  }
}

/** The usage of two answers together. Their `cost` is left out: only one of them may have one. */
export function addUsage(a: Usage | undefined, b: Usage): Usage {
  if (a === undefined) return b;
  const sum = (x: number | undefined, y: number | undefined) =>
    x === undefined && y === undefined ? undefined : (x ?? 0) + (y ?? 0);
  return defined({
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: sum(a.cacheRead, b.cacheRead),
    cacheWrite: sum(a.cacheWrite, b.cacheWrite),
    reasoning: sum(a.reasoning, b.reasoning),
  });
}
