import { isObject, parseJson } from '../../base/json.ts';

/** The only argument of a function that replaces a custom tool. */
export const INPUT_ARGUMENT = 'input';

const OPENING = /^\s{0,100}\{\s{0,100}"input"\s{0,100}:\s{0,100}"/;
/** A text of this length that does not match `OPENING` is something else. */
const MAX_OPENING = 500;

/**
 * Reads the text of a custom tool from the arguments of its function, `{"input":"…"}`, as they arrive. Arguments of
 * another form are kept to the end, and then used as they are.
 */
export class CustomToolInput {
  /** The arguments before the text. `undefined` once the text has begun. */
  #head: string | undefined = '';
  /** An incomplete escape sequence or half of a surrogate pair. */
  #pending = '';
  #ended = false;

  /** The next piece of the text. */
  push(json: string): string {
    if (this.#ended) return '';
    if (this.#head === undefined) return this.#read(json);
    const before = this.#head.length;
    this.#head += json;
    if (before > MAX_OPENING) return '';
    const opening = OPENING.exec(this.#head)?.[0];
    if (opening === undefined) return '';
    const rest = this.#head.slice(opening.length);
    this.#head = undefined;
    return this.#read(rest);
  }

  /** The rest of the text, at the end of the arguments. */
  end(): string {
    const held = this.#head ?? '';
    if (this.#ended || held.trim() === '') return '';
    this.#ended = true;
    const value = parseJson(held);
    if (typeof value === 'string') return value;
    if (!isObject(value)) return held;
    const texts = Object.values(value);
    const [only] = texts;
    if (Object.hasOwn(value, INPUT_ARGUMENT) && typeof value[INPUT_ARGUMENT] === 'string') return value[INPUT_ARGUMENT];
    if (texts.length === 0) return '';
    return texts.length === 1 && typeof only === 'string' ? only : held;
  }

  #read(json: string): string {
    const text = this.#pending + json;
    const { length, ended } = completeLength(text);
    this.#ended = ended;
    this.#pending = ended ? '' : text.slice(length);
    return decode(text.slice(0, length));
  }
}

/** The length of the text up to its closing quote, or up to an incomplete character. */
function completeLength(text: string): { readonly length: number; readonly ended: boolean } {
  let at = 0;
  while (at < text.length) {
    if (text[at] === '"') return { length: at, ended: true };
    const size = characterSize(text, at);
    if (at + size > text.length) break;
    at += size;
  }
  return { length: at, ended: false };
}

/** The length of a character in JSON text. A surrogate pair may be two escape sequences. */
function characterSize(text: string, at: number): number {
  const size = text[at] !== '\\' ? 1 : text[at + 1] === 'u' ? 6 : 2;
  const code = size === 6 ? Number.parseInt(text.slice(at + 2, at + 6), 16) : text.charCodeAt(at);
  const isHigh = size !== 2 && code >= 0xd800 && code < 0xdc00;
  if (!isHigh) return size;
  const next = text[at + size];
  return size + (next === '\\' ? 6 : next === undefined || next !== '"' ? 1 : 0);
}

/** Some models write line breaks and tabs that are not escaped. */
function decode(text: string): string {
  const escaped = text.replace(/[\u0000-\u001f]/g, (character) => JSON.stringify(character).slice(1, -1));
  const value = parseJson(`"${escaped}"`);
  return typeof value === 'string' ? value : text;
}
