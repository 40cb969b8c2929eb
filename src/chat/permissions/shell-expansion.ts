import { readdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { IgnorePatterns } from '../../base/ignore-patterns.ts';
import { CURRENT_FOLDER } from './shell-syntax.ts';

/** With more words or folders, the result is not known. */
const MAX_WORDS = 256;
const MAX_ENTRIES = 5000;

/**
 * The words that a shell makes of a pattern (see `ShellWord.pattern`) in a folder: braces, `~`, `$PWD` and globs. The
 * pattern itself is one of them, because a glob that matches nothing stays. Undefined if they are not known.
 */
export async function expandPattern(pattern: string, folder: string): Promise<readonly string[] | undefined> {
  const words = expandBraces(pattern);
  if (words === undefined) return undefined;
  const found = new Set<string>();
  for (const word of words) {
    const placed = placeFolders(word, folder);
    if (placed === undefined) return undefined;
    found.add(withoutEscapes(placed));
    if (!hasGlob(placed)) continue;
    const files = await expandGlobs(placed, folder);
    if (files === undefined) return undefined;
    for (const file of files) found.add(file);
  }
  return [...found];
}

/** Undefined for sequences (`{a..z}`), and for too many words. */
function expandBraces(pattern: string): readonly string[] | undefined {
  const done: string[] = [];
  const open = [pattern];
  for (let word = open.pop(); word !== undefined; word = open.pop()) {
    const group = findBraces(word);
    if (group === undefined) {
      done.push(word);
    } else if (group.parts.length === 1) return undefined;
    else for (const part of group.parts) open.push(word.slice(0, group.from) + part + word.slice(group.to));
    if (done.length + open.length > MAX_WORDS) return undefined;
  }
  return done;
}

interface Braces {
  readonly from: number;
  readonly to: number;
  readonly parts: readonly string[];
}

/** The first group with a comma, or with `..` (one part). Others stay as they are. */
function findBraces(word: string): Braces | undefined {
  for (let from = nextPlain(word, '{', 0); from !== -1; from = nextPlain(word, '{', from + 1)) {
    const group = bracesAt(word, from);
    if (group && (group.parts.length > 1 || group.parts[0]?.includes('..'))) return group;
  }
  return undefined;
}

function bracesAt(word: string, from: number): Braces | undefined {
  const parts: string[] = [];
  let depth = 0;
  let start = from + 1;
  for (let at = from; at < word.length; at += 1) {
    const character = word[at];
    if (character === '\\') at += 1;
    else if (character === '{') depth += 1;
    else if (character === '}') depth -= 1;
    if (depth > 1 || character === '{') continue;
    if (depth === 0 || (depth === 1 && character === ',')) {
      parts.push(word.slice(start, at));
      start = at + 1;
    }
    if (depth === 0) return { from, to: at + 1, parts };
  }
  return undefined;
}

function nextPlain(word: string, wanted: string, from: number): number {
  for (let at = from; at < word.length; at += 1) {
    if (word[at] === '\\') at += 1;
    else if (word[at] === wanted) return at;
  }
  return -1;
}

/** Undefined for the home folder of another user. */
function placeFolders(word: string, folder: string): string | undefined {
  const placed = word.replaceAll(CURRENT_FOLDER, () => escapeText(folder));
  const marks = /(^|[^\\][=:])~([^/:]*)/g;
  if ([...placed.matchAll(marks)].some(([, , user]) => user !== '')) return undefined;
  return placed.replace(marks, (_, before: string) => before + escapeText(homedir()));
}

function escapeText(text: string): string {
  return text.replace(/[^\w/.]/g, '\\$&');
}

function withoutEscapes(text: string): string {
  return text.replace(/\\([\s\S])/g, '$1');
}

function hasGlob(text: string): boolean {
  return ['*', '?', '['].some((character) => nextPlain(text, character, 0) !== -1);
}

async function expandGlobs(pattern: string, folder: string): Promise<readonly string[] | undefined> {
  const [first = '', ...rest] = pattern.split(/\/+/);
  const isAbsolute = first === '' && rest.length > 0;
  let found = [isAbsolute ? '/' : ''];
  let left = MAX_ENTRIES;
  const list = async (relative: string) => {
    const entries = await readdir(path.resolve(folder, relative === '' ? '.' : relative)).catch(() => []);
    left -= entries.length + 1;
    return entries;
  };
  for (const segment of isAbsolute ? rest : [first, ...rest]) {
    const next: string[] = [];
    for (const base of found) {
      if (!hasGlob(segment)) next.push(base + withoutEscapes(segment));
      else for (const name of matchingNames(segment, await list(base))) next.push(base + name);
      if (left < 0) return undefined;
    }
    // With globstar, `**` is any number of folders.
    if (/^\*\*+$/.test(segment)) {
      for (const each of next) {
        for (const name of await list(each)) if (!name.startsWith('.')) next.push(`${each}/${name}`);
        if (left < 0) return undefined;
      }
      next.push(...found.map((base) => base.replace(/\/$/, '')));
    }
    found = next.map((each) => (each === '' || each.endsWith('/') ? each : `${each}/`));
  }
  return found.map((each) => each.replace(/(?!^)\/$/, ''));
}

/** Without regard to case. As in shells, a leading dot must be written. */
function matchingNames(segment: string, names: readonly string[]): readonly string[] {
  const patterns = new IgnorePatterns(`/${segment}`);
  const dots = /^\\?\./.test(segment);
  return names.filter((name) => (dots || !name.startsWith('.')) && patterns.verdict(name, false) === 'ignored');
}
