/**
 * How many output tokens a server would have accepted, by the words of its refusal. Undefined if the refusal is about
 * something else, or names no number.
 *
 * Sources: OpenAI and vLLM "max_tokens is too large: 32000. This model supports at most 16384 completion tokens", vLLM
 * "maximum context length is 8192 tokens and your request has 25 input tokens", OpenAI "maximum context length is 8192
 * tokens. However, you requested 32025 tokens (25 in the messages, 32000 in the completion)", Anthropic "max_tokens: 32000
 * > 8192, which is the maximum allowed", DeepSeek "the valid range of max_tokens is [1, 8192]", Groq "max_tokens must be
 * less than or equal to 8192".
 */
export function acceptedOutput(refusal: string, requested: number): number | undefined {
  const text = refusal.slice(0, MAX_TEXT).replaceAll(/[`'",]/g, '');
  const direct = firstNumber(text, DIRECT);
  if (direct !== undefined) return below(direct, requested);
  const window = firstNumber(text, [/maximum context length is (\d{1,9})/i]);
  const prompt = firstNumber(text, [
    /(\d{1,9}) in the messages/i,
    /(?:request|prompt) has (\d{1,9}) (?:input|prompt)/i,
    /contains (?:at least )?(\d{1,9}) input tokens/i,
  ]);
  return window === undefined || prompt === undefined ? undefined : below(window - prompt, requested);
}

const MAX_TEXT = 4_000;

const DIRECT: readonly RegExp[] = [
  /max_(?:completion_|output_)?tokens\b.{0,60}?supports at most (\d{1,9})/is,
  /max_(?:completion_|output_)?tokens: \d{1,9} > (\d{1,9})/i,
  /range of max_(?:completion_|output_)?tokens is \[\d{1,9} ?(\d{1,9})\]/i,
  /max_(?:completion_|output_)?tokens must be (?:less than or equal to|at most|<=) (\d{1,9})/i,
];

function firstNumber(text: string, patterns: readonly RegExp[]): number | undefined {
  for (const pattern of patterns) {
    const [, found] = pattern.exec(text) ?? [];
    if (found !== undefined) return Number(found);
  }
  return undefined;
}

function below(accepted: number, requested: number): number | undefined {
  return accepted > 0 && accepted < requested ? accepted : undefined;
}
