import type { DocumentChange } from '../document/suggestion.ts';

/** Letters of scripts that are typed with an input method, and the letters of a syllable that follow them. */
const HALF_SYLLABLE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}][a-z]{1,6}$/u;
const BEYOND_ASCII = /[^\u0000-\u007f]/;

/**
 * Detects text that an input method composes. VS Code has no event for it: an input method replaces the text that was
 * just typed, again and again (`n`, `に`, `にh`, `にほ`).
 */
export class Composition {
  /** The text that was typed last: a part of a line. */
  #typed: { readonly uri: string; readonly line: number; readonly from: number; readonly to: number } | undefined;
  #replaces = false;

  changed({ uri, changes, reason }: DocumentChange): void {
    const [edit] = changes;
    const last = this.#typed;
    this.#typed = undefined;
    this.#replaces = false;
    if (edit === undefined || changes.length > 1 || reason !== undefined) return;
    const { start, end, text } = edit;
    if (start.line !== end.line || text === '' || text.includes('\n')) return;
    const continues = last !== undefined && last.uri === uri && last.line === start.line && last.to === end.character;
    const inserts = start.character === end.character;
    this.#replaces = continues && !inserts && start.character >= last.from && BEYOND_ASCII.test(text);
    const from = continues && inserts ? last.from : start.character;
    this.#typed = { uri, line: start.line, from, to: start.character + text.length };
  }

  /** Whether the text before the caret may be half of a composed character. */
  isOpen(head: string): boolean {
    return this.#replaces || (this.#typed !== undefined && HALF_SYLLABLE.test(head));
  }
}
