/**
 * What a person must be told about how an answer ended (spec 7, client behaviour).
 * `incomplete`: it stopped at its limit. `reasoning-only`: the whole answer went into reasoning.
 */
export type AnswerEnding = 'complete' | 'incomplete' | 'reasoning-only' | 'filtered' | 'interrupted';

/** The warning of an ending as a sentence, `undefined` when there is nothing to warn of. */
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
