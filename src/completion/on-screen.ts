import type { Position } from './document-text.ts';
import type { DocumentChange } from './suggestion.ts';
import type { Answer } from './suggestion-cache.ts';

/** The suggestion that the person sees, as far as the engine can know. */
export interface Shown {
  readonly answer: Answer;
  readonly uri: string;
  readonly position: Position;
  /** What is left of it, with LF. */
  readonly text: string;
  readonly replaceAfter: number;
  /** Its command told that all of it was accepted. */
  readonly accepted: boolean;
}

const PAIRS: ReadonlySet<string> = new Set(['()', '[]', '{}', '""', "''", '``', '<>']);

/**
 * The characters that a change accepted of what is shown: an insertion at its place of more than a
 * key gives, which is a start of it. VS Code tells of no partial acceptance in another way.
 */
export function acceptedBy(change: DocumentChange, shown: Shown): number {
  const [edit] = change.changes;
  if (edit === undefined || change.changes.length > 1 || change.uri !== shown.uri || change.reason !== undefined)
    return 0;
  const { position, replaceAfter } = shown;
  if (edit.start.line !== position.line || edit.start.character > position.character) return 0;
  if (edit.end.line !== position.line || edit.end.character < position.character) return 0;
  if (edit.end.character > position.character + replaceAfter) return 0;
  const text = edit.text.replaceAll('\r\n', '\n').slice(position.character - edit.start.character);
  if (text.length < 2 || PAIRS.has(text) || !shown.text.startsWith(text)) return 0;
  // Enter with the indentation that the editor adds is a key, not an acceptance.
  return /^\n\s*$/.test(text) ? 0 : text.length;
}
