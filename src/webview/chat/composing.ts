/**
 * True while an input method is composing. Enter then only ends the composition (Windows reports key code 229). Used by
 * the composer and by the transcript.
 */
export function isComposing(event: KeyboardEvent): boolean {
  return event.isComposing || event.keyCode === 229;
}

/** True for Enter without Shift that does not end a composition. */
export function isSubmit(event: KeyboardEvent): boolean {
  return event.key === 'Enter' && !event.shiftKey && !event.altKey && !isComposing(event);
}
