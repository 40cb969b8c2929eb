import type { DocumentChange } from '../document/suggestion.ts';

/** Text of scripts that are typed with an input method, and the letters of a syllable that follow it. */
const HALF_SYLLABLE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3001-\u303f\uff01-\uff60][a-z]{1,6}$/u;
/** A letter with which a composition starts: kana, Bopomofo, a Korean letter without a syllable, a full-width letter. */
const FIRST_LETTER = /^[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}\u3131-\u318e\uff41-\uff5a]$/u;
const BEYOND_ASCII = /[^\u0000-\u007f]/;

/**
 * Detects text that an input method composes. VS Code has no event for it: an input method replaces the text that was
 * just typed, again and again (`n`, `に`, `にh`, `にほ`). The first letter is known if only an input method makes it, or
 * if it follows such text. A Latin letter after other text may be code (microsoft/vscode#235707).
 */
export class Composition {
  /** The text that was typed last: a part of a line. */
  #typed: { readonly uri: string; readonly line: number; readonly from: number; readonly to: number } | undefined;
  #replaces = false;
  #begins = false;

  changed({ uri, changes, reason }: DocumentChange): void {
    const [edit] = changes;
    const last = this.#typed;
    this.#typed = undefined;
    this.#replaces = false;
    this.#begins = false;
    if (edit === undefined || changes.length > 1 || reason !== undefined) return;
    const { start, end, text } = edit;
    if (start.line !== end.line || text === '' || text.includes('\n')) return;
    const continues = last !== undefined && last.uri === uri && last.line === start.line && last.to === end.character;
    const inserts = start.character === end.character;
    this.#replaces = continues && !inserts && start.character >= last.from && BEYOND_ASCII.test(text);
    this.#begins = inserts && FIRST_LETTER.test(text);
    const from = continues && inserts ? last.from : start.character;
    this.#typed = { uri, line: start.line, from, to: start.character + text.length };
  }

  /** Whether the text before the caret may be half of a composed character. */
  isOpen(head: string): boolean {
    return this.#replaces || this.#begins || (this.#typed !== undefined && HALF_SYLLABLE.test(head));
  }
}
