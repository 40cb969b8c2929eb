/** A finished file with a part to be typed. */
export interface Task {
  readonly file: string;
  readonly start: number;
  readonly end: number;
}

/** Functions of a file, from their first line to their closing brace, and the last third of it, as parts to be typed. */
export function tasksOf(file: string, most: number): Task[] {
  const end = file.trimEnd().length;
  return [...functionsOf(file, most), { file, start: file.lastIndexOf('\n\n', Math.floor((end * 2) / 3)), end }];
}

function functionsOf(file: string, most: number): Task[] {
  const tasks: Task[] = [];
  const functions = /^(?: {2})?(?:export )?(?:async )?(?:function\*? \w+|(?:#|get |async )?\w+)\(.*\{$/gm;
  for (const match of file.matchAll(functions)) {
    const indent = /^ */.exec(match[0])?.[0] ?? '';
    const end = file.indexOf(`\n${indent}}`, match.index);
    if (end < 0) continue;
    const length = end + 2 + indent.length - match.index;
    const last = tasks.at(-1);
    if (length < 120 || length > 1_400 || (last !== undefined && match.index < last.end)) continue;
    // The line end before it is missing too: a user who adds a function presses Enter first.
    tasks.push({ file, start: match.index - 1, end: match.index + length });
  }
  const step = Math.max(1, Math.floor(tasks.length / most));
  return tasks.filter((_, index) => index % step === 0).slice(0, most);
}

const CLOSER: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };

/** Offset of each opening bracket or quote in code -> offset of its closer. */
export function pairsOf(file: string): Map<number, number> {
  const pairs = new Map<number, number>();
  const open: { at: number; closer: string }[] = [];
  for (let at = 0; at < file.length; at++) {
    const character = file[at] ?? '';
    if (file.startsWith('//', at)) at = file.indexOf('\n', at);
    else if (file.startsWith('/*', at)) at = file.indexOf('*/', at) + 1;
    else if (character === '/' && /[(=,:[!&|?;{\n]\s*$/.test(file.slice(Math.max(0, at - 20), at)))
      at = regexpEnd(file, at);
    else if (`"'\``.includes(character)) {
      const end = quoteEnd(file, at);
      pairs.set(at, end);
      at = end;
    } else if (CLOSER[character] !== undefined) open.push({ at, closer: CLOSER[character] });
    else if (character === open.at(-1)?.closer) pairs.set(open.pop()?.at ?? -1, at);
    if (at < 0) break;
  }
  return pairs;
}

function quoteEnd(file: string, at: number): number {
  const quote = file[at];
  let end = at + 1;
  while (end < file.length && file[end] !== quote) end += file[end] === '\\' ? 2 : 1;
  return end;
}

function regexpEnd(file: string, at: number): number {
  let inClass = false;
  for (let end = at + 1; end < file.length; end++) {
    const character = file[end];
    if (character === '\\') end++;
    else if (character === '[') inClass = true;
    else if (character === ']') inClass = false;
    else if (character === '/' && !inClass) return end;
    else if (character === '\n') return at;
  }
  return at;
}

/** Numbers from 0 to 1, the same for the same seed. */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let value = Math.imul(state ^ (state >>> 15), state | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return ((value ^ (value >>> 14)) >>> 0) / 4_294_967_296;
  };
}
