import { guardFocus } from '../shared/focus-guard.ts';

const input = () => document.querySelector<HTMLElement>('.composer textarea');
/** The field to which letters belong that are typed outside of one. */
const fieldFor = (target: EventTarget | null) =>
  (target instanceof Element && target.closest('.find')?.querySelector('input')) || input();

/**
 * Keys of a message reach the input of messages, wherever the focus is: text that is typed while a button, a card or
 * nothing has it, and all keys after the control with the focus was removed or disabled.
 */
export function guardMessageKeys(): void {
  document.addEventListener(
    'keydown',
    (event) => isTyped(event) && !isField(event.target) && fieldFor(event.target)?.focus(),
    true,
  );
  guardFocus(input);
}

/** A space presses a button, or scrolls. */
function isTyped({ key, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  return key.length === 1 && key !== ' ' && !ctrlKey && !metaKey && !altKey;
}

/** A field has its own keys. */
export function isField(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('input, textarea, select') !== null;
}
