import type { InsertionContext } from '../answer/completion-trimmer.ts';
import { openElements } from '../answer/tail-alignment.ts';
import { type BracketScanner, fromDefinition, scanBracketsTo } from '../document/brackets.ts';
import type { CompletionModel } from '../document/completion-settings.ts';
import { type DocumentText, linesAfter, type Position, textHead, textTail } from '../document/document-text.ts';
import { commentLine, findLanguage, type Language } from '../document/languages.ts';
import { headingOf, type Snippet } from './context.ts';

/** Maximum text around the caret in characters: about 2,000 and 700 tokens of code. */
const PREFIX_CHARACTERS = 8_000;
const SUFFIX_CHARACTERS = 2_800;
const CONTEXT_CHARACTERS = 4_000;
/** Characters of code per token, a low estimate so that the window never exceeds the context length. */
const CHARACTERS_PER_TOKEN = 3;
/** Windows start and end at multiples of this, so that typing moves them only once in this many lines. */
const STEP_LINES = 32;
const STEP_CHARACTERS = 1_024;
/** Requested tokens: this times the maximum number of lines. */
const TOKENS_PER_LINE = 20;
const MIN_TOKENS = 48;
const MAX_TOKENS = 400;

/** Lines before and after the caret that an answer may repeat, and the characters of each that are compared. */
const LINES_ABOVE = 40;
const LINES_BELOW = 4;
const MAX_COMPARED = 1_000;

/** The text before and after a caret that is sent. */
export interface PromptWindow {
  readonly prefix: string;
  readonly suffix: string;
  /** True if the document has more text before, and after. */
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
 * Selects the part of the document for the prompt. The start is a line whose number is a multiple of
 * `STEP_LINES`. So is the end, but counted from the document's last line, so that new lines at the
 * caret do not move it. Consecutive prompts therefore differ only in the typed text.
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
    // The budget contains no multiple of STEP_LINES: accept a window that moves with each line.
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

/**
 * Context (the pieces of a file after a comment with its path), then the document's own path, then the other cells of a
 * notebook, then its text.
 *
 * @param withPath false: the format has the document's path elsewhere.
 */
export function promptPrefix(
  document: DocumentText,
  window: PromptWindow,
  snippets: readonly Snippet[],
  withPath = true,
): string {
  const language = findLanguage(document.languageId);
  const pathLine = (path: string) => `${commentLine(language, `Path: ${path}`)}\n`;
  const cells = snippets.filter(({ kind }) => kind === 'cell');
  let text = '';
  let last: string | undefined;
  for (const snippet of snippets) {
    if (snippet.kind === 'cell') continue;
    const heading = headingOf(snippet);
    if (heading !== last) {
      if (last !== undefined) text += '\n';
      text += snippet.note === undefined ? pathLine(heading) : `${commentLine(language, heading)}\n`;
    }
    const piece = snippet.text.trimEnd();
    text += `${snippet.note === undefined ? piece : commentLines(language, piece)}\n`;
    last = heading;
  }
  if (last !== undefined) text += '\n';
  const own = ownPath(document, cells);
  if (own !== undefined && withPath) text += pathLine(own);
  for (const { languageId = document.languageId, text: cell } of cells) {
    text += `${cell.trim() === '' ? '' : inLanguage(cell.trimEnd(), languageId, document.languageId)}\n\n`;
  }
  return text + window.prefix;
}

/** The path of the document; of a notebook if it is a cell. */
export function ownPath({ path }: DocumentText, snippets: readonly Snippet[]): string | undefined {
  return snippets.find(({ kind }) => kind === 'cell')?.path ?? path;
}

/** A cell of another language becomes a comment with its language. */
function inLanguage(text: string, languageId: string, own: string): string {
  if (languageId === own) return text;
  const language = findLanguage(own);
  return commentLines(language, `${languageId}\n${text}`);
}

function commentLines(language: Language, text: string): string {
  return text
    .split('\n')
    .map((line) => commentLine(language, line))
    .join('\n');
}

/** The surroundings that the answer must fit (completion-trimmer.ts). */
export function insertionContext(
  document: DocumentText,
  position: Position,
  window: PromptWindow,
  options: { readonly maxLines: number; readonly indentation?: InsertionContext['indentation'] },
): InsertionContext {
  const language = findLanguage(document.languageId);
  const head = textHead(document, position);
  const tail = textTail(document, position);
  const known = window.startsInside ? fromDefinition(window.prefix, language) : window.prefix;
  const before = scanBracketsTo(known, language, window.prefix.length < head.length);
  const after = before.mark().read(window.suffix);
  const opensBlock = before.readTail(tail).openedBrackets > 0;
  const outside = language.prose === true || window.startsInside || window.endsInside;
  return {
    language,
    head,
    tail,
    after: linesAfter(document, position.line),
    above: linesAbove(document, position.line),
    below: linesBelow(document, position.line),
    caret: before,
    has: (text) => window.prefix.includes(text) || window.suffix.includes(text),
    unclosed: outside ? Number.POSITIVE_INFINITY : Math.max(0, before.openBrackets - bracketExits(after)),
    singleLine:
      options.maxLines <= 1 ||
      hasCode(language.tags === true ? withoutEndTags(head, tail) : tail) ||
      opensBlock ||
      before.inside === '\n',
    maxLines: options.maxLines,
    beforeEndTag: hasCode(tail),
    indentation: detectIndentation(window, options.indentation ?? { insertSpaces: true, tabSize: 2 }),
  };
}

/** Maximum tokens and stop sequences, derived from how much can be shown. */
export function promptLimits(site: InsertionContext): {
  readonly maxTokens: number;
  readonly stop?: readonly string[];
} {
  if (site.singleLine) return { maxTokens: MIN_TOKENS, stop: ['\n'] };
  return { maxTokens: Math.min(MAX_TOKENS, Math.max(MIN_TOKENS, site.maxLines * TOKENS_PER_LINE)) };
}

/** The lines after a line that an answer may repeat. */
function linesBelow(document: DocumentText, line: number): readonly string[] {
  const lines: string[] = [];
  const end = Math.min(document.lineCount, line + 1 + LINES_ABOVE);
  for (let at = line + 1; at < end && lines.length < LINES_BELOW; at++) {
    const text = document.lineAt(at);
    if (text.trim() !== '') lines.push(text.slice(0, MAX_COMPARED));
  }
  return lines;
}

/** The tail without the end tags of elements that the caret is at the start of: the editor adds them. */
function withoutEndTags(head: string, tail: string): string {
  const name = /^<\/([\w.:-]*)>/.exec(tail)?.[1];
  if (name === undefined || !/(?:^|[^=/-])>$/.test(head)) return tail;
  const opener = head.slice(Math.max(0, head.lastIndexOf(`<${name}`)));
  return openElements(opener, name) === 1 ? tail.replace(/^(?:<\/[\w.:-]*>)+/, '') : tail;
}

/** The end of a comment that the editor closed is no code. */
function hasCode(tail: string): boolean {
  return /[^\s)\]}"'`>;,:{]/.test(tail.replace(/\*\/|-->|#>|-\}/, ''));
}

