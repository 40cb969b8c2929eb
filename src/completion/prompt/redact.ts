import { findKeyParts } from './private-keys.ts';
import {
  BLOCKS,
  isExpression,
  isPlaceholder,
  MIN_TOKEN,
  NAMED,
  NAMING_LINE,
  SEPARATORS,
  SHAPES,
} from './secret-patterns.ts';

/**
 * Secrets in a prompt are replaced with stand-ins of the same length and restored in the answer.
 * They are detected by shape and by randomness.
 */
export interface Redacted {
  readonly text: string;
  /** Stand-in -> the secret it replaces. */
  readonly secrets: ReadonlyMap<string, string>;
}

const WORD = /[A-Za-z0-9+/_=-]{24,}/g;
/** Bits per character above which a word of letters and digits is not a name. Base64 has 6, English about 4. */
const RANDOM_BITS = 4.2;
/** Contains no digits, so that a stand-in is not detected as a secret again. */
const PLACEHOLDER = 'qxzjkvwyQXZJKVWY';
/** A public digest in a lock file or a page (Subresource Integrity). */
const INTEGRITY = /^sha(?:256|384|512)-/;
const RANDOM_HEX = /^[0-9a-f]{32,}$/i;

/** Masks a text. Pass the `secrets` of an earlier text to keep its stand-ins. */
export function redact(text: string, secrets: Map<string, string> = new Map()): Redacted {
  const spans = secretSpans(text);
  if (spans.length === 0) return { text, secrets };
  const placeholderBySecret = new Map([...secrets].map(([placeholder, secret]) => [secret, placeholder]));
  let out = '';
  let at = 0;
  for (const [start, end] of spans) {
    const secret = text.slice(start, end);
    let placeholder = placeholderBySecret.get(secret);
    if (placeholder === undefined) {
      placeholder = createPlaceholder(secret, secrets, text);
      secrets.set(placeholder, secret);
      placeholderBySecret.set(secret, placeholder);
    }
    out += text.slice(at, start) + placeholder;
    at = end;
  }
  return { text: out + text.slice(at), secrets };
}

/** True if `offset` is inside a secret: sending would split the secret or ask the model to complete it. */
export function insideSecret(text: string, offset: number): boolean {
  return secretSpans(text).some(([start, end]) => start < offset && offset < end);
}

/**
 * Restores secrets in text that arrives in pieces. Text that may be the start of a stand-in waits
 * for the next piece.
 */
export class SecretRestorer {
  readonly #secrets: ReadonlyMap<string, string>;
  #held = '';

  constructor(secrets: ReadonlyMap<string, string>) {
    this.#secrets = secrets;
  }

