import { arrayOrEmpty, type JsonObject, objectOrEmpty, omit } from '../../base/json.ts';
import type { FormatName } from '../format-name.ts';
import { ownText } from '../packed-reasoning.ts';
import { UNREADABLE_COMPACTION } from '../responses/vendor-items.ts';

/** The reasoning of a body that is forwarded in its own format: as the upstream issued it, without the mark of its issuer. */
export class OwnReasoning {
  /** An item differs from the client's. */
  changed = false;
  readonly #issuer: string | undefined;
  readonly #removed: () => void;

  constructor(issuer: string | undefined, removed: () => void) {
    this.#issuer = issuer;
    this.#removed = removed;
  }

  /** The item without foreign reasoning, or nothing if it has no other content. */
  item(format: FormatName, value: unknown): readonly unknown[] {
    const item = objectOrEmpty(value);
    switch (format) {
      case 'responses':
        if (item.type === 'compaction') return this.#compaction(value);
        return item.type === 'reasoning' ? this.#opaque(value, 'encrypted_content') : [value];
      case 'messages':
        return item.role === 'assistant' ? this.#list(value, 'content', (block) => this.#block(block)) : [value];
      case 'chat-completions':
        return item.role === 'assistant' ? this.#details(value) : [value];
    }
  }

  /** A foreign compaction becomes a message about it. */
  #compaction(value: unknown): readonly unknown[] {
    const own = this.#opaque(value, 'encrypted_content');
    const content = [{ type: 'input_text', text: UNREADABLE_COMPACTION }];
    return own.length > 0 ? own : [{ type: 'message', role: 'user', content }];
  }

  #block(value: unknown): readonly unknown[] {
    const { type } = objectOrEmpty(value);
    if (type === 'thinking') return this.#opaque(value, 'signature');
    return type === 'redacted_thinking' ? this.#opaque(value, 'data') : [value];
  }

  #details(value: unknown): readonly unknown[] {
    const kept = this.#list(value, 'reasoning_details', (detail) => {
      return this.#opaque(detail, typeof objectOrEmpty(detail).data === 'string' ? 'data' : 'signature');
    });
    return kept.length > 0 ? kept : [omit(objectOrEmpty(value), ['reasoning_details'])];
  }

  #opaque(value: unknown, field: string): readonly unknown[] {
    const holder = objectOrEmpty(value);
    const text = holder[field];
    if (typeof text !== 'string' || text === '') return [value];
    const own = ownText(text, this.#issuer);
    if (own === text) return [value];
    this.changed = true;
    if (own !== undefined) return [{ ...holder, [field]: own }];
    this.#removed();
    return [];
  }

  #list(value: unknown, field: string, map: (item: unknown) => readonly unknown[]): readonly unknown[] {
    const holder = objectOrEmpty(value);
    const list = holder[field];
    if (!Array.isArray(list)) return [value];
    const mapped = list.flatMap(map);
    if (mapped.length === list.length && mapped.every((item, index) => item === list[index])) return [value];
    return mapped.length > 0 ? [{ ...holder, [field]: mapped }] : [];
  }
}

/**
 * Turns thinking off if the last turn is within a tool loop whose thinking was removed. The API refuses it otherwise
 * ("Expected `thinking`... but found `tool_use`"), and `clear_thinking` without thinking.
 */
export function withoutLostThinking(body: JsonObject): JsonObject {
  if (objectOrEmpty(body.thinking).type === undefined) return body;
  const messages = arrayOrEmpty(body.messages).map(objectOrEmpty);
  const results = arrayOrEmpty(messages.at(-1)?.content).some((block) => objectOrEmpty(block).type === 'tool_result');
  const last = messages.findLast(({ role }) => role === 'assistant');
  const thought = arrayOrEmpty(last?.content).some((block) => /thinking$/.test(String(objectOrEmpty(block).type)));
  return results && !thought ? withoutThinking(body) : body;
}

/** Turns thinking off, and the clearing of earlier thinking, which the API accepts only together with it. */
export function withoutThinking(body: JsonObject): JsonObject {
  const edits = arrayOrEmpty(objectOrEmpty(body.context_management).edits);
  const kept = edits.filter((edit) => !String(objectOrEmpty(edit).type).startsWith('clear_thinking'));
  const off = { ...body, thinking: { type: 'disabled' } };
  if (kept.length === edits.length) return off;
  return kept.length === 0
    ? omit(off, ['context_management'])
    : { ...off, context_management: { ...objectOrEmpty(body.context_management), edits: kept } };
}
