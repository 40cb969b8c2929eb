import type { Writable } from 'node:stream';

/**
 * What a terminal takes for more than text: control characters but tabs and line ends, the second set of them
 * (U+0080 to U+009F), and what turns the direction of what follows (marks of Hebrew and Arabic stay).
 */
const COMMANDS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;
/** Unicode has a picture of each of the first 32. */
const PICTURES = 0x2400;

/**
 * A text as a terminal may show it. Models and providers write what they like: sequences that set the clipboard, the
 * window's title or the screen are shown as what they are.
 */
export function forTerminal(text: string): string {
  return text.replaceAll(COMMANDS, (character) => {
    if (character === '\r') return '';
    const code = character.charCodeAt(0);
    return code < 0x20 ? String.fromCharCode(PICTURES + code) : '\ufffd';
  });
}

/** Writes to a stream; to a file or a pipe every character as it is. */
export function writer(stream: Writable & { readonly isTTY?: boolean }): (text: string) => Promise<void> {
  const draw = drawer(stream);
  return (text) => draw(stream.isTTY === true ? forTerminal(text) : text);
}

/** Writes every character as it is. Resolves when they have been taken. */
export function drawer(stream: Writable): (text: string) => Promise<void> {
  return (text) =>
    new Promise((resolve, reject) => {
      stream.write(text, (error) => (error ? reject(error) : resolve()));
    });
}
