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
const PATH_CHARACTERS = /^[\p{L}\p{N}_@.~+$()[\] \\/-]+$/u;

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

/** Words of running text that may be paths with an extension, with their positions. */
export function pathsInText(text: string): readonly { readonly text: string; readonly index: number }[] {
  const found = [];
  for (const match of text.matchAll(/[\p{L}\p{N}_@.~+\\/#:-]{3,300}/gu)) {
    const word = trimEnd(match[0]);
    const link = readPathLink(word);
    if (link && /[\p{L}\p{N}_]\.[A-Za-z]\w{0,9}$/u.test(link.path)) found.push({ text: word, index: match.index });
  }
  return found;
}

function trimEnd(word: string): string {
  let end = word.length;
  while (end > 0 && '.:#-'.includes(word.charAt(end - 1))) end--;
  return word.slice(0, end);
}
