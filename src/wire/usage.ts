import {
  arrayOrEmpty,
  defined,
  isObject,
  type JsonObject,
  objectOrEmpty,
  readAmount,
  tokenCount,
} from '../base/json.ts';
import { readBilledExtras } from './billed-extras.ts';
import type { Usage } from './event.ts';
import type { FormatName } from './format-name.ts';

/**
 * The token usage of an answer in each format. The readers of `src/wire` and the gateway's pass-through use the same
 * functions, so that an answer has the same cost on both paths.
 */

const READERS: Readonly<Record<FormatName, (usage: unknown, answer?: JsonObject) => Usage | undefined>> = {
  'chat-completions': readChatUsage,
  responses: readResponsesUsage,
  messages: readMessagesUsage,
};

/**
 * Reads the `usage` object of a format's answer; undefined if it contains no tokens.
 *
 * @param answer the object that has the usage. It may name the service tier that was served.
 */
export function readReportedUsage(format: FormatName, usage: unknown, answer: JsonObject = {}): Usage | undefined {
  return READERS[format](usage, answer);
}

/**
 * The fields for cached tokens differ: OpenAI and OpenRouter `cached_tokens` and `cache_write_tokens` in the details,
 * DeepSeek `prompt_cache_hit_tokens`, Moonshot `cached_tokens` beside the totals, Qwen (Alibaba, "Context cache")
 * `cache_creation_input_tokens` in the details, LiteLLM ("Prompt Caching") the same beside the totals.
 */
export function readChatUsage(usage: unknown, answer: JsonObject = {}): Usage | undefined {
  if (!isObject(usage)) return undefined;
  const prompt = objectOrEmpty(usage.prompt_tokens_details);
  const completion = objectOrEmpty(usage.completion_tokens_details);
  const reasoning = tokenCount(completion.reasoning_tokens);
  return totals(usage.prompt_tokens, withReasoning(usage, usage.prompt_tokens, usage.completion_tokens, reasoning), {
    cacheRead: firstCount(prompt.cached_tokens, usage.prompt_cache_hit_tokens, usage.cached_tokens),
    ...readCacheWrites(
      firstCount(prompt.cache_write_tokens, prompt.cache_creation_input_tokens, usage.cache_creation_input_tokens),
      prompt.cache_creation,
    ),
    reasoning,
    ...readModalities(prompt, completion),
    cost: readCost(usage),
    ...readBilledExtras(usage, answer),
  });
}

/** Audio and images have prices of their own (OpenAI, "Pricing"). */
function readModalities(input: JsonObject, output: JsonObject): Modalities {
  const above0 = (count: unknown) => tokenCount(count) || undefined;
  return {
    inputAudio: above0(input.audio_tokens),
    outputAudio: above0(output.audio_tokens),
    outputImage: above0(output.image_tokens),
  };
}

type Modalities = Readonly<Record<'inputAudio' | 'outputAudio' | 'outputImage', number | undefined>>;

/** The first count above 0; 0 if all counts are 0. */
function firstCount(...values: readonly unknown[]): number | undefined {
  const counts = values.map(tokenCount).filter((count) => count !== undefined);
  return counts.find((count) => count > 0) ?? counts[0];
}

/**
 * The output with the reasoning. xAI ("Consumption and Rate Limits") counts reasoning only in `total_tokens` and in the
 * details, not in `completion_tokens`. Google ("OpenAI compatibility") counts it only in `total_tokens`, in a usage
 * that has nothing but three totals.
 */
function withReasoning(usage: JsonObject, input: unknown, output: unknown, reasoning = 0): unknown {
  const [total = 0, read = 0, written] = [tokenCount(usage.total_tokens), tokenCount(input), tokenCount(output)];
  if (written === undefined) return output;
  const unnamed = total - read - written;
  const onlyTotals = Object.keys(usage).length === 3;
  return unnamed > 0 && (unnamed === reasoning || onlyTotals) ? written + unnamed : output;
}

/** Ticks of a USD (xAI, "Cost Tracking"). */
const TICKS = 10_000_000_000;

/**
 * The cost that a vendor reports, with the fees of its tools: `cost` (OpenRouter, "Usage Accounting"), `cost.total_cost`
 * (Perplexity, BerriAI/litellm#17887) or `cost_in_usd_ticks` (xAI, "Cost Tracking"). At OpenRouter, for a key of the customer's own at the model's vendor, `cost` is only the fee,
 * and the vendor charges `upstream_inference_cost` in addition.
 */
function readCost(usage: JsonObject): number | undefined {
  const ticks = readAmount(usage.cost_in_usd_ticks);
  const cost =
    readAmount(usage.cost) ??
    readAmount(objectOrEmpty(usage.cost).total_cost) ??
    (ticks === undefined ? undefined : ticks / TICKS);
  const upstream = readAmount(objectOrEmpty(usage.cost_details).upstream_inference_cost);
  return usage.is_byok === true && upstream !== undefined ? (cost ?? 0) + upstream : cost;
}

type CacheWrites = Readonly<Record<'cacheWrite' | 'cacheWrite1h', number | undefined>>;

/** @param creation the writes by lifetime (Anthropic, "Prompt caching"). */
function readCacheWrites(written: number | undefined, creation: unknown): CacheWrites {
  const { ephemeral_5m_input_tokens: short, ephemeral_1h_input_tokens: long } = objectOrEmpty(creation);
  const hour = tokenCount(long) ?? 0;
  const total = Math.max(written ?? 0, hour + (tokenCount(short) ?? 0));
  return { cacheWrite: total > 0 ? total : written, cacheWrite1h: hour > 0 ? hour : undefined };
}

