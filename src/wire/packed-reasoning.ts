import { createHash } from 'node:crypto';
import { defined, isObject, parseJson } from '../base/json.ts';
import type { ReasoningSignature } from './event.ts';

/*
 * Opaque reasoning for the client, in `signature` or `data` of Messages, in `encrypted_content` of Responses and in
 * `reasoning_details`. It carries its issuer, and the reasoning of one format is packed into the field of another. The
 * client returns it with the history, so that the upstream that issued it, and no other, can go on thinking.
 */

/** No vendor's signature begins like this. */
const PACKED = 'svc.reasoning.1.';
/** Before the text of the vendor: the issuer and a dot. */
const ISSUED = 'svc.by.';
const ISSUER = /^svc\.by\.([0-9a-f]{12})\./;

/** Reasoning of a Chat Completions upstream that has only a text. */
export const PLAIN_REASONING: ReasoningSignature = { vendor: 'chat-completions', details: [] };

/** The name of an issuer. It contains no credential. @param account the owner of the credential; '': the gateway. */
export function issuerName(provider: string, account: string): string {
  return createHash('sha256')
    .update(JSON.stringify([provider, account]))
    .digest('hex')
    .slice(0, 12);
}

/** An opaque text of a vendor with its issuer. */
export function markIssuer(text: string, issuer: string | undefined): string {
  return issuer === undefined ? text : `${ISSUED}${issuer}.${text}`;
}

/** The reverse of `markIssuer`. */
function readIssuer(text: string): { readonly issuer?: string; readonly text: string } {
  const issuer = ISSUER.exec(text)?.[1];
  return issuer === undefined ? { text } : { issuer, text: text.slice(ISSUED.length + issuer.length + 1) };
}

/** The opaque text for a client. @param native the vendor's text, if its format has the field that is written. */
export function sealText(seal: ReasoningSignature, native: string | undefined, issuer: string | undefined): string {
  if (native !== undefined) return markIssuer(native, issuer);
  return PACKED + Buffer.from(JSON.stringify(defined({ ...seal, issuer }))).toString('base64url');
}

/** The opaque text for a client that has the reasoning's text in another field, where a vendor needs both together. */
export function sealWithText(seal: ReasoningSignature, text: string, issuer: string | undefined): string {
  return PACKED + Buffer.from(JSON.stringify(defined({ ...seal, issuer, text }))).toString('base64url');
}

/** The text that is packed with a seal (`sealWithText`). */
export function textOfSeal(packed: string): string | undefined {
  if (!packed.startsWith(PACKED)) return undefined;
  const value = parseJson(Buffer.from(packed.slice(PACKED.length), 'base64url').toString());
  return isObject(value) && typeof value.text === 'string' ? value.text : undefined;
}

/** Reads the opaque text of a client. @param native reads a vendor's text. */
export function readSeal(text: string, native: (text: string) => ReasoningSignature): ReasoningSignature {
  const packed = unpackReasoning(text);
  if (packed !== undefined) return packed;
  const issued = readIssuer(text);
  return defined({ ...native(issued.text), issuer: issued.issuer });
}

/**
 * The text that the upstream issued, from a body that is forwarded in its own format. Undefined if another one issued it.
 *
 * @param issuer the upstream. Text without an issuer is kept.
 */
export function ownText(text: string, issuer: string | undefined): string | undefined {
  if (text.startsWith(PACKED)) return undefined;
  const issued = readIssuer(text);
  return issued.issuer === undefined || issued.issuer === issuer ? issued.text : undefined;
}

/** `undefined` if the text is not packed reasoning. */
function unpackReasoning(text: string): ReasoningSignature | undefined {
  if (!text.startsWith(PACKED)) return undefined;
  const value = parseJson(Buffer.from(text.slice(PACKED.length), 'base64url').toString());
  if (!isObject(value)) return undefined;
  const { vendor, signature, redacted, id, encrypted, details } = value;
  const by = typeof value.issuer === 'string' ? { issuer: value.issuer } : {};
  if (vendor === 'messages' && typeof signature === 'string') return { vendor, signature, ...by };
  if (vendor === 'messages' && typeof redacted === 'string') return { vendor, redacted, ...by };
  if (vendor === 'responses' && typeof id === 'string') {
    return typeof encrypted === 'string' ? { vendor, id, encrypted, ...by } : { vendor, id, ...by };
  }
  return vendor === 'chat-completions' && Array.isArray(details) ? { vendor, details, ...by } : undefined;
}
