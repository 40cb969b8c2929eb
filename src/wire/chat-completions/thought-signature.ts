import { isObject, nonEmptyString, objectOrEmpty } from '../../base/json.ts';
import type { ReasoningPart } from '../conversation.ts';
import type { ReasoningSignature } from '../event.ts';

/*
 * Gemini's OpenAI address returns a signature of its thoughts in `extra_content.google.thought_signature` of a tool call
 * or of a message (ai.google.dev, "Thought signatures"). Within a conversation it is reasoning without a text, directly
 * before the call that it belongs to, so that clients of the other formats return it as they return any reasoning.
 */
const CALL = 'google.thought_signature';
const MESSAGE = 'google.message_thought_signature';

export type SignedPlace = 'call' | 'message';

/** The signature in a tool call, a message or a delta. */
export function readThoughtSignature(holder: unknown): string | undefined {
  const extra = objectOrEmpty(objectOrEmpty(holder).extra_content);
  return nonEmptyString(objectOrEmpty(extra.google).thought_signature);
}

export function writeThoughtSignature(signature: string): Record<string, unknown> {
  return { extra_content: { google: { thought_signature: signature } } };
}

export function sealOfThought(signature: string, place: SignedPlace): ReasoningSignature {
  const type = place === 'call' ? CALL : MESSAGE;
  return { vendor: 'chat-completions', details: [{ type, data: signature }] };
}

/** The signature in a seal that `sealOfThought` made. */
export function thoughtOfSeal(
  seal: ReasoningSignature,
): { readonly signature: string; readonly place: SignedPlace } | undefined {
  if (seal.vendor !== 'chat-completions') return undefined;
  const [detail] = seal.details;
  if (!isObject(detail) || (detail.type !== CALL && detail.type !== MESSAGE)) return undefined;
  const signature = nonEmptyString(detail.data);
  return signature === undefined ? undefined : { signature, place: detail.type === CALL ? 'call' : 'message' };
}

/** The signature of reasoning that consists of nothing else. */
export function thoughtOfPart({ text, seals }: ReasoningPart): ReturnType<typeof thoughtOfSeal> {
  return text === '' && seals.length === 1 && seals[0] !== undefined ? thoughtOfSeal(seals[0]) : undefined;
}
