import { withoutByteOrderMark } from './text.ts';

/**
 * `.gitignore` patterns with the rules of gitignore(5) and Git's `wildmatch.c`. A pattern is compared with one path at
 * a time. The caller applies the rule that an excluded folder excludes its content, because it knows the other ignore
 * files.
 *
 * Wildcards are matched without regular expressions: the patterns are untrusted input, and `*a*a*a*b` as a regular
 * expression takes exponential time. This matcher takes at most the length of the pattern times the length of the path.
 */

/** One element of a pattern: a character in a segment, or a segment in a path. */
type Element<T> =
  | { readonly type: 'one'; readonly matches: (item: T) => boolean }
  /** Any number of items: `*` within a segment, `**` between segments. */
  | { readonly type: 'many' };

/** One name in a path, as a list of characters. */
type Segment = readonly string[];

interface Pattern {
  readonly negated: boolean;
  readonly folderOnly: boolean;
  /** A pattern without a slash is not anchored: it is compared with the last segment only, at any depth. */
  readonly anchored: boolean;
  readonly segments: readonly Element<Segment>[];
}

export type Verdict = 'ignored' | 'included';

export class IgnorePatterns {
  readonly #patterns: readonly Pattern[];

  /** @param except drops the patterns that exclude this folder or one above it. */
  constructor(content: string, except?: string) {
    const all = withoutByteOrderMark(content).split('\n').flatMap(parsePattern);
    const folders = except === undefined ? [] : listPrefixes(except);
    this.#patterns = all.filter((one) => one.negated || !folders.some((folder) => matches(one, folder, true)));
  }

  /**
   * The verdict of the last pattern that matches exactly this path, or undefined if none matches. The path is relative
   * to the folder of the ignore file, with `/`. Case is ignored.
   */
  verdict(path: string, isFolder: boolean): Verdict | undefined {
    return this.#last(splitSegments(path), isFolder);
  }

  /** Whether the patterns of this file exclude the path or a folder that contains it. */
  ignores(path: string): boolean {
    const all = splitSegments(path);
    return all.some((_, index) => this.#last(all.slice(0, index + 1), index < all.length - 1) === 'ignored');
  }

  #last(segments: readonly Segment[], isFolder: boolean): Verdict | undefined {
    const last = this.#patterns.findLast((one) => matches(one, segments, isFolder));
    return last && (last.negated ? 'included' : 'ignored');
  }
}

/** Normalizes letters. macOS writes `é` as two characters, most editors as one, and treats `ſ` as `s`. */
function fold(text: string): string {
  return text.normalize('NFC').toUpperCase().toLowerCase();
}

function splitSegments(path: string): readonly Segment[] {
  return fold(path)
    .split('/')
    .map((name) => [...name]);
}

function listPrefixes(path: string): readonly (readonly Segment[])[] {
  const segments = splitSegments(path);
  return segments.map((_, index) => segments.slice(0, index + 1));
}

/** Zero patterns or one. A line that cannot match in Git (such as one that ends with a lone backslash) gives none. */
function parsePattern(line: string): readonly Pattern[] {
  let text = withoutTrailingSpaces(line.replace(/\r$/, ''));
  if (text === '' || text.startsWith('#')) return [];
  const negated = text.startsWith('!');
  if (negated) text = text.slice(1);
  const folderOnly = text.endsWith('/');
  if (folderOnly) text = text.slice(0, -1);
  const anchored = text.includes('/');
  if (anchored && text.startsWith('/')) text = text.slice(1);
  if (text === '') return [];
  const segments = segmentPatterns(fold(text), anchored);
  return segments ? [{ negated, folderOnly, anchored, segments }] : [];
}

/** Undefined for a pattern that matches nothing. */
function segmentPatterns(text: string, anchored: boolean): readonly Element<Segment>[] | undefined {
  const segments: Element<Segment>[] = [];
  const written = anchored ? text.split('/') : [text];
  for (const [index, segment] of written.entries()) {
    if (anchored && /^\*\*+$/.test(segment)) {
      // At the end, `**` requires at least one segment: `a/**` matches the content of `a`, not `a` itself.
      if (index === written.length - 1) segments.push({ type: 'one', matches: () => true });
      if (segments.at(-1)?.type !== 'many') segments.push({ type: 'many' });
      continue;
    }
    const characters = characterPatterns(segment);
    if (!characters) return undefined;
    segments.push({ type: 'one', matches: (other) => matchesAll(characters, other) });
  }
  return segments;
}

function withoutTrailingSpaces(line: string): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === ' ' && !isEscaped(line, end - 1)) end -= 1;
  return line.slice(0, end);
}

