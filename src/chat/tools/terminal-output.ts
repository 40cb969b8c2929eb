/** Colours and cursor movements (ECMA-48), which are of no use to a model. */
// biome-ignore lint/complexity/useRegexLiterals: a literal would contain the control characters themselves
const CONTROL = new RegExp(
  '\\u001b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\\u0007\\u001b]*(?:\\u0007|\\u001b\\\\)|[@-Z\\\\-_])|\\u0007',
  'g',
);

/** The output as visible in the terminal: only the last version of a line that was overwritten. */
export function plainOutput(raw: string): string {
  return raw
    .replace(CONTROL, '')
    .split('\n')
    .map((line) => line.trimEnd())
    .map((line) => line.slice(line.lastIndexOf('\r') + 1))
    .join('\n')
    .trimEnd();
}

/** An unfinished sequence that is longer is dropped: the rest of the output is text again. */
const MAX_SEQUENCE = 4096;

/**
 * Makes the output of a command safe for a terminal of the editor: text, line ends, tabs, backspaces, colours (SGR) and
 * erasing in the line (EL) remain. Other sequences could set the clipboard or the title, make links, move the cursor over
 * earlier output, or imitate VS Code's shell integration (ECMA-48; xterm, "Control Sequences").
 */
export class TerminalFilter {
  /** The beginning of a sequence whose rest has not arrived. */
  #open = '';

  /** @param text the next piece of the output, which may end within a sequence. */
  write(text: string): string {
    const all = this.#open + text;
    this.#open = '';
    let safe = '';
    for (let at = 0; at < all.length; ) {
      const next = readSequence(all, at);
      if (next === undefined) {
        // An escape character that begins nothing finished is left out with the text that was read for it.
        if (all.length - at <= MAX_SEQUENCE) this.#open = all.slice(at);
        else safe += this.write(all.slice(at + 2));
        break;
      }
      if (next.allowed) safe += all.slice(at, next.end);
      at = next.end;
    }
    return safe;
  }
}

/** One character or sequence. Undefined if its end has not arrived. */
function readSequence(text: string, at: number): { readonly end: number; readonly allowed: boolean } | undefined {
  const code = text.charCodeAt(at);
  if (code !== 0x1b) {
    const control = (code < 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09 && code !== 0x08) || isC1(code);
    return { end: at + 1, allowed: !control };
  }
  const kind = text[at + 1];
  if (kind === undefined) return undefined;
  if (kind === '[') return readControl(text, at + 2);
  // Operating system commands and other strings end with BEL or ST. A line break ends them too, so that they hide no text.
  if (']P^_X'.includes(kind)) return readString(text, at + 2);
  // Intermediate characters, such as in the choice of a character set.
  const intermediate = kind >= ' ' && kind <= '/';
  if (intermediate && at + 2 >= text.length) return undefined;
  return { end: at + (intermediate ? 3 : 2), allowed: false };
}

function isC1(code: number): boolean {
  return code >= 0x7f && code <= 0x9f;
}

function readControl(text: string, from: number): ReturnType<typeof readSequence> {
  let end = from;
  while (end < text.length && text.charCodeAt(end) >= 0x20 && text.charCodeAt(end) <= 0x3f) end += 1;
  const final = text[end];
  if (final === undefined) return undefined;
  // Another control character ends the sequence without an effect.
  if (final < '@' || final > '~') return { end, allowed: false };
  const plain = /^[\d;:]*$/.test(text.slice(from, end));
  return { end: end + 1, allowed: plain && (final === 'm' || final === 'K') };
}

function readString(text: string, from: number): ReturnType<typeof readSequence> {
  for (let end = from; end < text.length; end += 1) {
    const character = text[end];
    if (character === '\u0007') return { end: end + 1, allowed: false };
    if (character === '\n' || character === '\u0018' || character === '\u001a') return { end, allowed: false };
    if (character !== '\u001b') continue;
    if (end + 1 === text.length) return undefined;
    return { end: text[end + 1] === '\\' ? end + 2 : end, allowed: false };
  }
  return undefined;
}
