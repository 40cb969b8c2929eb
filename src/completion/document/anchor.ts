import { type DocumentText, type Position, textBefore, textHead, textTail } from './document-text.ts';

/**
 * Where suggestions are known by: what is above a line, and the text from the start of that line
 * to the caret. It holds no offsets, so edits elsewhere in the document don't move it.
 */
export interface Anchor {
  /** Up to `ANCHOR` characters before the start. */
  readonly anchor: string;
  /** From the start to the caret. */
  readonly typed: string;
}

const ANCHOR = 120;
const SUFFIX_KEY = 64;
/** A line is cut in pieces of this many characters, so that keys stay small on very long lines. */
const PIECE = 1000;

/** The start that an answer asked for here is filed under. */
export function anchorAt(document: DocumentText, position: Position): Anchor {
  return startAt(document, position, pieceOf(position.character));
}

/**
 * Every start that an answer which agrees with the text here can be filed under: on this line, and
 * on lines above as far as `span` lines.
 */
export function* isAnchorBefore(document: DocumentText, position: Position, span: number): Generator<Anchor> {
  const piece = pieceOf(position.character);
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
 * What follows the caret, without the closers right behind it: those come and go as the editor
 * closes brackets by itself, and must not make a known answer unknown.
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

function pieceOf(character: number): number {
  return Math.max(0, (Math.floor(character / PIECE) - 1) * PIECE);
}