/** The writes by lifetime, if any is kept for an hour. */
export function writeCacheCreation({ cacheWrite = 0, cacheWrite1h }: Usage): Record<string, number> | undefined {
  if (cacheWrite1h === undefined) return undefined;
  return { ephemeral_5m_input_tokens: cacheWrite - cacheWrite1h, ephemeral_1h_input_tokens: cacheWrite1h };
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
        : defined({
            cached_tokens: usage.cacheRead ?? 0,
            cache_write_tokens: usage.cacheWrite,
            cache_creation: writeCacheCreation(usage),
          }),
    completion_tokens_details: usage.reasoning === undefined ? undefined : { reasoning_tokens: usage.reasoning },
  });
}

export function readResponsesUsage(usage: unknown, answer: JsonObject = {}): Usage | undefined {
  if (!isObject(usage)) return undefined;
  const input = objectOrEmpty(usage.input_tokens_details);
  const output = objectOrEmpty(usage.output_tokens_details);
  const reasoning = tokenCount(output.reasoning_tokens);
  return totals(usage.input_tokens, withReasoning(usage, usage.input_tokens, usage.output_tokens, reasoning), {
    cacheRead: tokenCount(input.cached_tokens),
    ...readCacheWrites(tokenCount(input.cache_write_tokens), input.cache_creation),
    reasoning,
    ...readModalities(input, output),
    cost: readCost(usage),
    ...readBilledExtras(usage, answer),
  });
}

/**
 * Anthropic's `input_tokens` does not include cached tokens; `Usage.input` does. The totals do not include the tokens of
 * a compaction and of an advisor either (Anthropic, "Compaction", "Advisor tool").
 */
function readMessagesUsage(usage: unknown): Usage | undefined {
  if (!isObject(usage)) return undefined;
  const read = readMessagesTotals(usage);
  if (read === undefined || !Array.isArray(usage.iterations)) return read;
  return usage.iterations.reduce((sum: Usage, value: unknown) => {
    const iteration = objectOrEmpty(value);
    const separate = iteration.type === 'compaction' || iteration.type === 'advisor_message';
    const more = separate ? readMessagesTotals(iteration) : undefined;
    return more === undefined ? sum : addUsage(sum, more);
  }, read);
}

function readMessagesTotals(usage: JsonObject): Usage | undefined {
  const cacheRead = tokenCount(usage.cache_read_input_tokens);
  const writes = readCacheWrites(tokenCount(usage.cache_creation_input_tokens), usage.cache_creation);
  const read = totals(usage.input_tokens, usage.output_tokens, {
    cacheRead,
    ...writes,
    reasoning: tokenCount(objectOrEmpty(usage.output_tokens_details).thinking_tokens),
    cost: readCost(usage),
    ...readBilledExtras(usage, {}),
  });
  return read && { ...read, input: read.input + (cacheRead ?? 0) + (writes.cacheWrite ?? 0) };
}

function totals(
  input: unknown,
  output: unknown,
  details: CacheWrites &
    Partial<Modalities> &
    Pick<Usage, 'served' | 'calls'> &
    Readonly<Record<'cacheRead' | 'reasoning' | 'cost', number | undefined>>,
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
  return format === 'messages' ? (objectOrEmpty(event.message).usage ?? event.usage) : usageInChunk(event);
}

/** The `usage` object of a chunk. Groq's streams have it in `x_groq`, Moonshot's in the choice. */
export function usageInChunk(chunk: JsonObject): unknown {
  const own = chunk.usage ?? objectOrEmpty(chunk.x_groq).usage;
  return own ?? objectOrEmpty(arrayOrEmpty(chunk.choices)[0]).usage;
}

/** The fields that `readMessagesUsage` reads. Other fields are dropped. */
const MESSAGES_FIELDS = [
  'input_tokens',
  'output_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'cache_creation',
  'iterations',
  'output_tokens_details',
  'cost',
  'cost_in_usd_ticks',
  'cost_details',
  'is_byok',
  'server_tool_use',
  'service_tier',
  'speed',
  'inference_geo',
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

  /**
   * Adds one `usage` object. Returns undefined if it contains no tokens, or only 0 after other counts.
   *
   * @param event the object that has the usage.
   */
  add(usage: unknown, event: JsonObject = {}): Usage | undefined {
    const read = readReportedUsage(this.#format, this.#format === 'messages' ? this.#merged(usage) : usage, event);
    if (read === undefined || (this.#total !== undefined && read.input === 0 && read.output === 0)) return undefined;
    this.#total = read;
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
      const known =
        typeof value === 'object'
          ? value !== null
          : typeof value === 'string' || value === true || readAmount(value) !== undefined;
      if (known && (fields[name] === undefined || !isZero(value))) fields[name] = value;
    }
    this.#fields = fields;
    return fields;
  }
}

/** Whether a value is 0, or an object or list with nothing else. */
function isZero(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return value === 0;
  return Object.values(value).every((count) => count === 0);
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
    cacheWrite1h: sum(a.cacheWrite1h, b.cacheWrite1h),
    reasoning: sum(a.reasoning, b.reasoning),
    inputAudio: sum(a.inputAudio, b.inputAudio),
    outputAudio: sum(a.outputAudio, b.outputAudio),
    outputImage: sum(a.outputImage, b.outputImage),
    served: a.served ?? b.served,
    calls: a.calls ?? b.calls,
  });
}
