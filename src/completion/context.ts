import type { CompletionSettings } from './completion-settings.ts';
import type { DocumentText, Position } from './document-text.ts';

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

/**
 * The piece of `document` that has most words in common with `near` (Jaccard), by windows of 24
 * lines; `undefined` if none has any. Reads at most `lines` lines around `around`.
 */
export function mostAlike(
  document: DocumentText,
  near: string,
  around = 0,
  lines = 400,
): { readonly line: number; readonly text: string; readonly score: number } | undefined {
  const wanted = wordsOf(near);
  if (wanted.size === 0) return undefined;
  const from = Math.max(0, Math.floor((around - lines / 2) / PIECE_LINES) * PIECE_LINES);
  const to = Math.min(document.lineCount, from + lines);
  let best: { line: number; text: string; score: number } | undefined;
  for (let line = from; line < to; line += PIECE_LINES) {
    const piece: string[] = [];
    for (let i = line; i < Math.min(to, line + PIECE_LINES); i++) piece.push(document.lineAt(i).slice(0, 400));
    const text = piece.join('\n');
    const score = alike(wanted, wordsOf(text));
    if (score > 0 && score > (best?.score ?? 0)) best = { line, text, score };
  }
  return best;
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
