import type { ReasoningPart } from './conversation.ts';
import type { ReasoningSeal } from './event.ts';
import { defined, isObject, type JsonObject, numberOf, objectOf, textOf } from './json.ts';

/**
 * `reasoning_details`, the list in which Chat Completions vendors carry what reasoning needs to be
 * replayed. OpenRouter's names for the other vendors' seals are used (its "reasoning tokens" page:
 * `reasoning.text` with `signature`, `reasoning.encrypted` with `data`, told apart by `format`), so
 * that a Chat Completions client can carry an Anthropic signature or OpenAI's sealed reasoning.
 */
const MESSAGES_FORMAT = 'anthropic-claude-v1';
const RESPONSES_FORMAT = 'openai-responses-v1';

export function detailOfSeal(seal: ReasoningSeal, text: string): readonly unknown[] {
  if (seal.vendor === 'chat-completions') return seal.details;
  if (seal.vendor === 'responses') {
    return [defined({ type: 'reasoning.encrypted', id: seal.id, data: seal.encrypted, format: RESPONSES_FORMAT })];
  }
  return 'redacted' in seal
    ? [{ type: 'reasoning.encrypted', data: seal.redacted, format: MESSAGES_FORMAT }]
    : [{ type: 'reasoning.text', text, signature: seal.signature, format: MESSAGES_FORMAT }];
}

export function detailsOfSeals(parts: readonly ReasoningPart[]): unknown[] {
  return parts.flatMap((part) => part.seals.flatMap((seal) => detailOfSeal(seal, part.text)));
}

/** Reasoning of a Chat Completions message; `text` is its `reasoning_content`. */
export function sealsOfDetails(details: readonly unknown[], text: string | undefined): ReasoningPart[] {
  const foreign = details.map(foreignSeal);
  if (foreign.some((seal) => seal === undefined)) {
    return [
      { type: 'reasoning', text: text ?? textOfDetails(details), seals: [{ vendor: 'chat-completions', details }] },
    ];
  }
  const parts = details.flatMap((detail, index): ReasoningPart[] => {
    const seal = foreign[index];
    return seal ? [{ type: 'reasoning', text: detailText(objectOf(detail)), seals: [seal] }] : [];
  });
  // Sealed reasoning of Responses has its text beside the seal.
  const first = parts[0];
  if (first && text !== undefined && parts.every((part) => part.text === '')) parts[0] = { ...first, text };
  return parts;
}

function foreignSeal(value: unknown): ReasoningSeal | undefined {
  const detail = objectOf(value);
  const data = textOf(detail.data);
  if (detail.format === RESPONSES_FORMAT && textOf(detail.id) !== undefined) {
    return defined({ vendor: 'responses' as const, id: String(detail.id), encrypted: data });
  }
  if (detail.format !== MESSAGES_FORMAT) return undefined;
  if (detail.type === 'reasoning.encrypted' && data !== undefined) return { vendor: 'messages', redacted: data };
  const signature = textOf(detail.signature);
  return signature === undefined ? undefined : { vendor: 'messages', signature };
}

/** The readable text of a list of details. */
export function textOfDetails(details: readonly unknown[]): string {
  return details.map((detail) => detailText(objectOf(detail))).join('');
}

function detailText(detail: JsonObject): string {
  return textOf(detail.text) ?? textOf(detail.summary) ?? '';
}

/**
 * Joins the fragments that a stream sends: same `type` and `index` are one detail, text and data
 * appended. The list given is changed.
 */
export function addDetails(collected: Record<string, unknown>[], fragments: readonly unknown[]): void {
  for (const fragment of fragments) {
    if (!isObject(fragment)) continue;
    const index = numberOf(fragment.index);
    const present =
      index === undefined
        ? undefined
        : collected.find((detail) => detail.index === index && detail.type === fragment.type);
    if (!present) {
      collected.push({ ...fragment });
      continue;
    }
    for (const [key, value] of Object.entries(fragment)) {
      const before = present[key];
      const grows = key === 'text' || key === 'summary' || key === 'data';
      if (grows && typeof before === 'string' && typeof value === 'string') present[key] = before + value;
      else if (value !== null && value !== undefined) present[key] = value;
    }
  }
}
