/**
 * Secrets in what is sent are written over with stand-ins of the same length, and written back in
 * what comes back. By shape first, then by randomness.
 */
export interface Redacted {
  readonly text: string;
  /** Stand-in -> what it stands for. */
  readonly secrets: ReadonlyMap<string, string>;
}

const SHAPES: readonly RegExp[] = [
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  /\bsk-(?:ant-|proj-|or-)?[A-Za-z0-9_-]{16,}/g,
  /\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,})/g,
  /\bglpat-[A-Za-z0-9_-]{20,}/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /\bAIza[A-Za-z0-9_-]{35}/g,
  /\bxox[abeoprs]-[A-Za-z0-9-]{10,}/g,
  /\b(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}/g,
  /\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}/g,
  /\bnpm_[A-Za-z0-9]{36}/g,
  /\bhf_[A-Za-z0-9]{30,}/g,
  /\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}/g,
];
/** The password of a URL, and the value given to something that is named like a secret. */
const NAMED: readonly RegExp[] = [
  /\b[a-z][a-z0-9+.-]{0,30}:\/\/[^\s/:@'"`]+:(?<secret>[^\s/@'"`]{6,})@/g,
  /\b(?:Bearer|Basic)\s+(?<secret>[A-Za-z0-9+/_.~-]{16,}={0,2})/g,
  /(?:api[_-]?key|secret|token|passwd|password|credential|private[_-]?key)["']?\s*[:=]\s*["'`](?<secret>[^"'`\s${}]{8,})["'`]/gi,
];
const WORD = /[A-Za-z0-9+/_=-]{24,}/g;
/** Bits a character, above which a word of letters and digits is no name. Base64 has 6, English about 4. */
const RANDOM_BITS = 4.2;
/** No digits among them: a stand-in must not be taken for a secret again. */
const STAND_IN = 'qxzjkvwyQXZJKVWY';
const RANDOM_HEX = /^[0-9a-f]{32,}$/i;

/** Masks a text. Give the `secrets` of an earlier text to keep its stand-ins. */
export function redact(text: string, secrets: Map<string, string> = new Map()): Redacted {
  const spans = secretSpans(text);
  if (spans.length === 0) return { text, secrets };
  const standInOf = new Map([...secrets].map(([standIn, secret]) => [secret, standIn]));
  let out = '';
  let at = 0;
  for (const [start, end] of spans) {
    const secret = text.slice(start, end);
    let standIn = standInOf.get(secret);
    if (standIn === undefined) {
      standIn = standInFor(secret, secrets, text);
      secrets.set(standIn, secret);
      standInOf.set(secret, standIn);
    }
    out += text.slice(at, start) + standIn;
    at = end;
  }
  return { text: out + text.slice(at), secrets };
}

/** Whether the secret that `offset` is inside of, or right behind of, would be torn or finished there. */
export function insideSecret(text: string, offset: number): boolean {
  return secretSpans(text).some(([start, end]) => start < offset && offset < end);
}

/**
 * Writes secrets back into text that arrives in pieces: a piece that may be the start of a
 * stand-in waits for the next.
 */
export class Restoring {
  readonly #secrets: ReadonlyMap<string, string>;
  #held = '';

  constructor(secrets: ReadonlyMap<string, string>) {
    this.#secrets = secrets;
  }

  push(piece: string): string {
    if (this.#secrets.size === 0) return piece;
    let text = this.#held + piece;
    for (const [standIn, secret] of this.#secrets) text = text.replaceAll(standIn, () => secret);
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
    for (const standIn of this.#secrets.keys()) {
      for (let length = Math.min(standIn.length - 1, text.length); length > keep; length--) {
        if (text.endsWith(standIn.slice(0, length))) keep = length;
      }
    }
    return keep;
  }
}

/** Where secrets are, in order, without overlaps. */
function secretSpans(text: string): [number, number][] {
  const spans: [number, number][] = [];
  for (const shape of SHAPES) for (const match of text.matchAll(shape)) spans.push(spanOf(match.index, match[0]));
  for (const shape of NAMED) {
    for (const match of text.matchAll(shape)) {
      const secret = match.groups?.secret ?? '';
      if (!placeholder(secret)) spans.push(spanOf(match.index + match[0].lastIndexOf(secret), secret));
    }
  }
  for (const match of text.matchAll(WORD)) if (random(match[0])) spans.push(spanOf(match.index, match[0]));
  spans.sort((a, b) => a[0] - b[0] || b[1] - a[1]);
  const apart: [number, number][] = [];
  for (const span of spans) {
    const last = apart.at(-1);
    if (last !== undefined && span[0] < last[1]) last[1] = Math.max(last[1], span[1]);
    else apart.push([span[0], span[1]]);
  }
  return apart;
}

function spanOf(start: number, text: string): [number, number] {
  return [start, start + text.length];
}

/** Names of variables and words to be replaced by hand, not secrets. */
function placeholder(value: string): boolean {
  return (
    /^(?:process\.env|your|my|example|changeme|x{4,}|\*+|<|%|\.\.\.)/i.test(value) ||
    /^[a-z]+(?:[._-][a-z]+)+$/.test(value)
  );
}

function random(word: string): boolean {
  if (RANDOM_HEX.test(word)) return true;
  const digits = (word.match(/[0-9]/g) ?? []).length;
  // Paths, long names and rulers have few digits or few different characters.
  if (digits < 3 || !/[A-Z]/.test(word) || !/[a-z]/.test(word) || word.split('/').length > 3) return false;
  return bits(word) > RANDOM_BITS;
}

function bits(word: string): number {
  const counts = new Map<string, number>();
  for (const character of word) counts.set(character, (counts.get(character) ?? 0) + 1);
  let sum = 0;
  for (const count of counts.values()) sum -= (count / word.length) * Math.log2(count / word.length);
  return sum;
}

/** Same length, same line ends, the same on each request for the same secret, not in the text already. */
function standInFor(secret: string, taken: ReadonlyMap<string, string>, text: string): string {
  for (let attempt = 0; ; attempt++) {
    let state = hash(`${secret}\0${attempt}`);
    let out = '';
    for (const character of secret) {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;

      out += /\s/.test(character) ? character : (STAND_IN[state >>> 28] ?? 'x').repeat(character.length);
    }
    if (attempt > 20 || (!taken.has(out) && !text.includes(out))) return out;
  }
}

function hash(text: string): number {
  let value = 2_166_136_261;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 16_777_619);
  return value >>> 0;
}
