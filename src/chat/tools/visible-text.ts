/**
 * Characters that are invisible, change the text direction or move the cursor: control and format characters, lone
 * surrogates, line and paragraph separators, and Unicode's default ignorable code points (fillers, variation selectors).
 */
const UNSEEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** Replaces each invisible character with its code point, such as `⟨U+202E⟩`. */
export function showUnseen(text: string): string {
  return text.replace(UNSEEN, (character) => `⟨${codePointName(character)}⟩`);
}

/**
 * Text that no one sees and a model reads: Unicode tags other than those of a flag, variation selectors without a base
 * or after another one, and controls of the text direction. Joiners and the selectors of emoji remain.
 */
const HIDDEN =
  /(\u{1F3F4}[\u{E0030}-\u{E0039}\u{E0061}-\u{E007A}]{1,6}\u{E007F})|[\u{E0000}-\u{E007F}\u202A-\u202E\u2066-\u2069]|(?<![^\s\p{Cc}\p{Cf}\p{Variation_Selector}])\p{Variation_Selector}/gu;

/** Marks hidden text with its code points, for everything that is sent to a model. The text does not change again. */
export function markHidden(text: string): string {
  return text.replace(HIDDEN, (found, flag) => (flag === undefined ? `⟨${codePointName(found)}⟩` : found));
}

/** Number of characters that `markHidden` marks. */
export function countHidden(text: string): number {
  let count = 0;
  for (const [, flag] of text.matchAll(HIDDEN)) if (flag === undefined) count += 1;
  return count;
}

/** Finds a control character other than line break and tab. A shell or a terminal may interpret it. */
export function findControl(command: string): string | undefined {
  const found = /(?![\n\t])\p{Cc}/u.exec(command)?.[0];
  return found === undefined ? undefined : codePointName(found);
}

function codePointName(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

/** A long text without its middle, so that its end is visible. */
export interface FoldedText {
  readonly head: string;
  /** Absent: nothing is omitted. */
  readonly rest?: { readonly lines: number; readonly characters: number; readonly tail: string };
}

/** @param rows number of visible rows of `width` characters: two thirds from the beginning, one third from the end. */
export function foldText(text: string, rows: number, width: number): FoldedText {
  const starts: number[] = [];
  let at = 0;
  for (const line of text.split('\n')) {
    for (let column = 0; column === 0 || column < line.length; column += width) starts.push(at + column);
    at += line.length + 1;
  }
  // Omitting fewer rows saves nothing, because the note about them needs a row itself.
  if (starts.length <= rows + 2) return { head: text };
  const first = Math.ceil((rows * 2) / 3);
  const from = starts[first] ?? text.length;
  const to = starts[starts.length - (rows - first)] ?? text.length;
  const hidden = text.slice(from, to);
  const lines = hidden.split('\n').length - (hidden.endsWith('\n') ? 1 : 0);
  return { head: text.slice(0, from), rest: { lines, characters: hidden.length, tail: text.slice(to) } };
}
