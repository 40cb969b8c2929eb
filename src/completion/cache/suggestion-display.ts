import type { CaretView } from '../document/caret-view.ts';
import type { Position } from '../document/document-text.ts';
import type { DocumentChange, Suggestion } from '../document/suggestion.ts';
import type { CachedAnswer } from './suggestion-cache.ts';

/** The suggestion on screen, as far as the engine can know. */
export interface DisplayedSuggestion {
  readonly answer: CachedAnswer;
  readonly uri: string;
  readonly position: Position;
  /** The remaining text, with LF. */
  readonly text: string;
  /** Number of characters of the indentation that `text` replaces, on a line that is blank so far. */
  readonly replaceBefore: number;
  readonly replaceAfter: number;
  /** The user accepted all of it. */
  readonly accepted: boolean;
}

const NOT_USED = { accepted: 0, used: false };
const CLOSER = /^[)\]}]/;
const PAIRS: ReadonlySet<string> = new Set(['()', '[]', '{}', '""', "''", '``', '<>']);

/** The part of the suggestion that a change inserted: an insertion at its position that it starts with. */
function insertedBy(change: DocumentChange, shown: DisplayedSuggestion): string {
  const [edit] = change.changes;
  if (edit === undefined || change.changes.length > 1 || change.uri !== shown.uri || change.reason !== undefined)
    return '';
  const { position, replaceBefore, replaceAfter } = shown;
  if (edit.start.line !== position.line || edit.start.character > position.character) return '';
  if (edit.end.line !== position.line || edit.end.character < position.character) return '';
  if (edit.end.character > position.character + replaceAfter) return '';
  const whole = edit.text.replaceAll('\r\n', '\n');
  // An edit that starts before the text repeats the characters before it.
  const ahead = position.character - replaceBefore - edit.start.character;
  const text = ahead < 0 ? shown.text.slice(0, -ahead) + whole : whole.slice(ahead);
  return shown.text.startsWith(text) ? text : '';
}

/**
 * The number of characters that a change accepted: more than one key press inserts. The command of an accepted
 * item cannot be used instead, because VS Code does not run it for partial acceptance.
 */
function countAccepted(change: DocumentChange, shown: DisplayedSuggestion): number {
  const inserted = insertedBy(change, shown);
  // The editor may correct the indentation at a key press.
  const text = shown.replaceBefore > 0 ? inserted.trimStart() : inserted;
  if (text.length < 2 || PAIRS.has(text)) return 0;
  // Enter with the automatic indentation is a key press, not an acceptance.
  return /^\n\s*$/.test(text) ? 0 : inserted.length;
}

/** The suggestion in the form for the editor. It replaces the item selected in the suggestion list. */
export function displayedSuggestion(
  { answer, text, replaceBefore, replaceAfter }: DisplayedSuggestion,
  { item, document, position }: CaretView,
  continues: boolean,
): Suggestion {
  // When a closer is typed, VS Code replaces the indentation before it, and drops a suggestion that starts behind it.
  const head =
    CLOSER.test(text) && item === undefined ? document.lineAt(position.line).slice(0, position.character) : '';
  const indentation = head.trim() === '' ? head : '';
  const whole = indentation + (item?.text ?? '') + text;
  return {
    id: answer.id,
    insertText: document.eol === '\r\n' ? whole.replaceAll('\n', '\r\n') : whole,
    replaceBefore: replaceBefore + indentation.length + (item?.before ?? 0),
    replaceAfter: replaceAfter + (item?.after ?? 0),
    growing: !answer.done,
    requestAfterAccept: continues,
  };
}

/** Owns the suggestion on screen. */
export class SuggestionDisplay {
  #shown: DisplayedSuggestion | undefined;

  get answer(): CachedAnswer | undefined {
    return this.#shown?.answer;
  }

  /** True if all of it was accepted: the next suggestion needs no delay. */
  get wasAccepted(): boolean {
    return this.#shown?.accepted === true;
  }

  /** True if the answer is visible. */
  has(answer: CachedAnswer): boolean {
    return this.#shown?.answer === answer && !this.#shown.accepted;
  }

  put(shown: DisplayedSuggestion | undefined): void {
    this.#shown = shown;
  }

  /** Handles a document change. `accepted`: number of accepted characters; `used`: nothing of the suggestion is left. */
  changed(change: DocumentChange): { readonly accepted: number; readonly used: boolean } {
    const shown = this.#shown;
    if (shown === undefined || shown.accepted) {
      if (shown?.uri === change.uri) this.#shown = undefined;
      return NOT_USED;
    }
    const inserted = insertedBy(change, shown).length;
    // VS Code omits text from the edit that is already after the caret.
    const used = inserted > 0 && shown.text.length - inserted <= shown.replaceAfter;
    const accepted = countAccepted(change, shown);
    if (accepted === 0) return { accepted, used };
    if (used) shown.answer.accepted = shown.answer.text.length;
    this.#shown = used ? { ...shown, accepted: true } : { ...shown, text: shown.text.slice(accepted) };
    return { accepted: used ? shown.text.length : accepted, used };
  }
}
