import type { TextChange } from '../../base/text-change.ts';
import type { DocumentText, Position } from './document-text.ts';

export interface SuggestRequest {
  readonly document: DocumentText;
  readonly position: Position;
  /** `invoke`: a manual request. `grown`: a refresh after `onDidGrow`, which sends no request. */
  readonly trigger: 'automatic' | 'invoke' | 'grown';
  /** The selected IntelliSense item, and the columns of the caret's line that it replaces. */
  readonly selectedCompletion?: {
    readonly text: string;
    readonly startCharacter: number;
    readonly endCharacter: number;
  };
  /** Number of carets; default 1. */
  readonly carets?: number;
  /** True if text is selected. */
  readonly selecting?: boolean;
  /** Used if the document has no indentation yet; default: two spaces. */
  readonly indentation?: { readonly insertSpaces: boolean; readonly tabSize: number };
}

export interface Suggestion {
  /** Identifies the suggestion. Stays the same while it shrinks and grows. */
  readonly id: number;
  /** With the document's line endings. */
  readonly insertText: string;
  /** Columns left and right of the caret, on its line, that `insertText` replaces. */
  readonly replaceBefore: number;
  readonly replaceAfter: number;
  /** True while the answer is still streaming. */
  readonly growing: boolean;
  /** True if the editor should request again (with a manual trigger) as soon as all of it was accepted. */
  readonly requestAfterAccept: boolean;
}

/** An edit as reported by VS Code. Several carets make several changes. */
export interface DocumentChange {
  readonly uri: string;
  readonly changes: readonly TextChange[];
  readonly reason?: 'undo' | 'redo';
}
