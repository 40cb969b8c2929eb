import { type DocumentText, type Position, textBefore, textHead, textTail } from './document-text.ts';

/**
 * Identifies a position for suggestions: the text above a line, and the text from the start of that
 * line to the caret. It has no offsets, so edits elsewhere in the document do not change it.
 */
export interface Anchor {
  /** Up to `ANCHOR` characters before the start. */
  readonly anchor: string;
  /** From the start to the caret. */
  readonly typed: string;
}

const ANCHOR = 120;
const SUFFIX_KEY = 64;
/** Lines are split into pieces of this many characters, to keep keys small on very long lines. */
const PIECE = 1000;

/** The anchor under which an answer for this position is stored. */
export function anchorAt(document: DocumentText, position: Position): Anchor {
  return startAt(document, position, pieceStart(position.character));
}

/**
 * All anchors under which an answer that agrees with the text here can be stored: on this line and
 * on up to `span` lines above.
 */
export function* isAnchorBefore(document: DocumentText, position: Position, span: number): Generator<Anchor> {
  const piece = pieceStart(position.character);
  yield startAt(document, position, piece);
  if (piece > 0) {
    yield startAt(document, position, piece - PIECE);
    return;
  }
  let typed = textHead(document, position);
  for (let line = position.line - 1; line >= Math.max(0, position.line - span); line--) {
    const text = document.lineAt(line);
    if (text.length >= 2 * PIECE) return;
    typed = `${text}\n${typed}`;
    yield { anchor: textBefore(document, { line, character: 0 }, ANCHOR), typed };
  }
}

/**
 * The text after the caret, without closers directly after it: the editor inserts and removes those
 * automatically, and this must not invalidate a cached answer.
 */
export function suffixKey(document: DocumentText, position: Position): string {
  let key = withoutClosers(textTail(document, position).slice(0, PIECE));
  const end = Math.min(document.lineCount, position.line + 40);
  for (let line = position.line + 1; line < end && key.length < SUFFIX_KEY; line++) {
    const text = document.lineAt(line).slice(0, PIECE).trim();
    if (text === '') continue;
    key += key === '' ? withoutClosers(text) : `\n${text}`;
  }
  return key.slice(0, SUFFIX_KEY);
}

function withoutClosers(text: string): string {
  return text.replace(/^[\s)\]}"'`>;,]+/, '').trimEnd();
}

function startAt(document: DocumentText, position: Position, character: number): Anchor {
  return {
    anchor: textBefore(document, { line: position.line, character }, ANCHOR),
    typed: document.lineAt(position.line).slice(character, position.character),
  };
}

function pieceStart(character: number): number {
  return Math.max(0, (Math.floor(character / PIECE) - 1) * PIECE);
}
