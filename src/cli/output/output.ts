import type { Writable } from 'node:stream';
import { defined } from '../../base/json.ts';
import type { Usage } from '../../wire/event.ts';

/**
 * Characters that a terminal interprets: control characters except tabs and line ends, the C1 controls (U+0080 to
 * U+009F), and characters that change the direction of the following text. Marks of Hebrew and Arabic are not included.
 */
const COMMANDS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;
/** `COMMANDS`, all other control characters, and the line and paragraph separators. */
const LINE_COMMANDS = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;
/** First of the Unicode pictures for the 32 C0 control characters. */
const PICTURES = 0x2400;

/**
 * Makes text safe for a terminal. Text from models and providers is untrusted: sequences that set the clipboard, the
 * window title or the screen are printed as visible characters.
 */
export function forTerminal(text: string): string {
  return text.replaceAll(COMMANDS, (character) => (character === '\r' ? '' : picture(character)));
}

/**
 * Makes text safe for one line of output: a line break in it is printed as a visible character too. For ids, keys and
 * messages from files and servers, also in files and pipes, because programs read this output line by line.
 */
export function forTerminalLine(text: string): string {
  return text.replaceAll(LINE_COMMANDS, picture);
}

/** The visible character for a control character. */
function picture(character: string): string {
  const code = character.charCodeAt(0);
  return code < 0x20 ? String.fromCharCode(PICTURES + code) : '\ufffd';
}

/** Writes to a stream. Files and pipes get the text unchanged. */
export function writer(stream: Writable & { readonly isTTY?: boolean }): (text: string) => Promise<void> {
  const draw = drawer(stream);
  return (text) => draw(stream.isTTY === true ? forTerminal(text) : text);
}

/** Whether a stream shows colours and bold text. Users turn them off with NO_COLOR (no-color.org). */
export function showsStyles(
  stream: { readonly isTTY?: boolean },
  { NO_COLOR, TERM }: Readonly<Record<string, string | undefined>>,
): boolean {
  return stream.isTTY === true && !NO_COLOR && TERM !== 'dumb';
}

/** Writes the text unchanged. Resolves when the stream has accepted it. */
export function drawer(stream: Writable): (text: string) => Promise<void> {
  return (text) =>
    new Promise((resolve, reject) => {
      stream.write(text, (error) => (error ? reject(error) : resolve()));
    });
}

/** The tokens of an answer for JSON output. Unknown values are omitted. */
export function usageJson({ input, output, cacheRead, cacheWrite, cacheWrite1h, reasoning }: Usage) {
  return {
    input,
    output,
    ...defined({ cache_read: cacheRead, cache_write: cacheWrite, cache_write_1h: cacheWrite1h, reasoning }),
  };
}
