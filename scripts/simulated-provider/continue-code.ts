import { readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';

const CODE = new Set([
  '.ts',
  '.tsx',
  '.js',
  '.mjs',
  '.py',
  '.go',
  '.rs',
  '.java',
  '.c',
  '.h',
  '.cpp',
  '.css',
  '.html',
  '.md',
  '.sh',
]);
const LEFT_OUT = new Set(['node_modules', '.git', 'dist', 'out', '.cache']);
const MAX_FILES = 400;
const MAX_BYTES = 200_000;
/** Fewer known characters before the cursor than this would match anywhere. */
const MIN_MATCH = 3;
const MAX_LINES = 12;

/** The text of the workspace's code files, read for each request because the user edits them. */
export function workspaceTexts(folder: string): string[] {
  const texts: string[] = [];
  const visit = (path: string): void => {
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      if (texts.length >= MAX_FILES) return;
      const child = join(path, entry.name);
      if (entry.isDirectory() && !LEFT_OUT.has(entry.name)) visit(child);
      else if (entry.isFile() && CODE.has(extname(entry.name)) && statSync(child).size <= MAX_BYTES) {
        texts.push(readFileSync(child, 'utf8').replaceAll('\r\n', '\n'));
      }
    }
  };
  visit(folder);
  return texts;
}

/**
 * Continues code from text that is already there: finds the place whose preceding text agrees longest
 * with the prompt, and answers with what follows it there, up to a blank line or what the suffix says.
 * Empty when nothing in the texts looks like the prompt's end.
 */
export function continueCode(texts: readonly string[], prompt: string, suffix: string): string {
  const line = prompt.slice(prompt.lastIndexOf('\n') + 1);
  const needle =
    line.trim() === '' ? prompt.trimEnd().slice(-40) + prompt.slice(prompt.trimEnd().length) : line.trimStart();
  if (needle.trim().length < MIN_MATCH) return '';
  let best = { score: 0, text: '' };
  for (const text of texts) {
    for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, at + 1)) {
      const end = at + needle.length;
      const answer = answerAt(text, end, suffix);
      const score = agreement(prompt, text, end);
      if (answer !== '' && score > best.score) best = { score, text: answer };
    }
  }
  return best.text;
}

/** Characters before `end` in `text` that agree with the end of the prompt. */
function agreement(prompt: string, text: string, end: number): number {
  let length = 0;
  while (length < prompt.length && length < end && prompt.at(-1 - length) === text[end - 1 - length]) length += 1;
  return length;
}

function answerAt(text: string, from: number, suffix: string): string {
  const rest = text.slice(from).split('\n').slice(0, MAX_LINES).join('\n');
  const blank = rest.indexOf('\n\n');
  const block = blank >= 0 ? rest.slice(0, blank) : rest;
  const next = suffix.split('\n').find((line) => line.trim().length > 1);
  if (next === undefined) return block;
  const known = block.indexOf(`\n${next}`);
  if (known >= 0) return block.slice(0, known);
  return block.startsWith(next) ? '' : block;
}
