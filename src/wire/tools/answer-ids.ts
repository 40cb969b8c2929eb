import { createHash } from 'node:crypto';
import type { Conversation } from '../conversation.ts';
import type { Event } from '../event.ts';
import { type EventMapper, type Format, withEvents } from '../format.ts';

/**
 * Reads answers whose calls have ids that the conversation does not contain. Some servers count the calls of each answer
 * (`call_0`). A client that finds calls by their ids, such as Claude Code, then keeps only the first call of an id.
 */
export function withUniqueIds(format: Format, conversation: Conversation): Format {
  return withEvents(format, () => new AnswerIds(conversation));
}

class AnswerIds implements EventMapper {
  readonly #conversation: Conversation;
  /** The ids of the conversation and of the answer so far. Read when the answer has its first call. */
  #known: Set<string> | undefined;

  constructor(conversation: Conversation) {
    this.#conversation = conversation;
  }

  map(events: readonly Event[]): readonly Event[] {
    if (!events.some((event) => event.type === 'tool-call')) return events;
    return events.map((event) => (event.type === 'tool-call' ? { ...event, id: this.#unused(event.id) } : event));
  }

  /** A new id depends only on the old one and on how often it occurred. */
  #unused(id: string): string {
    this.#known ??= callIds(this.#conversation);
    let unused = id;
    for (let count = 2; this.#known.has(unused); count += 1) {
      unused = `call_${createHash('sha256').update(`${id}#${count}`).digest('hex').slice(0, 24)}`;
    }
    this.#known.add(unused);
    return unused;
  }
}

function callIds({ turns }: Conversation): Set<string> {
  return new Set(
    turns.flatMap((turn) =>
      turn.role === 'assistant' ? turn.parts.flatMap((part) => (part.type === 'tool-call' ? [part.id] : [])) : [],
    ),
  );
}
