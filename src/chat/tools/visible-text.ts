/**
 * Characters that are not seen, turn text around or move the cursor: controls, format characters, half of a surrogate
 * pair, separators of lines and paragraphs, and what Unicode says may be ignored (fillers, selectors of variants).
 */
const UNSEEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** Makes a text show all that it has: each character that is not seen is named, such as `⟨U+202E⟩`. */
export function showUnseen(text: string): string {
  return text.replace(UNSEEN, (character) => `⟨${codePointName(character)}⟩`);
}

/** The first control character other than a line break and a tab, by name. A shell or a terminal may act on it. */
export function findControl(command: string): string | undefined {
  const found = /(?![\n\t])\p{Cc}/u.exec(command)?.[0];
  return found === undefined ? undefined : codePointName(found);
}

function codePointName(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

/** A long text without its middle, so that its end is in sight. */
export interface FoldedText {
  readonly head: string;
  /** Absent: nothing is left out. */
  readonly rest?: { readonly lines: number; readonly characters: number; readonly tail: string };
}

/** @param rows of at most `width` characters that are shown: two thirds from the beginning, one from the end. */
export function foldText(text: string, rows: number, width: number): FoldedText {
  const starts: number[] = [];
  let at = 0;
  for (const line of text.split('\n')) {
    for (let column = 0; column === 0 || column < line.length; column += width) starts.push(at + column);
    at += line.length + 1;
  }
  // Fewer than these are no more than the note that says how many there are.
  if (starts.length <= rows + 2) return { head: text };
  const first = Math.ceil((rows * 2) / 3);
  const from = starts[first] ?? text.length;
  const to = starts[starts.length - (rows - first)] ?? text.length;
  const hidden = text.slice(from, to);
  const lines = hidden.split('\n').length - (hidden.endsWith('\n') ? 1 : 0);
  return { head: text.slice(0, from), rest: { lines, characters: hidden.length, tail: text.slice(to) } };
}
