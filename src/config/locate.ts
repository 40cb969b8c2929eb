/** A string or another value of a text, by its characters. */
export interface Token {
  readonly offset: number;
  readonly length: number;
  readonly string: boolean;
}

/** Where an offset of a JSON text lies. */
export interface Location {
  /** Keys and indexes down to the place; at a key its own is the last. */
  readonly path: readonly string[];
  readonly atKey: boolean;
  /** The token that the offset touches: inside it, or at one of its ends. */
  readonly token: Token | undefined;
}

interface Level {
  readonly array: boolean;
  index: number;
  /** Of the key that was read last: from and to, quotes included. */
  keyStart: number;
  keyEnd: number;
  /** Behind the colon. */
  inValue: boolean;
}

/** Where the keys of the object at a top-level key stand; what is broken behind them does not matter. */
export function keysOf(text: string, section: string): readonly { readonly key: string; readonly token: Token }[] {
  const keys: { key: string; token: Token }[] = [];
  scan(text, text.length, (levels, level) => {
    const [root] = levels;
    if (levels.length !== 2 || root === undefined || keyOf(text, root) !== section) return;
    const { keyStart, keyEnd } = level;
    keys.push({ key: keyOf(text, level), token: { offset: keyStart, length: keyEnd - keyStart, string: true } });
  });
  return keys;
}

/**
 * Where an offset lies, in one pass over what stands before it and without building anything: the text
 * may be broken, as it is while somebody types, and it may be a megabyte.
 */
export function locate(text: string, offset: number): Location {
  const { levels, token } = scan(text, offset);
  return located(text, levels, token);
}

/** `onKey` is told each key with the levels it stands in, its own last. */
function scan(
  text: string,
  offset: number,
  onKey?: (levels: readonly Level[], level: Level) => void,
): { readonly levels: readonly Level[]; readonly token: Token | undefined } {
  const levels: Level[] = [];
  let token: Token | undefined;
  const breakAfter = lineBreaks(text);
  let at = 0;
  while (at < offset || (at === offset && startsToken(text.charCodeAt(at)))) {
    const code = text.charCodeAt(at);
    // First of all what is most of a text.
    if (code <= 0x20) {
      at += 1;
      continue;
    }
    if (Number.isNaN(code)) break;
    const level = levels.at(-1);
    if (code === 0x22) {
      const end = stringEnd(text, at, breakAfter);
      if (level !== undefined && !level.array && !level.inValue) {
        level.keyStart = at;
        level.keyEnd = end;
        onKey?.(levels, level);
      }
      if (end >= offset) token = { offset: at, length: end - at, string: true };
      at = end;
    } else if (code === 0x7b || code === 0x5b) {
      if (at >= offset) break;
      levels.push({ array: code === 0x5b, index: 0, keyStart: -1, keyEnd: -1, inValue: false });
      at += 1;
    } else if (code === 0x7d || code === 0x5d) {
      levels.pop();
      at += 1;
    } else if (code === 0x3a) {
      if (level !== undefined) level.inValue = true;
      at += 1;
    } else if (code === 0x2c) {
      if (level !== undefined) nextMember(level);
      at += 1;
    } else if (code === 0x2f) at = commentEnd(text, at);
    else {
      const end = wordEnd(text, at);
      if (end >= offset) token = { offset: at, length: end - at, string: false };
      at = end;
    }
    if (token !== undefined) break;
  }
  return { levels, token };
}

function located(text: string, levels: readonly Level[], token: Token | undefined): Location {
  const last = levels.at(-1);
  const atKey = last !== undefined && !last.array && !last.inValue;
  const path = levels.map((level, index) => {
    if (level.array) return String(level.index);
    // Between two members there is no key yet.
    const open = index === levels.length - 1 && atKey && token === undefined;
    return open ? '' : keyOf(text, level);
  });
  return { path, atKey, token };
}

function nextMember(level: Level): void {
  level.index += 1;
  level.inValue = false;
  level.keyStart = -1;
  level.keyEnd = -1;
}

function keyOf(text: string, { keyStart, keyEnd }: Level): string {
  if (keyStart < 0) return '';
  const quoted = text.slice(keyStart, keyEnd);
  try {
    return String(JSON.parse(quoted));
  } catch {
    // Not closed yet: what is there of it.
    return quoted.replace(/^"|"$/g, '');
  }
}

function startsToken(code: number): boolean {
  return code === 0x22 || (code > 0x20 && !isStructure(code));
}

/** `{ } [ ] : , /` */
function isStructure(code: number): boolean {
  return [0x7b, 0x7d, 0x5b, 0x5d, 0x3a, 0x2c, 0x2f].includes(code);
}

/** Behind the closing quote; where there is none, the end of the line: one that is being typed has no end yet. */
function stringEnd(text: string, start: number, breakAfter: (from: number) => number): number {
  let end = text.indexOf('"', start + 1);
  while (end > 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  const lineEnd = breakAfter(start);
  if (end < 0 || lineEnd < end) return Math.min(lineEnd, text.length);
  return end + 1;
}

/** Finds the next line break, remembering the last one: strings are many, and a text may have no line break at all. */
function lineBreaks(text: string): (from: number) => number {
  let known = -1;
  return (from) => {
    if (known < from) {
      const found = text.indexOf('\n', from);
      known = found < 0 ? Number.POSITIVE_INFINITY : found;
    }
    return known;
  };
}

function isEscaped(text: string, quote: number): boolean {
  let backslashes = 0;
  while (text.charCodeAt(quote - 1 - backslashes) === 0x5c) backslashes += 1;
  return backslashes % 2 === 1;
}

function commentEnd(text: string, start: number): number {
  const kind = text.charCodeAt(start + 1);
  const end = kind === 0x2f ? text.indexOf('\n', start) : kind === 0x2a ? text.indexOf('*/', start + 2) + 2 : start + 1;
  return end < start + 1 ? text.length : end;
}

function wordEnd(text: string, start: number): number {
  let end = start + 1;
  while (end < text.length && text.charCodeAt(end) > 0x20 && text.charCodeAt(end) !== 0x22) {
    if (isStructure(text.charCodeAt(end))) break;
    end += 1;
  }
  return end;
}