  push(piece: string): string {
    if (this.#secrets.size === 0) return piece;
    let text = this.#held + piece;
    for (const [placeholder, secret] of this.#secrets) text = text.replaceAll(placeholder, () => secret);
    const keep = this.#longestStart(text);
    this.#held = text.slice(text.length - keep);
    return text.slice(0, text.length - keep);
  }

  end(): string {
    const held = this.#held;
    this.#held = '';
    return held;
  }

  #longestStart(text: string): number {
    let keep = 0;
    for (const placeholder of this.#secrets.keys()) {
      for (let length = Math.min(placeholder.length - 1, text.length); length > keep; length--) {
        if (text.endsWith(placeholder.slice(0, length))) keep = length;
      }
    }
    return keep;
  }
}

/** The ranges of the secrets, in order and without overlaps. */
function secretSpans(text: string): [number, number][] {
  const spans = findKeyParts(text);
  for (const block of BLOCKS) for (const match of text.matchAll(block)) spans.push(secretSpan(match, 0));
  for (const [start, run] of longRuns(text)) {
    for (const shape of SHAPES) for (const match of run.matchAll(shape)) spans.push(secretSpan(match, start));
    for (const match of run.matchAll(WORD))
      if (isRandom(match[0])) spans.push(createSpan(start + match.index, match[0]));
  }
  for (const [start, line] of splitLines(text)) if (NAMING_LINE.test(line)) spans.push(...namedSecrets(line, start));
  spans.sort((a, b) => a[0] - b[0] || b[1] - a[1]);
  const apart: [number, number][] = [];
  for (const span of spans) {
    const last = apart.at(-1);
    if (last !== undefined && span[0] < last[1]) last[1] = Math.max(last[1], span[1]);
    else apart.push([span[0], span[1]]);
  }
  return apart;
}

const IS_SEPARATOR: readonly boolean[] = Array.from({ length: 128 }, (_, code) =>
  SEPARATORS.includes(String.fromCharCode(code)),
);

/**
 * Each run without separators that is long enough for a token, with its offset. Skipping short words saves time,
 * because a pattern with `{14,}` would be tried at each of their characters.
 */
function* longRuns(text: string): Generator<readonly [number, string]> {
  let start = 0;
  for (let at = 0; at <= text.length; at++) {
    if (at < text.length && IS_SEPARATOR[text.charCodeAt(at)] !== true) continue;
    if (at - start >= MIN_TOKEN) yield [start, text.slice(start, at)];
    start = at + 1;
  }
}

/** Each line with the offset at which it starts. */
function* splitLines(text: string): Generator<readonly [number, string]> {
  for (let start = 0; start <= text.length; ) {
    const end = text.indexOf('\n', start);
    yield [start, end < 0 ? text.slice(start) : text.slice(start, end)];
    if (end < 0) return;
    start = end + 1;
  }
}

function namedSecrets(line: string, start: number): readonly [number, number][] {
  const spans: [number, number][] = [];
  for (const pattern of NAMED) {
    for (const match of line.matchAll(pattern)) {
      const secret = match.groups?.secret ?? match[0];
      const at = match.index + match[0].lastIndexOf(secret);
      if (isPlaceholder(secret, match[0]) || (!isQuoted(line, at) && isExpression(secret))) continue;
      spans.push(createSpan(start + at, secret));
    }
  }
  return spans;
}

function secretSpan(match: RegExpExecArray, start: number): [number, number] {
  const secret = match.groups?.secret ?? match[0];
  return createSpan(start + match.index + match[0].lastIndexOf(secret), secret);
}

function isQuoted(text: string, at: number): boolean {
  const before = text[at - 1];
  return before === '"' || before === "'" || before === '`' || before === '>';
}

function createSpan(start: number, text: string): [number, number] {
  return [start, start + text.length];
}

function isRandom(word: string): boolean {
  if (INTEGRITY.test(word)) return false;
  if (RANDOM_HEX.test(word)) return true;
  const digits = (word.match(/[0-9]/g) ?? []).length;
  // Paths, long names and separator lines have few digits or few different characters.
  if (digits < 3 || !/[A-Z]/.test(word) || !/[a-z]/.test(word) || word.split('/').length > 3) return false;
  return bitsPerCharacter(word) > RANDOM_BITS;
}

function bitsPerCharacter(word: string): number {
  const counts = new Map<string, number>();
  for (const character of word) counts.set(character, (counts.get(character) ?? 0) + 1);
  let sum = 0;
  for (const count of counts.values()) sum -= (count / word.length) * Math.log2(count / word.length);
  return sum;
}

/** Has the same length and line ends, is equal for equal secrets, and does not occur in the text. */
function createPlaceholder(secret: string, taken: ReadonlyMap<string, string>, text: string): string {
  for (let attempt = 0; ; attempt++) {
    let state = hash(`${secret}\0${attempt}`);
    let out = '';
    for (const character of secret) {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;

      out += /\s/.test(character) ? character : (PLACEHOLDER[state >>> 28] ?? 'x').repeat(character.length);
    }
    if (attempt > 20 || (!taken.has(out) && !text.includes(out))) return out;
  }
}

function hash(text: string): number {
  let value = 2_166_136_261;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 16_777_619);
  return value >>> 0;
}
