import type { DocumentText, Position } from './document-text.ts';

export interface SuggestRequest {
  readonly document: DocumentText;
  readonly position: Position;
  /** `invoke`: the person asked by hand. `grown`: after `onDidGrow`; nothing is sent for it. */
  readonly trigger: 'automatic' | 'invoke' | 'grown';
  /** The IntelliSense item that is selected, and the columns of the caret's line that it replaces. */
  readonly selectedCompletion?: {
    readonly text: string;
    readonly startCharacter: number;
    readonly endCharacter: number;
  };
  /** Number of carets; default 1. */
  readonly carets?: number;
  /** Whether text is selected. */
  readonly selecting?: boolean;
  /** Used where the document itself doesn't tell; default two spaces. */
  readonly indentation?: { readonly insertSpaces: boolean; readonly tabSize: number };
}

export interface Suggestion {
  /** Names it in `accepted` and `dismissed`; the same while it shrinks and grows. */
  readonly id: number;
  /** With the document's own ends of line. */
  readonly insertText: string;
  /** Columns left and right of the caret, on its line, that `insertText` replaces. */
  readonly replaceBefore: number;
  readonly replaceAfter: number;
  /** Whether more of it is still on the way. */
  readonly growing: boolean;
  /** Whether the editor is to ask again at once when all of it was accepted, if only as by hand. */
  readonly asksOn: boolean;
}

/** An edit as VS Code tells it; several carets make several changes. */
export interface DocumentChange {
  readonly uri: string;
  readonly changes: readonly {
    readonly start: Position;
    readonly end: Position;
    readonly text: string;
  }[];
  readonly reason?: 'undo' | 'redo';
}
