import type { Event } from './event.ts';
import { type Answer, fold } from './fold.ts';

/**
 * What a person must be told about how an answer ended (spec 7, client behaviour).
 * `incomplete`: it stopped at its limit. `reasoning-only`: the whole answer went into reasoning.
 */
export type Ending = 'complete' | 'incomplete' | 'reasoning-only' | 'filtered' | 'interrupted';

/** How an answer ended, from what it holds and why it says it stopped. */
export function endingOf(answer: Answer | Iterable<Event>): Ending {
  const whole = 'parts' in answer ? answer : fold(answer);
  if (whole.error !== undefined || whole.finish === undefined || whole.finish === 'closed') return 'interrupted';
  const said = whole.parts.some((part) => {
    return part.type === 'tool-call' || ((part.type === 'text' || part.type === 'refusal') && part.text.trim() !== '');
  });
  const reasoned = whole.parts.some((part) => part.type === 'reasoning') || (whole.usage?.reasoning ?? 0) > 0;
  if (!said && reasoned && whole.finish !== 'content_filter') return 'reasoning-only';
  if (whole.finish === 'length') return 'incomplete';
  return whole.finish === 'content_filter' ? 'filtered' : 'complete';
}

/** The warning of an ending as a sentence, `undefined` when there is nothing to warn of. */
export function endingWarning(ending: Ending): string | undefined {
  switch (ending) {
    case 'complete':
      return undefined;
    case 'incomplete':
      return 'The response may be incomplete: the model stopped at its output limit (`limit.output`).';
    case 'reasoning-only':
      return 'The model spent its whole response on reasoning. Disable reasoning or raise `limit.output`.';
    case 'filtered':
      return 'The provider’s content filter stopped the response.';
    case 'interrupted':
      return 'The response was interrupted before it was complete.';
  }
}
