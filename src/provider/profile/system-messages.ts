import { append, type JsonObject, objectOrEmpty } from '../../base/json.ts';
import type { Rules } from './rules.ts';

/** A message and the contents that are joined to it. */
interface Draft {
  readonly message: JsonObject;
  readonly contents: unknown[];
}

/**
 * Leaves one system message at the start. A later one becomes user text in its place, so that a cached prompt stays
 * valid: the chat templates of Qwen, Gemma and Llama refuse it. Mistral refuses a user message after a tool result
 * ("Unexpected role 'user' after role 'tool'"), so such a text is moved to the system message.
 *
 * @returns the same list if nothing changes.
 */
export function placeSystemMessages(place: Rules['systemMessages'], messages: readonly unknown[]): readonly unknown[] {
  if (place === 'anywhere') return messages;
  if (!messages.some((message, index) => isSystem(message, index === 0))) return messages;
  const system: unknown[] = [];
  const drafts: Draft[] = [];
  /** System texts that wait for the end of the tool results. */
  let waiting: unknown[] = [];
  const placeWaiting = (): void => {
    if (waiting.length === 0) return;
    if (place === 'first-not-after-results' && drafts.at(-1)?.message.role === 'tool') append(system, waiting);
    else drafts.push({ message: { role: 'user' }, contents: waiting });
    waiting = [];
  };
  for (const value of messages) {
    const message = objectOrEmpty(value);
    const last = drafts.at(-1);
    if (!isSystem(message, false)) {
      if (message.role === 'user' && waiting.length > 0) {
        drafts.push({ message, contents: [...waiting, message.content] });
        waiting = [];
        continue;
      }
      if (message.role !== 'tool') placeWaiting();
      drafts.push({ message, contents: [message.content] });
    } else if (last === undefined) system.push(message.content);
    else if (last.message.role === 'user') last.contents.push(message.content);
    else waiting.push(message.content);
  }
  placeWaiting();
  const first = system.length > 0 ? [{ role: 'system', content: joinContents(system) }] : [];
  return [...first, ...drafts.map(writeDraft)];
}

/** @param first the message is the first one, which may be a system message. */
function isSystem(value: unknown, first: boolean): boolean {
  const { role } = objectOrEmpty(value);
  return role === 'developer' || (role === 'system' && !first);
}

function writeDraft({ message, contents }: Draft): JsonObject {
  return contents.length === 1 && 'content' in message ? message : { ...message, content: joinContents(contents) };
}

/** Texts are joined by a blank line. Lists of parts become one list. */
export function joinContents(contents: readonly unknown[]): unknown {
  const present = contents.filter((content) => content !== undefined && content !== null && content !== '');
  if (present.every((content) => typeof content === 'string')) return present.join('\n\n');
  return present.flatMap((content) => (Array.isArray(content) ? content : [{ type: 'text', text: content }]));
}