/** Number of brackets from before the mark that are closed. */
function bracketExits(scanner: BracketScanner): number {
  return scanner.exits.filter(({ kind }) => kind === 'bracket').length - scanner.surplus;
}

/** The lines before a line that an answer may repeat. */
function linesAbove(document: DocumentText, line: number): readonly string[] {
  const lines: string[] = [];
  for (let at = line - 1; at >= Math.max(0, line - LINES_ABOVE); at--) {
    const text = document.lineAt(at);
    if (text.trim() !== '') lines.push(text.slice(0, MAX_COMPARED));
  }
  return lines.reverse();
}

/** The indentation style of the lines around the caret; `usual` if they do not show one. */
function detectIndentation(
  { prefix, suffix }: PromptWindow,
  usual: InsertionContext['indentation'],
): InsertionContext['indentation'] {
  const near = prefix.slice(-2_000) + suffix.slice(0, 1_000);
  // Also the line of the caret, which may have nothing else.
  const tabs = (near.match(/^\t/gm) ?? []).length;
  const spaces = (near.match(/^ {2,}\S/gm) ?? []).length;
  if (tabs === spaces) return usual;
  return { insertSpaces: spaces > tabs, tabSize: spaces > tabs ? (detectStep(near) ?? usual.tabSize) : usual.tabSize };
}

/** The most frequent number of spaces by which a line is deeper than the line before it. */
function detectStep(text: string): number | undefined {
  const counts = new Map<number, number>();
  let previous = 0;
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue;
    const width = line.length - line.trimStart().length;
    const step = width - previous;
    if (step >= 2 && step <= 8) counts.set(step, (counts.get(step) ?? 0) + 1);
    previous = width;
  }
  let best: number | undefined;
  for (const [step, count] of counts) if (best === undefined || count > (counts.get(best) ?? 0)) best = step;
  return best;
}
