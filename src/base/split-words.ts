/** The words of a text, which blanks and line ends separate. For long lists of names in the code. */
export function splitWords(text: string): readonly string[] {
  return text.split(/\s+/).filter(Boolean);
}
