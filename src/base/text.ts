/**
 * Removes all `last` characters from the end of the text. Linear: a pattern like `/x+$/` starts again at each `x` and
 * takes quadratic time on a long run that does not end the text.
 */
export function withoutTrailing(text: string, last: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === last) end--;
  return text.slice(0, end);
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
