import type { CompletionSettings } from '../document/completion-settings.ts';
import type { DocumentText, Position } from '../document/document-text.ts';

/** A piece of another file, or of another cell, that helps to fill the hole. */
export interface Snippet {
  readonly kind: 'import' | 'recent-edit' | 'open-tab' | 'cell';
  /** Relative to the workspace; named in a comment above the piece. */
  readonly path: string;
  /** 0-based line of the piece in its file, for a stable order. */
  readonly line: number;
  readonly text: string;
}

/** Finds context. What isn't there when its time is up goes without; it should stop when `signal` fires. */
export type ContextSource = (
  place: { readonly document: DocumentText; readonly position: Position },
  wanted: CompletionSettings['context'],
  signal: AbortSignal,
) => Promise<readonly Snippet[]>;

const KINDS: Readonly<Record<Snippet['kind'], number>> = { import: 0, cell: 1, 'open-tab': 2, 'recent-edit': 3 };

/**
 * The order that snippets are sent in: what changes least comes first, so that the head of
 * consecutive prompts stays the same byte for byte.
 */
export function inStableOrder(snippets: readonly Snippet[]): Snippet[] {
  const seen = new Set<string>();
  return [...snippets]
    .sort((a, b) => KINDS[a.kind] - KINDS[b.kind] || compare(a.path, b.path) || a.line - b.line)
    .filter(({ text }) => {
      const fresh = text.trim() !== '' && !seen.has(text);
      seen.add(text);
      return fresh;
    });
}

const PIECE_LINES = 24;
/** Of a file, from its start. Its words are counted between two keys. */
const MOST_LINES = 400;
const MOST_CHARACTERS = 24_000;
/** Of a line: what is wider is data. */
const MOST_WIDTH = 200;

interface Piece {
  readonly line: number;
  readonly text: string;
  readonly words: ReadonlySet<string>;
}

interface Found {
  /** 0-based line where it starts. */
  readonly line: number;
  readonly text: string;
  /** Share of words in common, above 0 to 1. */
  readonly score: number;
}

/**
 * Finds the piece of another file that is most like what stands before the caret: windows of 24 lines, by words in
 * common (Jaccard). A file is cut into words once for each of its versions, since it is asked about with every request.
 */
export class SimilarSnippets {
  readonly #known = new Map<string, { readonly version: number; readonly pieces: readonly Piece[] }>();
  readonly #most: number;

  /** @param most files that are remembered. */
  constructor(most: number) {
    this.#most = most;
  }

  /** One for each document that has any word in common with `near`. */
  find<D extends DocumentText>(documents: readonly D[], near: string): (Found & { readonly document: D })[] {
    const wanted = wordsOf(near);
    return documents.flatMap((document) => {
      let best: Found | undefined;
      for (const { line, text, words } of this.#piecesOf(document)) {
        const score = alike(wanted, words);
        if (score > (best?.score ?? 0)) best = { line, text, score };
      }
      return best ? [{ ...best, document }] : [];
    });
  }

  #piecesOf(document: DocumentText): readonly Piece[] {
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
  const to = Math.min(document.lineCount, MOST_LINES);
  let characters = 0;
  for (let line = 0; line < to && characters < MOST_CHARACTERS; line += PIECE_LINES) {
    const lines: string[] = [];
    for (let at = line; at < Math.min(to, line + PIECE_LINES); at++)
      lines.push(document.lineAt(at).slice(0, MOST_WIDTH));
    const text = lines.join('\n');
    characters += text.length;
    pieces.push({ line, text, words: wordsOf(text) });
  }
  return pieces;
}

function alike(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let shared = 0;
  for (const word of b) if (a.has(word)) shared++;
  return shared === 0 ? 0 : shared / (a.size + b.size - shared);
}

function wordsOf(text: string): Set<string> {
  return new Set(text.match(/[\p{L}_$][\p{L}\p{N}_$]{2,}/gu) ?? []);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
