/**
 * Removes all `last` characters from the end of the text. Linear: a pattern like `/x+$/` starts again at each `x` and
 * takes quadratic time on a long run that does not end the text.
 */
export function withoutTrailing(text: string, last: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === last) end--;
  return text.slice(0, end);
}

/** Without the mark that editors of Windows write before the first character. */
export function withoutByteOrderMark(text: string): string {
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}

/** The text up to the first of the characters, or the whole text. */
export function upToFirst(text: string, characters: readonly string[]): string {
  let end = text.length;
  for (const character of characters) {
    const at = text.indexOf(character);
    if (at >= 0 && at < end) end = at;
  }
  return text.slice(0, end);
}

/** A number of tokens as it is usually written: 131,072 is "128k", 200,000 is "200k". */
export function shortTokens(count: number): string {
  if (count >= 1_000_000) return `${Number((count / 1_000_000).toFixed(1))}M`;
  return `${Math.round(count / (count % 4096 === 0 ? 1024 : 1000))}k`;
}
