import { equalEnds } from '../../base/text-change.ts';
import type { DocumentText, Position } from '../document/document-text.ts';
import type { DocumentChange } from '../document/suggestion.ts';
import type { Snippet } from '../prompt/context.ts';
import { isOutput, type NotSent } from '../trigger/trigger.ts';
import { EditHistory, type HistoryEdit } from './edit-history.ts';
import type { FinishedEdit } from './next-edit.ts';
import { type TrackedChange, TrackedDocument } from './tracked-document.ts';

/** Number of documents whose lines are kept. */
const DOCUMENTS = 24;
/** A longer document has no next edits. */
const MAX_LINES = 200_000;

/** Lines around an edit that are sent as context, and characters of each. */
const AROUND = 4;
const MAX_WIDTH = 400;

interface EditedSnippet extends Snippet {
  readonly uri: string;
  /** The line of the edit. */
  readonly edited: number;
}

/** The lines of the documents in which the user works, and the history of their edits. Excluded files never enter. */
export class EditTracker {
  readonly history = new EditHistory();
  readonly #documents = new Map<string, TrackedDocument>();
  readonly #excluded: ((uri: string) => NotSent | undefined) | undefined;

  constructor(excluded?: (uri: string) => NotSent | undefined) {
    this.#excluded = excluded;
  }

  /** Starts to follow a document, before its first change. */
  open(document: DocumentText): void {
    if (this.#documents.has(document.uri) || !this.#follows(document)) return;
    this.#documents.set(document.uri, new TrackedDocument(document));
    const [oldest] = this.#documents.keys();
    if (this.#documents.size > DOCUMENTS && oldest !== undefined) this.close(oldest);
  }

  close(uri: string): void {
    this.#documents.delete(uri);
    this.history.forget(uri);
  }

  document(uri: string): DocumentText | undefined {
    return this.#documents.get(uri)?.document;
  }

  /** The text around the recent edits in other files, latest first. */
  snippets(uri: string, most: number): readonly EditedSnippet[] {
    const found: EditedSnippet[] = [];
    for (const place of this.history.places()) {
      const tracked = this.#documents.get(place.uri);
      const path = tracked?.document.path;
      const known = found.some((each) => each.uri === place.uri && Math.abs(each.edited - place.line) <= AROUND * 2);
      if (tracked === undefined || path === undefined || place.uri === uri || known) continue;
      const line = Math.max(0, place.line - AROUND);
      const lines = tracked.lines.slice(line, place.line + AROUND + 1);
      const text = lines.map((each) => each.slice(0, MAX_WIDTH)).join('\n');
      found.push({ kind: 'recent-edit', uri: place.uri, path, line, text, edited: place.line });
      if (found.length === most) break;
    }
    return found;
  }

  /** Returns false if the change is not known: the document was not followed until now. */
  apply(
    change: DocumentChange,
    document: DocumentText,
    { time, predicted }: { readonly time: number; readonly predicted: boolean },
    applied: (change: TrackedChange) => void,
  ): boolean {
    const { uri } = document;
    if (!this.#follows(document)) {
      this.close(uri);
      return false;
    }
    const tracked = this.#documents.get(uri);
    if (tracked === undefined) {
      this.open(document);
      this.#touch(change, time);
      return false;
    }
    const known = tracked.apply(change, document, (each) => {
      // For example, an item of the suggestion list replaces a word by the same word.
      if (each.removed === each.text) return;
      this.history.record(uri, each, tracked.lines, { time, predicted });
      applied(each);
    });
    if (!known) {
      this.history.forget(uri);
      this.#touch(change, time);
    }
    return known;
  }

  /** The last edit in a document, without the lines that it did not change. Undefined: none, or it changed nothing. */
  finished({ document, position }: { readonly document: DocumentText; readonly position: Position }) {
    const edit = this.history.finished(document.uri);
    return edit === undefined ? undefined : finishedEdit(edit, document, position);
  }

  #touch({ uri, changes: [change] }: DocumentChange, time: number): void {
    if (change !== undefined) this.history.touch(uri, change.start.line, time);
  }

  #follows({ uri, lineCount }: DocumentText): boolean {
    return lineCount <= MAX_LINES && !isOutput(uri) && this.#excluded?.(uri) === undefined;
  }
}

function finishedEdit(edit: HistoryEdit, document: DocumentText, position: Position): FinishedEdit | undefined {
  const { before, after } = edit;
  const { head: from, tail: to } = equalEnds(before, after);
  if (from + to >= Math.max(before.length, after.length)) return undefined;
  return {
    document,
    position,
    line: edit.at + from,
    before: before.slice(from, before.length - to),
    after: after.slice(from, after.length - to),
  };
}
