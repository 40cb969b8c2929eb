/**
 * How an answer ended, for warnings to the user (spec 7, client behaviour). `incomplete`: the output limit was reached.
 * `reasoning-only`: the answer contains only reasoning.
 */
export type AnswerEnding = 'complete' | 'incomplete' | 'reasoning-only' | 'filtered' | 'interrupted';

/** The warning for an ending, `undefined` if there is none. */
export function endingWarning(ending: AnswerEnding): string | undefined {
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
