import { isObject, parseJson } from '../base/json.ts';
import type { ReasoningSignature } from './event.ts';

/*
 * Reasoning of one format in the opaque field of another: in `signature` or `data` of Messages, in `encrypted_content`
 * of Responses. The client returns it with the history, so that the upstream that issued it can go on thinking.
 */

/** No vendor's signature begins like this. */
const PREFIX = 'svc.reasoning.1.';

/** Reasoning of a Chat Completions upstream that has only a text. */
export const PLAIN_REASONING: ReasoningSignature = { vendor: 'chat-completions', details: [] };

export function packReasoning(signature: ReasoningSignature): string {
  return PREFIX + Buffer.from(JSON.stringify(signature)).toString('base64url');
}

export function isPackedReasoning(text: unknown): text is string {
  return typeof text === 'string' && text.startsWith(PREFIX);
}

/** `undefined` if the text is not packed reasoning. */
export function unpackReasoning(text: string): ReasoningSignature | undefined {
  if (!isPackedReasoning(text)) return undefined;
  const value = parseJson(Buffer.from(text.slice(PREFIX.length), 'base64url').toString());
  if (!isObject(value)) return undefined;
  const { vendor, signature, redacted, id, encrypted, details } = value;
  if (vendor === 'messages' && typeof signature === 'string') return { vendor, signature };
  if (vendor === 'messages' && typeof redacted === 'string') return { vendor, redacted };
  if (vendor === 'responses' && typeof id === 'string') {
    return typeof encrypted === 'string' ? { vendor, id, encrypted } : { vendor, id };
  }
  return vendor === 'chat-completions' && Array.isArray(details) ? { vendor, details } : undefined;
}
