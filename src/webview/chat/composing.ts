/** An input method is composing: Enter ends the composition and must not act (Windows reports 229). */
export function isComposing(event: KeyboardEvent): boolean {
  return event.isComposing || event.keyCode === 229;
}

/** Enter that acts: not a new line, not the end of a composition. */
export function isSubmit(event: KeyboardEvent): boolean {
  return event.key === 'Enter' && !event.shiftKey && !event.altKey && !isComposing(event);
}
