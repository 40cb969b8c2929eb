import { defined, finiteNumber, isObject, type JsonObject, nonEmptyString, objectOrEmpty } from '../../base/json.ts';
import type { ReasoningPart } from '../conversation.ts';
import type { ReasoningSignature } from '../event.ts';
import { markIssuer, readSeal, sealWithText, textOfSeal } from '../packed-reasoning.ts';

/**
 * `reasoning_details` contains the data that Chat Completions vendors need to replay reasoning. It uses OpenRouter's
 * names for the signatures of other vendors ("reasoning tokens": `reasoning.text` with `signature`,
 * `reasoning.encrypted` with `data`, distinguished by `format`), so that a Chat Completions client can return an
 * Anthropic signature or OpenAI's encrypted reasoning.
 */
const MESSAGES_FORMAT = 'anthropic-claude-v1';
const RESPONSES_FORMAT = 'openai-responses-v1';

function writeReasoningDetail(seal: ReasoningSignature, text: string, issuer?: string): readonly unknown[] {
  const by = (opaque: string | undefined) => (opaque === undefined ? undefined : markIssuer(opaque, issuer));
  if (seal.vendor === 'chat-completions') return seal.details;
  if (seal.vendor === 'responses') {
    return [defined({ type: 'reasoning.encrypted', id: seal.id, data: by(seal.encrypted), format: RESPONSES_FORMAT })];
  }
  return 'redacted' in seal
    ? [{ type: 'reasoning.encrypted', data: by(seal.redacted), format: MESSAGES_FORMAT }]
    : [{ type: 'reasoning.text', text, signature: by(seal.signature), format: MESSAGES_FORMAT }];
}

/**
 * A detail for a client. It does not repeat the text of `reasoning_content`, because some clients join the two and show
 * it twice. A signature of Messages is only valid with its text, so both are packed.
 */
export function writeClientDetail(seal: ReasoningSignature, text: string, issuer?: string): readonly unknown[] {
  if (seal.vendor !== 'messages' || 'redacted' in seal) return writeReasoningDetail(seal, text, issuer);
  return [{ type: 'reasoning.encrypted', data: sealWithText(seal, text, issuer), format: MESSAGES_FORMAT }];
}

/** Writes the text only with the first signature of a part: a provider may send any number of signatures. */
export function writeReasoningDetails(
  parts: readonly ReasoningPart[],
  issuer?: string,
  write: typeof writeReasoningDetail = writeReasoningDetail,
): unknown[] {
  return parts.flatMap((part) =>
    part.seals.flatMap((seal, index) => write(seal, index === 0 ? part.text : '', issuer)),
  );
}

/** Reads the reasoning of a Chat Completions message. `text` is its `reasoning_content`. */
export function readReasoningDetails(details: readonly unknown[], text: string | undefined): ReasoningPart[] {
  const foreign = details.map(foreignSeal);
  if (foreign.some((seal) => seal === undefined)) {
    return [
      {
        type: 'reasoning',
        text: text ?? reasoningDetailsText(details),
        seals: [{ vendor: 'chat-completions', details }],
      },
    ];
  }
  const parts = details.flatMap((detail, index): ReasoningPart[] => {
    const seal = foreign[index];
    return seal ? [{ type: 'reasoning', text: detailText(objectOrEmpty(detail)), seals: [seal] }] : [];
  });
  // Encrypted reasoning of Responses has its text in a separate field.
  const first = parts[0];
  if (first && text !== undefined && parts.every((part) => part.text === '')) parts[0] = { ...first, text };
  return parts;
}

function foreignSeal(value: unknown): ReasoningSignature | undefined {
  const detail = objectOrEmpty(value);
  const data = nonEmptyString(detail.data);
  if (detail.format === RESPONSES_FORMAT && nonEmptyString(detail.id) !== undefined) {
    const id = String(detail.id);
    if (data === undefined) return { vendor: 'responses', id };
    return readSeal(data, (encrypted) => ({ vendor: 'responses', id, encrypted }));
  }
  if (detail.format !== MESSAGES_FORMAT) return undefined;
  if (detail.type === 'reasoning.encrypted' && data !== undefined) {
    return readSeal(data, (redacted) => ({ vendor: 'messages', redacted }));
  }
  const signature = nonEmptyString(detail.signature);
  return signature === undefined ? undefined : readSeal(signature, (text) => ({ vendor: 'messages', signature: text }));
}

/** The plain text of a list of details. */
export function reasoningDetailsText(details: readonly unknown[]): string {
  return details.map((detail) => detailText(objectOrEmpty(detail))).join('');
}

function detailText(detail: JsonObject): string {
  const packed = typeof detail.data === 'string' ? textOfSeal(detail.data) : undefined;
  if (packed !== undefined) return packed;
  return nonEmptyString(detail.text) ?? nonEmptyString(detail.summary) ?? '';
}

type Detail = Record<string, unknown>;

/** Joins the details of a stream from their fragments. Fragments with the same `type` and `index` are one detail. */
export class ReasoningDetails {
  #details: Detail[] = [];
  /** By index, then by type. */
  #known = new Map<number, Map<unknown, Detail>>();

  add(fragments: readonly unknown[]): void {
    for (const fragment of fragments) if (isObject(fragment)) this.#add(fragment);
  }

  /** Returns and removes the details since the last call. */
  take(): readonly unknown[] {
    const details = this.#details;
    if (details.length === 0) return details;
    this.#details = [];
    this.#known = new Map();
    return details;
  }

  #add(fragment: JsonObject): void {
    const index = finiteNumber(fragment.index);
    const byType = index === undefined ? undefined : (this.#known.get(index) ?? new Map<unknown, Detail>());
    const present = byType?.get(fragment.type);
    if (present !== undefined) return extend(present, fragment);
    const detail = { ...fragment };
    this.#details.push(detail);
    if (index === undefined || byType === undefined) return;
    byType.set(fragment.type, detail);
    this.#known.set(index, byType);
  }
}

/** Text and data are appended; other members are replaced. */
function extend(detail: Detail, fragment: JsonObject): void {
  for (const [key, value] of Object.entries(fragment)) {
    const before = detail[key];
    const grows = key === 'text' || key === 'summary' || key === 'data';
    if (grows && typeof before === 'string' && typeof value === 'string') detail[key] = before + value;
    else if (value !== null && value !== undefined) detail[key] = value;
  }
}