function isEscaped(text: string, index: number): boolean {
  let backslashes = 0;
  while (text[index - 1 - backslashes] === '\\') backslashes += 1;
  return backslashes % 2 === 1;
}

/** Undefined for a pattern that matches nothing: one with a backslash or an open bracket at its end. */
function characterPatterns(segment: string): readonly Element<string>[] | undefined {
  const characters = [...segment];
  const elements: Element<string>[] = [];
  for (let at = 0; at < characters.length; at += 1) {
    const character = characters[at] ?? '';
    if (character === '*') {
      if (elements.at(-1)?.type !== 'many') elements.push({ type: 'many' });
    } else if (character === '?') {
      elements.push({ type: 'one', matches: () => true });
    } else if (character === '[') {
      const set = bracketAt(characters, at);
      if (!set) return undefined;
      elements.push({ type: 'one', matches: set.matches });
      at = set.end;
    } else {
      const literal = character === '\\' ? characters[++at] : character;
      if (literal === undefined) return undefined;
      elements.push({ type: 'one', matches: (other) => other === literal });
    }
  }
  return elements;
}

const CLASSES: Readonly<Record<string, RegExp>> = {
  alnum: /[a-z0-9]/i,
  alpha: /[a-z]/i,
  blank: /[ \t]/,
  cntrl: /[\u0000-\u001f\u007f]/,
  digit: /[0-9]/,
  graph: /[!-~]/,
  lower: /[a-z]/i,
  print: /[ -~]/,
  punct: /[!-/:-@[-`{-~]/,
  space: /\s/,
  upper: /[a-z]/i,
  xdigit: /[0-9a-f]/i,
};

interface Bracket {
  /** Index of the closing bracket. */
  readonly end: number;
  readonly matches: (character: string) => boolean;
}

function bracketAt(characters: readonly string[], start: number): Bracket | undefined {
  let at = start + 1;
  const inverted = characters[at] === '!' || characters[at] === '^';
  if (inverted) at += 1;
  const tests: ((character: string) => boolean)[] = [];
  for (let first = true; ; first = false) {
    if (at >= characters.length) return undefined;
    if (characters[at] === ']' && !first) break;
    const named = classAt(characters, at);
    if (named) {
      tests.push((character) => named.pattern.test(character));
      at = named.end;
      continue;
    }
    const from = memberAt(characters, at);
    if (!from) return undefined;
    at = from.end;
    const to = characters[at] === '-' && characters[at + 1] !== ']' ? memberAt(characters, at + 1) : undefined;
    if (to) at = to.end;
    const [low, high] = [from.character, (to ?? from).character];
    tests.push((character) => character >= low && character <= high);
  }
  const matches = (character: string) => tests.some((test) => test(character)) !== inverted;
  return { end: at, matches };
}

function memberAt(characters: readonly string[], at: number) {
  const escaped = characters[at] === '\\';
  const character = characters[escaped ? at + 1 : at];
  return character === undefined ? undefined : { character, end: at + (escaped ? 2 : 1) };
}

function classAt(characters: readonly string[], at: number): { pattern: RegExp; end: number } | undefined {
  if (characters[at] !== '[' || characters[at + 1] !== ':') return undefined;
  const name = /^\[:([a-z]+):\]/.exec(characters.slice(at, at + 12).join(''))?.[1];
  const pattern = name === undefined || !Object.hasOwn(CLASSES, name) ? undefined : CLASSES[name];
  return pattern && name !== undefined ? { pattern, end: at + name.length + 4 } : undefined;
}

function matches(pattern: Pattern, segments: readonly Segment[], isFolder: boolean): boolean {
  if (pattern.folderOnly && !isFolder) return false;
  return matchesAll(pattern.segments, pattern.anchored ? segments : segments.slice(-1));
}

/**
 * The classic wildcard match: on a mismatch, the last wildcard takes one more item. Earlier wildcards never need
 * another try, so the time is at most length times length.
 */
function matchesAll<T>(pattern: readonly Element<T>[], items: readonly T[]): boolean {
  let at = 0;
  let wildcard = -1;
  let taken = 0;
  let index = 0;
  for (let item = items[0]; item !== undefined; item = items[index]) {
    const element = pattern[at];
    if (element?.type === 'many') {
      wildcard = at;
      taken = index;
      at += 1;
    } else if (element?.matches(item)) {
      at += 1;
      index += 1;
    } else if (wildcard >= 0) {
      taken += 1;
      index = taken;
      at = wildcard + 1;
    } else {
      return false;
    }
  }
  return pattern.slice(at).every(({ type }) => type === 'many');
}
