/** The words of a text: what stands between blanks and line ends. For long lists of names in the code. */
export function splitWords(text: string): readonly string[] {
  return text.split(/\s+/).filter(Boolean);
}
