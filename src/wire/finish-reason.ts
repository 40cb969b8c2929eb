import { nonEmptyString, ownEntry } from '../base/json.ts';
import { splitWords } from '../base/split-words.ts';
import { msg, type SvcError } from './errors/svc-error.ts';
import { vendorErrorValue } from './errors/vendor-errors.ts';
import type { Event, FinishReason } from './event.ts';

/** `failed`: the answer broke off at the provider. */
type Ending = Exclude<FinishReason, 'closed' | 'other'> | 'failed';

/** Maximum length of a reason that is passed to a client. */
const MAX_REASON = 64;

/**
 * The reasons that vendors document, in lower case with `_` for `-`: OpenAI, Anthropic ("Handling stop reasons"),
 * Gemini (`FinishReason` of the API reference), Mistral, DeepSeek, Z.ai ("Chat Completion": `sensitive`,
 * `model_context_window_exceeded`, `network_error`), Amazon Bedrock (`StopReason`), Cohere, Ollama, llama.cpp, vLLM and
 * Hugging Face TGI.
 */
const ENDINGS: Readonly<Record<Ending, readonly string[]>> = {
  stop: splitWords('stop end_turn stop_sequence pause_turn eos eos_token end complete completed word done finished'),
  length: splitWords(`
    length max_tokens max_output_tokens model_length max_length limit token_limit model_context_window_exceeded
    context_length_exceeded max_completion_tokens
  `),
  tool_calls: ['tool_calls', 'tool_call', 'function_call', 'tool_use'],
  content_filter: splitWords(`
    content_filter content_filtered refusal sensitive safety recitation blocklist spii prohibited_content
    image_safety image_prohibited_content image_recitation guardrail_intervened error_toxic moderation
  `),
  failed: splitWords(`
    error failed network_error insufficient_system_resource abort aborted cancelled timeout malformed_function_call
    unexpected_tool_call too_many_tool_calls missing_thought_signature malformed_response malformed_model_output
    malformed_tool_use
  `),
};

const KNOWN: Readonly<Record<string, Ending>> = Object.fromEntries(
  Object.entries(ENDINGS).flatMap(([ending, reasons]) => reasons.map((reason) => [reason, ending as Ending])),
);

function known(reason: string): Ending | undefined {
  return ownEntry(KNOWN, reason.toLowerCase().replaceAll('-', '_'));
}

/** Whether a provider's reason means that the answer broke off. */
export function isFailure(reason: string): boolean {
  return known(reason) === 'failed';
}

/** How an answer ended, before it is known whether it calls tools. */
export type Finish = Omit<Extract<Event, { type: 'finish' }>, 'type'>;

/** Reads a provider's reason. An unknown reason is `other` and kept. @returns `failed` if the answer broke off. */
export function readFinish(reason: string): Finish | 'failed' {
  const ending = known(reason);
  if (ending === undefined) return { reason: 'other', native: reason.slice(0, MAX_REASON) };
  return ending === 'failed' ? 'failed' : { reason: ending };
}

/**
 * The end of an answer. The reason must agree with its calls: an agent that is told of calls and gets none stops its
 * task or asks again without end (mastra-ai/mastra#14187, vllm-project/vllm#53255).
 *
 * @param called the answer has calls.
 * @param spoken it has other content.
 */
export function endWithCalls(finish: Finish, called: boolean, spoken: boolean): Event {
  const { reason } = finish;
  if (reason === 'stop' && called) return { type: 'finish', reason: 'tool_calls' };
  if (reason !== 'tool_calls' || called) return { type: 'finish', ...finish };
  return spoken ? { type: 'finish', reason: 'stop' } : { type: 'error', error: brokenAnswer(reason) };
}

/** The error of an answer that broke off. @param error the provider's error, if any. */
export function brokenAnswer(reason: string, error: unknown = undefined): SvcError {
  if (error !== undefined && error !== null) return vendorErrorValue(error);
  const message = msg('The provider ended the answer: {0}.', reason.slice(0, MAX_REASON));
  return vendorErrorValue({ code: 503 }).with({ message });
}

/** The reason for a client whose format has a text for it. */
export function nativeReason(native: string | undefined): string {
  return nonEmptyString(native) ?? 'other';
}
