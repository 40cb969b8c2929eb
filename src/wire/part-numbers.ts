import { defined } from '../base/json.ts';
import type { Event } from './event.ts';
import type { PartEvent } from './part-sequence.ts';

export type TextEvent = Extract<Event, { readonly type: 'text' }>;

/** Sent with a piece of text. */
export type TextData = Pick<TextEvent, 'annotations' | 'logprobs'>;

/**
 * Numbers the parts of an answer again, in the order of their first events: one part of the upstream becomes several if
 * its text also has reasoning or calls.
 */
export class PartNumbers {
  readonly #numbers = new Map<string, number>();

  /** @param kind tells the new parts of one old part apart. */
  find(old: number, kind: string): number {
    const key = `${old} ${kind}`;
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    const part = this.#numbers.size;
    this.#numbers.set(key, part);
    return part;
  }

  apply<T extends PartEvent>(event: T, kind: string): T {
    return { ...event, part: this.find(event.part, kind) };
  }
}

/** The data of text that is kept back, and of the text that follows it. */
export function joinTextData(before: TextData, more: TextData): TextData {
  return defined({
    annotations: joinLists(before.annotations, more.annotations),
    logprobs: joinLists(before.logprobs, more.logprobs),
  });
}

function joinLists<T>(before: readonly T[] | undefined, more: readonly T[] | undefined): readonly T[] | undefined {
  return before === undefined || more === undefined ? (more ?? before) : [...before, ...more];
}
