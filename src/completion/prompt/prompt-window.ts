import type { InsertionContext } from '../answer/completion-trimmer.ts';
import { BracketScanner, scanBracketsTo } from '../document/brackets.ts';
import type { CompletionModel } from '../document/completion-settings.ts';
import {
  type DocumentText,
  nextFilledLine,
  type Position,
  previousFilledLine,
  textHead,
  textTail,
} from '../document/document-text.ts';
import { commentLine, findLanguage } from '../document/languages.ts';
import type { Snippet } from './context.ts';

/** The most that is taken around the caret, in characters; about 2,000 and 700 tokens of code. */
const PREFIX_CHARACTERS = 8_000;
const SUFFIX_CHARACTERS = 2_800;
const CONTEXT_CHARACTERS = 4_000;
/** Characters of code to a token, estimated low so that a window never overflows. */
const CHARACTERS_PER_TOKEN = 3;
/** Windows start and end at multiples of this, so that typing moves them once in this many lines. */
const STEP_LINES = 32;
const STEP_CHARACTERS = 1_024;
/** Tokens asked for: a line's worth, times lines. */
const TOKENS_PER_LINE = 20;
const LEAST_TOKENS = 48;
const MOST_TOKENS = 400;

/** The window before and behind a caret. */
export interface PromptWindow {
  readonly prefix: string;
  readonly suffix: string;
  /** Whether the document goes on before and behind. */
  readonly startsInside: boolean;
  readonly endsInside: boolean;
}

export interface PromptBudget {
  readonly prefix: number;
  readonly suffix: number;
  readonly context: number;
}

export function promptBudget(model: CompletionModel): PromptBudget {
  const room = model.contextTokens === 0 ? Number.POSITIVE_INFINITY : model.contextTokens * CHARACTERS_PER_TOKEN * 0.8;
  const share = Math.min(1, room / (PREFIX_CHARACTERS + SUFFIX_CHARACTERS + CONTEXT_CHARACTERS));
  return {
    prefix: Math.floor(PREFIX_CHARACTERS * share),
    suffix: Math.floor(SUFFIX_CHARACTERS * share),
    context: Math.floor(CONTEXT_CHARACTERS * share),
  };
}

/**
 * What of the document goes into the prompt. The start is at a line whose number is a multiple of
 * `STEP_LINES`; the end too, counted from the document's last line so that lines typed at the caret
 * don't move it. Consecutive prompts so share all but what was typed.
 */
export function windowAround(document: DocumentText, position: Position, budget: PromptBudget): PromptWindow {
  const first = windowStart(document, position, budget.prefix);
  const last = windowEnd(document, position, budget.suffix);
  const prefix: string[] = [];
  for (let line = first.line; line < position.line; line++) prefix.push(document.lineAt(line));
  prefix.push(textHead(document, position));
  const suffix = [textTail(document, position)];
  for (let line = position.line + 1; line <= last.line; line++) suffix.push(document.lineAt(line));
  return {
    prefix: prefix.join('\n').slice(first.character),
    suffix: suffix.join('\n').slice(0, last.characters),
    startsInside: first.line > 0 || first.character > 0,
    endsInside: last.line < document.lineCount - 1 || last.characters !== undefined,
  };
}

function windowStart(document: DocumentText, position: Position, budget: number): Position {
  let room = budget - position.character;
  if (room < 0) return { line: position.line, character: stepUp(position.character - budget) };
  let start = position.line;
  for (let line = position.line - 1; line >= 0; line--) {
    room -= document.lineAt(line).length + 1;
    if (room < 0) break;
    if (line % STEP_LINES === 0) start = line;
    // Nothing to step at within the budget: rather a window that moves than none.
    else if (start === position.line && room < budget / 4) return { line, character: 0 };
  }
  return { line: start, character: 0 };
}

