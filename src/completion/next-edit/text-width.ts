/** Characters that take two columns in a monospaced font. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\p{Emoji_Presentation}]/u;

/** The columns that a line takes on screen. */
export function displayWidth(text: string, tabSize: number): number {
  let width = 0;
  for (const character of text) {
    if (character === '\t') width += tabSize - (width % tabSize);
    else width += WIDE.test(character) ? 2 : 1;
  }
  return width;
}
