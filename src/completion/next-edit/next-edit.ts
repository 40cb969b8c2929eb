import type { Disposable } from '../../base/disposable-store.ts';
import type { TextRange } from '../../base/text-change.ts';
import type { DocumentText, Position } from '../document/document-text.ts';
import type { DocumentChange } from '../document/suggestion.ts';

/** Text of a document that is replaced. Lines and columns as in VS Code, line breaks of `text` and `expected` are LF. */
export interface Replacement extends TextRange {
  /** The text between `start` and `end`. If the document has another text there, nothing is changed. */
  readonly expected: string;
  readonly text: string;
}

export type NextEditOrigin = 'rename' | 'quick-fix' | 'same-edit' | 'model';

/** One suggestion. It is shown, accepted and rejected as a whole. */
export interface NextEdit {
  /** Stays the same while the edit is shortened by typing or moved by changes elsewhere. */
  readonly id: number;
  readonly origin: NextEditOrigin;
  readonly uri: string;
  /** Relative to its workspace folder, with `/`; absent: outside of all folders. */
  readonly path?: string;
  /** At least one. In the order of the document, without overlaps, at most 30 lines. */
  readonly replacements: readonly Replacement[];
  /** For the label, such as `rename to userId`. The front end writes it in the user's language. */
  readonly title: NextEditTitle;
  /** Number of further edits that follow after this one is accepted. */
  readonly following: number;
}

/** The values of the label. `name`: as written in the code. */
export type NextEditTitle =
  | { readonly kind: 'rename'; readonly name: string }
  /** The language's own title of the quick fix. */
  | { readonly kind: 'quick-fix'; readonly title: string }
  /** The first changed line after the change, without its indentation. */
  | { readonly kind: 'change'; readonly line: string }
  | { readonly kind: 'delete'; readonly lines: number };

/** The input of a source: the change that the user has finished, and the position of the cursor now. */
export interface FinishedEdit {
  readonly document: DocumentText;
  readonly position: Position;
  /** The lines that changed, before and after. `line`: the first one, in both. */
  readonly line: number;
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** Finds edits that follow from a finished one, without a model. Exact, or none. */
export interface NextEditSource {
  readonly origin: NextEditOrigin;
  /** In the order in which they are to be offered. Aborted by the next change of the user. */
  find(edit: FinishedEdit, signal: AbortSignal): Promise<readonly Omit<NextEdit, 'id' | 'following'>[]>;
}

/**
 * The engine of next edits as its front end uses it. The front end reports changes and the cursor, draws `current`, and
 * reports whether the user accepted or rejected it.
 */
export interface NextEditEngine extends Disposable {
  /** The edit to draw. It never turns into another one: it is undefined in between. */
  readonly current: NextEdit | undefined;
  /** Fires when `current` changes: another edit, a shorter or moved one, or none. */
  onDidChange(listener: (current: NextEdit | undefined) => void): Disposable;
  /** Before or after any change of a document. `document` is the text after the change. */
  documentChanged(change: DocumentChange, document: DocumentText): void;
  documentClosed(uri: string): void;
  /** The cursor of the active editor. `quiet`: several carets, a selection, a snippet or a diff editor: nothing is offered. */
  cursorMoved(document: DocumentText, position: Position, quiet: boolean): void;
  /** Ghost text is on screen: nothing is shown beside it. */
  ghostTextShown(shown: boolean): void;
  /** The user accepts: called before the front end changes the document. The next edit of the chain becomes `current`. */
  accepted(edit: NextEdit): void;
  /**
   * The user refused it: neither this edit nor another one for the same lines is offered until they have changed.
   *
   * @param edit undefined: it went while the key was on its way. Nothing is offered until the next change.
   */
  rejected(edit: NextEdit | undefined): void;
  /** The user asks for an edit now, by a command. Also asks models that are asked by hand only. */
  request(document: DocumentText, position: Position): Promise<void>;
}
