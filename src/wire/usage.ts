import { defined, isObject, type JsonObject, objectOrEmpty, readAmount, tokenCount } from '../base/json.ts';
import type { Usage } from './event.ts';
import type { FormatName } from './format-name.ts';

/**
 * The token usage of an answer in each format. The readers of `src/wire` and the gateway's pass-through use the same
 * functions, so that an answer has the same cost on both paths.
 */

const READERS: Readonly<Record<FormatName, (usage: unknown) => Usage | undefined>> = {
  'chat-completions': readChatUsage,
  responses: readResponsesUsage,
  messages: readMessagesUsage,
};

/** Reads the `usage` object of a format's answer; undefined if it contains no tokens. */
export function readReportedUsage(format: FormatName, usage: unknown): Usage | undefined {
  return READERS[format](usage);
}

export function readChatUsage(usage: unknown): Usage | undefined {
  if (!isObject(usage)) return undefined;
  const prompt = objectOrEmpty(usage.prompt_tokens_details);
  return totals(usage.prompt_tokens, usage.completion_tokens, {
    // DeepSeek's field is `prompt_cache_hit_tokens`.
    cacheRead: tokenCount(prompt.cached_tokens) ?? tokenCount(usage.prompt_cache_hit_tokens),
    cacheWrite: tokenCount(prompt.cache_write_tokens),
    reasoning: tokenCount(objectOrEmpty(usage.completion_tokens_details).reasoning_tokens),
    cost: readAmount(usage.cost),
  });
}

/** The `usage` object of a Chat Completions answer. Code completions have the same. */
export function writeChatUsage(usage: Usage): Record<string, unknown> {
  return defined({
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    // OpenCode and other clients read `cached_tokens` without a check if the object exists.
    prompt_tokens_details:
      usage.cacheRead === undefined && usage.cacheWrite === undefined
        ? undefined
        : defined({ cached_tokens: usage.cacheRead ?? 0, cache_write_tokens: usage.cacheWrite }),
    completion_tokens_details: usage.reasoning === undefined ? undefined : { reasoning_tokens: usage.reasoning },
  });
}

export function readResponsesUsage(usage: unknown): Usage | undefined {
  if (!isObject(usage)) return undefined;
  const input = objectOrEmpty(usage.input_tokens_details);
  return totals(usage.input_tokens, usage.output_tokens, {
    cacheRead: tokenCount(input.cached_tokens),
    cacheWrite: tokenCount(input.cache_write_tokens),
    reasoning: tokenCount(objectOrEmpty(usage.output_tokens_details).reasoning_tokens),
    cost: readAmount(usage.cost),
  });
}

/** Anthropic's `input_tokens` does not include cached tokens; `Usage.input` does. */
export function readMessagesUsage(usage: unknown): Usage | undefined {
  if (!isObject(usage)) return undefined;
  const cacheRead = tokenCount(usage.cache_read_input_tokens);
  const cacheWrite = tokenCount(usage.cache_creation_input_tokens);
  const read = totals(usage.input_tokens, usage.output_tokens, {
    cacheRead,
    cacheWrite,
    reasoning: tokenCount(objectOrEmpty(usage.output_tokens_details).thinking_tokens),
    cost: readAmount(usage.cost),
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

/** The usage of a code completion, in the fields of Chat Completions, Ollama or llama.cpp. */
export function readFimUsage(chunk: JsonObject): Usage | undefined {
  const usage = readChatUsage(chunk.usage);
  if (usage) return usage;
  if (chunk.done !== true && chunk.stop !== true) return undefined;
  const input = tokenCount(chunk.prompt_eval_count) ?? tokenCount(chunk.tokens_evaluated);
  const output = tokenCount(chunk.eval_count) ?? tokenCount(chunk.tokens_predicted);
  return input === undefined && output === undefined ? undefined : { input: input ?? 0, output: output ?? 0 };
}

/** The `usage` object of a stream event or chunk. */
export function usageInEvent(format: FormatName, event: JsonObject): unknown {
  if (format === 'responses') return objectOrEmpty(event.response).usage;
  return format === 'messages' ? (objectOrEmpty(event.message).usage ?? event.usage) : event.usage;
}

/** The fields that `readMessagesUsage` reads. Other fields are dropped. */
const MESSAGES_FIELDS = [
  'input_tokens',
  'output_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'output_tokens_details',
  'cost',
] as const;

/** Collects the usage of one stream from the `usage` objects of its events, in order. */
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

  /** Adds one `usage` object. Returns undefined if it contains no tokens. */
  add(usage: unknown): Usage | undefined {
    const read = readReportedUsage(this.#format, this.#format === 'messages' ? this.#merged(usage) : usage);
    this.#total = read ?? this.#total;
    return read;
  }

  /**
   * Merges the usage of a Messages stream, which reports the input at the start and the output at the end. A 0 after a
   * count is ignored.
   */
  #merged(usage: unknown): JsonObject | undefined {
    if (!isObject(usage)) return undefined;
    const fields: Record<string, unknown> = { ...this.#fields };
    for (const name of MESSAGES_FIELDS) {
      const value = usage[name];
      const known = isObject(value) || readAmount(value) !== undefined;
      if (known && (value !== 0 || fields[name] === undefined)) fields[name] = value;
    }
    this.#fields = fields;
    return fields;
  }
}

/** Adds the usage of two answers. `cost` is omitted, because only one of them may have a cost. */
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
