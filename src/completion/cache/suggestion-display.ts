import type { CaretView } from '../document/caret-view.ts';
import type { Position } from '../document/document-text.ts';
import type { DocumentChange, Suggestion } from '../document/suggestion.ts';
import type { CachedAnswer } from './suggestion-cache.ts';

/** The suggestion that the person sees, as far as the engine can know. */
export interface DisplayedSuggestion {
  readonly answer: CachedAnswer;
  readonly uri: string;
  readonly position: Position;
  /** What is left of it, with LF. */
  readonly text: string;
  readonly replaceAfter: number;
  /** All of it was accepted. */
  readonly accepted: boolean;
}

const NOT_USED = { accepted: 0, used: false };
const PAIRS: ReadonlySet<string> = new Set(['()', '[]', '{}', '""', "''", '``', '<>']);

/** The characters of what is shown that a change put into the document: an insertion at its place, which is a start of it. */
function takenBy(change: DocumentChange, shown: DisplayedSuggestion): string {
  const [edit] = change.changes;
  if (edit === undefined || change.changes.length > 1 || change.uri !== shown.uri || change.reason !== undefined)
    return '';
  const { position, replaceAfter } = shown;
  if (edit.start.line !== position.line || edit.start.character > position.character) return '';
  if (edit.end.line !== position.line || edit.end.character < position.character) return '';
  if (edit.end.character > position.character + replaceAfter) return '';
  const text = edit.text.replaceAll('\r\n', '\n').slice(position.character - edit.start.character);
  return shown.text.startsWith(text) ? text : '';
}

/**
 * The characters that a change accepted of what is shown: more of it than a key gives. The command of an accepted
 * item would not tell of a part.
 */
function acceptedBy(change: DocumentChange, shown: DisplayedSuggestion): number {
  const text = takenBy(change, shown);
  if (text.length < 2 || PAIRS.has(text)) return 0;
  // Enter with the indentation that the editor adds is a key, not an acceptance.
  return /^\n\s*$/.test(text) ? 0 : text.length;
}

/** As the face gives it to the editor, in the place of what the list of suggestions has selected. */
export function displayedSuggestion(
  { answer, text, replaceAfter }: DisplayedSuggestion,
  { item, document }: CaretView,
  asksOn: boolean,
): Suggestion {
  const whole = (item?.text ?? '') + text;
  return {
    id: answer.id,
    insertText: document.eol === '\r\n' ? whole.replaceAll('\n', '\r\n') : whole,
    replaceBefore: item?.before ?? 0,
    replaceAfter: replaceAfter + (item?.after ?? 0),
    growing: !answer.done,
    asksOn,
  };
}

/** The one owner of what is on screen. */
export class SuggestionDisplay {
  #shown: DisplayedSuggestion | undefined;

  get answer(): CachedAnswer | undefined {
    return this.#shown?.answer;
  }

  /** Whether all of it was accepted: what follows it may come at once. */
  get wasAccepted(): boolean {
    return this.#shown?.accepted === true;
  }

  /** Whether an answer is there to be read. */
  has(answer: CachedAnswer): boolean {
    return this.#shown?.answer === answer && !this.#shown.accepted;
  }

  put(shown: DisplayedSuggestion | undefined): void {
    this.#shown = shown;
  }

  /** A document changed. `accepted`: characters that were accepted by it; `used`: nothing is left of what was shown. */
  changed(change: DocumentChange): { readonly accepted: number; readonly used: boolean } {
    const shown = this.#shown;
    if (shown === undefined || shown.accepted) {
      if (shown?.uri === change.uri) this.#shown = undefined;
      return NOT_USED;
    }
    const taken = takenBy(change, shown).length;
    // An editor leaves out of its edit what stands behind the caret already.
    const used = taken > 0 && shown.text.length - taken <= shown.replaceAfter;
    const accepted = acceptedBy(change, shown);
    if (accepted === 0) return { accepted, used };
    this.#shown = used ? { ...shown, accepted: true } : { ...shown, text: shown.text.slice(accepted) };
    return { accepted: used ? shown.text.length : accepted, used };
  }
}
