import type { CompletionSettings } from '../document/completion-settings.ts';
import type { DocumentText, Position } from '../document/document-text.ts';

/** A piece of another file, or of another notebook cell, that is sent as context. */
export interface Snippet {
  readonly kind:
    | 'declaration'
    | 'open-tab'
    | 'visited'
    | 'copied'
    | 'recent-edit'
    | 'problem'
    | 'terminal'
    | 'expected'
    | 'cell';
  /** Relative to the workspace. Written in a comment above the piece. */
  readonly path: string;
  /** 0-based line of the piece in its file, for a stable order; of a cell, its number. */
  readonly line: number;
  readonly text: string;
  /**
   * Absent: the text is code of the file. Otherwise it is written as comments after this word, and last, because it
   * changes often.
   */
  readonly note?: string;
  /** How likely the next line needs it: 1 for imports of the file, 2 for names near the caret. Absent: 1. */
  readonly score?: number;
  /** Language of a cell. */
  readonly languageId?: string;
}

/**
 * Finds context. Results that arrive too late are used for the next request. Should stop when `signal` fires.
 *
 * @param report is called with the snippets that are known so far, before the others are.
 */
export type ContextSource = (
  place: { readonly document: DocumentText; readonly position: Position },
  wanted: CompletionSettings['context'],
  signal: AbortSignal,
  report: (snippets: readonly Snippet[]) => void,
) => Promise<readonly Snippet[]>;

const KINDS: readonly Snippet['kind'][] = [
  'declaration',
  'open-tab',
  'visited',
  'copied',
  'recent-edit',
  'terminal',
  'problem',
  'expected',
  'cell',
];
/** Length of a path comment without the path. */
const PATH_CHARACTERS = 12;
/** Snippets that are less likely needed are not added to a prompt that is in a cache. */
const ADDED_SCORE = 1.5;

/**
 * Chooses the most likely needed snippets for which there is room, in a stable order: those that change least come first,
 * so that consecutive prompts start with the same bytes and providers can use their prompt cache.
 *
 * @param held the snippets of the last prompt, which keep their place. New ones follow them. Notes and cells are chosen
 * anew: a cell has another number when one before it is added or deleted.
 */
export function chooseSnippets(
  candidates: readonly Snippet[],
  room: number,
  held: readonly Snippet[] = [],
): readonly Snippet[] {
  const current = new Map(candidates.map((snippet) => [keyOf(snippet), snippet]));
  const isHeld = ({ kind, note }: Snippet) => note === undefined && kind !== 'cell';
  const kept = held.filter(isHeld).map((snippet) => current.get(keyOf(snippet)) ?? snippet);
  const seen = new Set(kept.map(({ text }) => text));
  const paths = new Set(kept.map(({ path }) => path));
  let left = room - kept.reduce((sum, { text }) => sum + text.length + 1, 0);
  for (const path of paths) left -= path.length + PATH_CHARACTERS;
  const added: Snippet[] = [];
  const ranked = candidates
    .filter(({ note, score = 1 }) => note !== undefined || kept.length === 0 || score >= ADDED_SCORE)
    .sort((a, b) => (b.score ?? 1) - (a.score ?? 1));
  for (const snippet of ranked) {
    const { path, text } = snippet;
    const cost = text.length + 1 + (paths.has(path) ? 0 : path.length + PATH_CHARACTERS);
    if (cost > left || text.trim() === '' || seen.has(text)) continue;
    if (kept.some((each) => keyOf(each) === keyOf(snippet))) continue;
    left -= cost;
    paths.add(path);
    seen.add(text);
    added.push(snippet);
  }
  const isNote = ({ note }: Snippet) => (note === undefined ? 0 : 1);
  return [...kept, ...added.sort((a, b) => isNote(a) - isNote(b) || inStableOrder(a, b))];
}

function inStableOrder(a: Snippet, b: Snippet): number {
  return KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind) || compare(a.path, b.path) || a.line - b.line;
}

function keyOf({ kind, path, line }: Snippet): string {
  return `${kind} ${line} ${path}`;
}

const PIECE_LINES = 24;
/** Limits for reading a file from its start: its words are collected between two key presses. */
const MAX_LINES = 400;
const MAX_CHARACTERS = 24_000;
/** The rest of a longer line is ignored as data. */
const MAX_LINE_WIDTH = 200;

interface Piece {
  readonly line: number;
  readonly text: string;
  readonly words: ReadonlySet<string>;
}

interface Found {
  /** 0-based first line. */
  readonly line: number;
  readonly text: string;
  /** Share of common words, greater than 0 and at most 1. */
  readonly score: number;
}

/**
 * Finds the piece of another file that is most similar to the text before the caret: windows of 24 lines, compared by
 * common words (Jaccard index). The words of a file are collected once per version, since each request needs them.
 */
export class SimilarSnippets {
  readonly #known = new Map<string, { readonly version: number; readonly pieces: readonly Piece[] }>();
  readonly #most: number;

  /** @param most maximum number of cached files. */
  constructor(most: number) {
    this.#most = most;
  }

  /** The best piece of each document that has a word in common with `near`. */
  find<D extends DocumentText>(documents: readonly D[], near: string): (Found & { readonly document: D })[] {
    const wanted = collectWords(near);
    return documents.flatMap((document) => {
      let best: Found | undefined;
      for (const { line, text, words } of this.#splitIntoPieces(document)) {
        const score = similarity(wanted, words);
        if (score > (best?.score ?? 0)) best = { line, text, score };
      }
      return best ? [{ ...best, document }] : [];
    });
  }

  #splitIntoPieces(document: DocumentText): readonly Piece[] {
    const { uri, version } = document;
    const known = this.#known.get(uri);
    const pieces = known?.version === version ? known.pieces : cut(document);
    this.#known.delete(uri);
    this.#known.set(uri, { version, pieces });
    const [oldest] = this.#known.keys();
    if (this.#known.size > this.#most && oldest !== undefined) this.#known.delete(oldest);
    return pieces;
  }
}

function cut(document: DocumentText): readonly Piece[] {
  const pieces: Piece[] = [];
  const to = Math.min(document.lineCount, MAX_LINES);
  let characters = 0;
  for (let line = 0; line < to && characters < MAX_CHARACTERS; line += PIECE_LINES) {
    const lines: string[] = [];
    for (let at = line; at < Math.min(to, line + PIECE_LINES); at++)
      lines.push(document.lineAt(at).slice(0, MAX_LINE_WIDTH));
    const text = lines.join('\n');
    characters += text.length;
    pieces.push({ line, text, words: collectWords(text) });
  }
  return pieces;
}

function similarity(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let shared = 0;
  for (const word of b) if (a.has(word)) shared++;
  return shared === 0 ? 0 : shared / (a.size + b.size - shared);
}

function collectWords(text: string): Set<string> {
  return new Set(text.match(/[\p{L}_$][\p{L}\p{N}_$]{2,}/gu) ?? []);
}

/** The line above a piece, without the mark of a comment. */
export function headingOf({ note, path }: Snippet): string {
  return note === undefined ? path : `${note}: ${path}`;
}

/** A piece and its reason. */
export function describeSnippet({ kind, path, line }: Snippet): string {
  return `${path}:${line + 1} (${kind})`;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
