import { CREDENTIAL_MASK, sentSecrets } from './echoed-credentials.ts';

type Headers = Readonly<Record<string, string>>;

interface Secret {
  readonly bytes: Buffer;
  /** Matches the secret with any of its characters escaped as in JSON; applied to bytes decoded as Latin-1. */
  readonly escaped: RegExp;
  /** Maximum number of bytes of the escaped secret. */
  readonly longest: number;
}

/** Keyed by the headers object, which an endpoint uses for all its requests. */
const SECRETS = new WeakMap<Headers, readonly Secret[]>();

/** The start of a JSON escape of a printable character. */
const ESCAPE = Buffer.from('\\u00');
const ESCAPED_SLASH = Buffer.from('\\/');

function collectSecrets(headers: Headers): readonly Secret[] {
  let secrets = SECRETS.get(headers);
  if (secrets === undefined) {
    secrets = sentSecrets(headers).map(createSecret);
    SECRETS.set(headers, secrets);
  }
  return secrets;
}

function createSecret(text: string): Secret {
  const characters = [...text].map((character) => {
    const hex = character.charCodeAt(0).toString(16).padStart(4, '0');
    const digits = [...hex].map((digit) => `[${digit}${digit.toUpperCase()}]`).join('');
    const plain = `\\x${hex.slice(-2)}`;
    return `(?:${plain}|\\\\u${digits}${character === '/' ? '|\\\\/' : ''})`;
  });
  return {
    bytes: Buffer.from(text, 'latin1'),
    escaped: new RegExp(characters.join(''), 'g'),
    longest: 6 * text.length,
  };
}

/**
 * Removes the credentials of a request from its answer, also if they are split across chunks. Nearly all answers
 * contain none and are not copied.
 */
export class CredentialFilter {
  readonly #secrets: readonly Secret[];
  /** The end of the received bytes, if it may be the start of a credential. */
  #held: Buffer | undefined;

  constructor(headers: Headers) {
    this.#secrets = collectSecrets(headers);
  }

  /** Returns the bytes that can be forwarded. An end that may be the start of a credential waits for the next chunk. */
  push(bytes: Buffer): Buffer {
    if (this.#secrets.length === 0) return bytes;
    const whole = this.#held === undefined ? bytes : Buffer.concat([this.#held, bytes]);
    this.#held = undefined;
    const clean = this.#clean(whole);
    const start = this.#startOfHeld(clean);
    if (start === clean.length) return clean;
    this.#held = clean.subarray(start);
    return clean.subarray(0, start);
  }

  /** Returns the bytes that still wait at the end of the answer. */
  end(): Buffer | undefined {
    const rest = this.#held;
    this.#held = undefined;
    return rest;
  }

  /** Filters bytes that can't begin or end within a credential: whole frames or a whole body. */
  whole(bytes: Buffer): Buffer {
    return this.#secrets.length === 0 ? bytes : this.#clean(bytes);
  }

  #clean(bytes: Buffer): Buffer {
    if (!this.#secrets.some((secret) => bytes.includes(secret.bytes) || mayHoldEscaped(bytes, secret))) return bytes;
    const text = bytes.toString('latin1');
    let clean = text;
    for (const { escaped } of this.#secrets) clean = clean.replace(escaped, CREDENTIAL_MASK);
    return clean === text ? bytes : Buffer.from(clean, 'latin1');
  }

  /** Start of the longest end that may be the start of a credential; `bytes.length` if there is none. */
  #startOfHeld(bytes: Buffer): number {
    // No credential contains a line end, and most chunks end with one.
    const last = bytes[bytes.length - 1];
    if (last === 0x0a || last === 0x0d) return bytes.length;
    let start = bytes.length;
    for (const { bytes: secret, longest } of this.#secrets) {
      const from = Math.max(0, bytes.length - longest + 1);
      const tail = bytes.toString('latin1', from);
      for (let at = 0; at < tail.length && from + at < start; at += 1) {
        if (isStart(tail, at, secret)) start = from + at;
      }
    }
    return start;
  }
}

function mayHoldEscaped(bytes: Buffer, { bytes: secret }: Secret): boolean {
  // Most frames have no escape, and the search for one byte is faster than for two.
  if (!bytes.includes(0x5c)) return false;
  return bytes.includes(ESCAPE) || (secret.includes(0x2f) && bytes.includes(ESCAPED_SLASH));
}

/** Whether the text from `at` to its end is the start of a secret, with or without escapes. */
function isStart(text: string, at: number, secret: Buffer): boolean {
  let next = at;
  for (const code of secret) {
    if (next >= text.length) return true;
    if (text.charCodeAt(next) === code) {
      next += 1;
      continue;
    }
    const escapeSequence =
      text.startsWith('\\/', next) && code === 0x2f ? '\\/' : `\\u${code.toString(16).padStart(4, '0')}`;
    if (!escapeSequence.startsWith(text.slice(next, next + escapeSequence.length).toLowerCase())) return false;
    next += escapeSequence.length;
  }
  // True if the escape of the last character is not complete.
  return next > text.length;
}