function windowEnd(
  document: DocumentText,
  position: Position,
  budget: number,
): { readonly line: number; readonly characters: number | undefined } {
  const tail = document.lineAt(position.line).length - position.character;
  if (tail > budget) return { line: position.line, characters: stepUp(budget) };
  let room = budget - tail;
  let end = position.line;
  for (let line = position.line + 1; line < document.lineCount; line++) {
    room -= document.lineAt(line).length + 1;
    if (room < 0) break;
    if ((document.lineCount - 1 - line) % STEP_LINES === 0 || room < budget / 4) end = line;
  }
  return { line: end, characters: undefined };
}

function stepUp(character: number): number {
  return Math.ceil(character / STEP_CHARACTERS) * STEP_CHARACTERS;
}

/** Context, each piece headed by its path in a comment, then the document's own path, then its text. */
export function promptPrefix(
  document: DocumentText,
  window: PromptWindow,
  snippets: readonly Snippet[],
  room: number,
): string {
  const language = findLanguage(document.languageId);
  const pieces: string[] = [];
  let left = room;
  for (const { path, text } of snippets) {
    const piece = `${commentLine(language, `Path: ${path}`)}\n${text.trimEnd()}\n\n`;
    if (piece.length > left) continue;
    left -= piece.length;
    pieces.push(piece);
  }
  const own = document.path === undefined ? '' : `${commentLine(language, `Path: ${document.path}`)}\n`;
  return pieces.join('') + own + window.prefix;
}

/** What the answer will have to fit (stop.ts). */
export function insertionContext(
  document: DocumentText,
  position: Position,
  window: PromptWindow,
  options: { readonly maxLines: number; readonly indentation?: InsertionContext['indentation'] },
): InsertionContext {
  const language = findLanguage(document.languageId);
  const head = textHead(document, position);
  const tail = textTail(document, position);
  const before = scanBracketsTo(window.prefix, language, window.prefix.length < head.length);
  const behind = new BracketScanner(language, before.inside).read(window.suffix.replace(/^[)\]}"'`]+/, ''));
  const outside = language.prose === true || window.startsInside || window.endsInside;
  const below = nextFilledLine(document, position.line);
  const belowIt = below === undefined ? undefined : secondFilledLine(document, position.line);
  return {
    language,
    head,
    tail,
    above: previousFilledLine(document, position.line),
    below: [below, belowIt].filter((line) => line !== undefined),
    inside: before.inside,
    unclosed: outside ? Number.POSITIVE_INFINITY : Math.max(0, before.waiting.length - behind.unmatched.length),
    singleLine: options.maxLines <= 1 || hasCode(tail) || inLineComment(language.line, head),
    maxLines: options.maxLines,
    indentation: indentationOf(window.prefix, options.indentation ?? { insertSpaces: true, tabSize: 2 }),
  };
}

/** Tokens to ask for and where the upstream should stop, for what can be shown at most. */
export function promptLimits(site: InsertionContext): {
  readonly maxTokens: number;
  readonly stop?: readonly string[];
} {
  if (site.singleLine) return { maxTokens: LEAST_TOKENS, stop: ['\n'] };
  return { maxTokens: Math.min(MOST_TOKENS, Math.max(LEAST_TOKENS, site.maxLines * TOKENS_PER_LINE)) };
}

function secondFilledLine(document: DocumentText, line: number): string | undefined {
  let next = line + 1;
  while (next < document.lineCount && document.lineAt(next).trim() === '') next++;
  return nextFilledLine(document, next);
}

function hasCode(tail: string): boolean {
  return /[^\s)\]}"'`>;,:{]/.test(tail);
}

function inLineComment(start: string | undefined, head: string): boolean {
  return start !== undefined && head.trimStart().startsWith(start) && head.trim().length > start.length;
}

/** How the lines before the caret are indented; `usual` where they don't tell. */
function indentationOf(prefix: string, usual: InsertionContext['indentation']): InsertionContext['indentation'] {
  const near = prefix.slice(-2_000);
  const tabs = (near.match(/^\t+\S/gm) ?? []).length;
  const spaces = (near.match(/^ {2,}\S/gm) ?? []).length;
  if (tabs === spaces) return usual;
  return { insertSpaces: spaces > tabs, tabSize: usual.tabSize };
}
