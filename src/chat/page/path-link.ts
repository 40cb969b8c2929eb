/** A place in a file as models write it: `src/app.ts`, `app.ts:12:3`, `src/app.ts:12-20`, `src/app.ts#L12-L20`. */
export interface PathLink {
  readonly path: string;
  /** From 1. */
  readonly line?: number;
  /** From 1. */
  readonly column?: number;
  readonly endLine?: number;
}

const MAX_LENGTH = 300;
const COLON_PLACE = /:(\d{1,7})(?::(\d{1,5}))?(?:-(\d{1,7}))?$/;
const HASH_PLACE = /#L(\d{1,7})(?:C(\d{1,5}))?(?:-L?(\d{1,7}))?$/;
const PATH_CHARACTERS = /^[\p{L}\p{N}_@.~+$()[\]{}'#%!&=, \\/-]+$/u;

/** Reads a path and its line; undefined if the text can't be a path. Whether the file exists is another question. */
export function readPathLink(text: string): PathLink | undefined {
  const whole = text.trim();
  if (whole.length === 0 || whole.length > MAX_LENGTH) return undefined;
  // A drive letter is a path of Windows, not a place.
  const drive = /^[A-Za-z]:[\\/]/.exec(whole)?.[0].slice(0, 2) ?? '';
  const place = COLON_PLACE.exec(whole) ?? HASH_PLACE.exec(whole);
  const path = whole.slice(drive.length, place?.index);
  const named = path.split(/[\\/]/).at(-1) ?? '';
  if (!PATH_CHARACTERS.test(path) || path.startsWith('//') || !/[\p{L}\p{N}]/u.test(path)) return undefined;
  if (!/[\\/]/.test(path) && !/[^ ]\.[\p{L}\p{N}]|^\.\w/u.test(named)) return undefined;
  const [, line, column, endLine] = place ?? [];
  return {
    path: drive + path,
    ...(line === undefined ? {} : { line: Number(line) }),
    ...(column === undefined ? {} : { column: Number(column) }),
    ...(endLine === undefined ? {} : { endLine: Number(endLine) }),
  };
}

/** A text that may be a path, with its position. */
export interface PathCandidate {
  readonly text: string;
  readonly index: number;
}

/** Number of words that may belong to a path with blanks, besides the last. */
const MAX_BLANKS = 3;

/**
 * Texts of running text that may be paths with an extension. They may overlap: `R&D/plan.md` and `D/plan.md`. Which of
 * them exist decides (see `longestPaths`).
 */
export function pathsInText(text: string): readonly PathCandidate[] {
  const words = [...text.matchAll(/[^\s"`<>|;*?“”„‘‚’«»…]{1,300}/gu)].map((match) => trimWord(match[0], match.index));
  const plain = [...text.matchAll(/[\p{L}\p{N}_@.~+\\/#:-]{3,300}/gu)].map((match) => trimWord(match[0], match.index));
  const found = new Map(
    [...words, ...withBlanks(text, words), ...plain].map((one) => [`${one.index} ${one.text}`, one]),
  );
  return [...found.values()].filter(({ text: word }) => {
    const link = readPathLink(word);
    return link && /[\p{L}\p{N}_]\.[A-Za-z]\w{0,9}$/u.test(link.path);
  });
}

/** Those that do not overlap, in the order of the text: of several that overlap, the longest. */
export function longestPaths(candidates: readonly PathCandidate[]): readonly PathCandidate[] {
  const groups: PathCandidate[][] = [];
  let end = 0;
  for (const one of candidates.toSorted((a, b) => a.index - b.index)) {
    if (one.index < end) groups.at(-1)?.push(one);
    else groups.push([one]);
    end = Math.max(end, one.index + one.text.length);
  }
  return groups.flatMap(longestOf);
}

function longestOf(group: readonly PathCandidate[]): readonly PathCandidate[] {
  const chosen: PathCandidate[] = [];
  for (const one of group.toSorted((a, b) => b.text.length - a.text.length)) {
    const overlaps = (other: PathCandidate) =>
      one.index < other.index + other.text.length && other.index < one.index + one.text.length;
    if (!chosen.some(overlaps)) chosen.push(one);
  }
  return chosen.toSorted((a, b) => a.index - b.index);
}

/** Each word with the words before it, as far as one blank separates them. */
function withBlanks(text: string, words: readonly PathCandidate[]): readonly PathCandidate[] {
  return words.flatMap((last, at) => {
    const end = last.index + last.text.length;
    const found: PathCandidate[] = [];
    for (let first = at - 1; first >= Math.max(0, at - MAX_BLANKS); first -= 1) {
      const [word, next] = [words[first], words[first + 1]];
      if (!word?.text || !next?.text || text.slice(word.index + word.text.length, next.index) !== ' ') break;
      const whole = text.slice(word.index, end);
      if (/[\\/]/.test(whole)) found.push({ text: whole, index: word.index });
    }
    return found;
  });
}

const PAIRS: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{' };

/** Without the punctuation around a word, and without brackets that do not belong to it. */
function trimWord(word: string, index: number): PathCandidate {
  let start = 0;
  let end = word.length;
  const count = (character: string) => word.slice(start, end).split(character).length - 1;
  for (let before = -1; before !== end - start; ) {
    before = end - start;
    const [first = '', last = ''] = [word[start], word[end - 1]];
    const opening = PAIRS[last];
    const closing = Object.keys(PAIRS).find((each) => PAIRS[each] === first);
    if (start < end && ".:#-,!'&=%".includes(last)) end -= 1;
    else if (opening !== undefined && count(last) > count(opening)) end -= 1;
    else if (closing !== undefined && (count(first) > count(closing) || encloses(word.slice(start, end)))) start += 1;
    else if (first === "'" || first === ',') start += 1;
  }
  return { text: word.slice(start, end), index: index + start };
}

/** Whether the bracket at the start is closed at the end. */
function encloses(word: string): boolean {
  const opening = word[0] ?? '';
  if (PAIRS[word.at(-1) ?? ''] !== opening) return false;
  let depth = 0;
  for (let at = 0; at < word.length; at += 1) {
    if (word[at] === opening) depth += 1;
    else if (PAIRS[word[at] ?? ''] === opening) depth -= 1;
    if (depth === 0) return at === word.length - 1;
  }
  return false;
}
