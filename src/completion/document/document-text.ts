import { defined } from '../../base/json.ts';
import type { Position } from '../../base/text-change.ts';

export type { Position };

/**
 * A document, read line by line on demand, so that the cost of a step depends only on the lines it
 * reads. `lineAt` returns a line without its end of line and must be cheap.
 */
export interface DocumentText {
  readonly uri: string;
  /** Relative to its workspace folder, with `/`; absent: outside all folders. Included in prompts. */
  readonly path?: string;
  readonly languageId: string;
  readonly version: number;
  readonly eol: '\n' | '\r\n';
  readonly lineCount: number;
  lineAt(line: number): string;
}

/** Some lines of a document. `end`: the line after the last one. */
export function readLines(
  document: Pick<DocumentText, 'lineCount' | 'lineAt'>,
  first = 0,
  end = document.lineCount,
): string[] {
  return Array.from({ length: end - first }, (_, index) => document.lineAt(first + index));
}

/** The text of the caret's line before the caret. */
export function textHead(document: DocumentText, position: Position): string {
  return document.lineAt(position.line).slice(0, position.character);
}

/** The text of the caret's line after the caret. */
export function textTail(document: DocumentText, position: Position): string {
  return document.lineAt(position.line).slice(position.character);
}

/** At most `limit` characters before `position`, lines joined by LF. Never starts inside a surrogate pair. */
export function textBefore(document: DocumentText, position: Position, limit: number): string {
  const parts: string[] = [];
  let room = limit;
  let text = textHead(document, position);
  for (let line = position.line; ; line--) {
    if (text.length >= room) {
      parts.push(clipStart(text, room));
      break;
    }
    parts.push(text);
    room -= text.length + 1;
    if (line === 0 || room < 0) break;
    text = document.lineAt(line - 1);
    parts.push('\n');
  }
  return parts.reverse().join('');
}

/** At most `limit` characters after `position`, lines joined by LF. Never ends inside a surrogate pair. */
export function textAfter(document: DocumentText, position: Position, limit: number): string {
  let out = clipEnd(textTail(document, position), limit);
  for (let line = position.line + 1; line < document.lineCount && out.length < limit; line++) {
    out += `\n${clipEnd(document.lineAt(line), limit - out.length - 1)}`;
  }
  return out;
}

/** Maximum length of the lines after the caret's line that show which brackets are closed there. */
const BALANCED = 1_000;

/** Whole lines after `line`, joined by LF. */
export function linesAfter(document: DocumentText, line: number): string {
  let text = '';
  for (let next = line + 1; next < document.lineCount; next++) {
    const added = document.lineAt(next);
    if (text.length + added.length > BALANCED) break;
    text += `${added}\n`;
  }
  return text;
}

/** The first line after `line` that is not blank, within `reach` lines. */
export function nextFilledLine(document: DocumentText, line: number, reach = 8): string | undefined {
  for (let i = line + 1; i < Math.min(document.lineCount, line + 1 + reach); i++) {
    const text = document.lineAt(i);
    if (text.trim() !== '') return text;
  }
  return undefined;
}

/**
 * The document as it would be if `text` (with LF) replaced `before` characters left and `after`
 * characters right of the caret, and the caret moved after it. Copies only the changed lines.
 */
export function withInsertion(
  document: DocumentText,
  position: Position,
  insertion: { readonly text: string; readonly before?: number; readonly after?: number },
): { readonly document: DocumentText; readonly position: Position } {
  const line = document.lineAt(position.line);
  const lines = insertion.text.split('\n');
  const last = lines.length - 1;
  lines[0] = line.slice(0, position.character - (insertion.before ?? 0)) + lines[0];
  const character = (lines[last] ?? '').length;
  lines[last] = (lines[last] ?? '') + line.slice(position.character + (insertion.after ?? 0));
  const overlay: DocumentText = {
    uri: document.uri,
    ...defined({ path: document.path }),
    languageId: document.languageId,
    version: document.version,
    eol: document.eol,
    lineCount: document.lineCount + last,
    lineAt(index) {
      if (index < position.line) return document.lineAt(index);
      if (index <= position.line + last) return lines[index - position.line] ?? '';
      return document.lineAt(index - last);
    },
  };
  return { document: overlay, position: { line: position.line + last, character } };
}

function clipStart(text: string, limit: number): string {
  if (limit <= 0) return '';
  const start = text.length - limit;
  if (start <= 0) return text;
  return text.slice(isLowSurrogate(text.charCodeAt(start)) ? start + 1 : start);
}

function clipEnd(text: string, limit: number): string {
  if (limit >= text.length) return text;
  if (limit <= 0) return '';
  return text.slice(0, isLowSurrogate(text.charCodeAt(limit)) ? limit - 1 : limit);
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}
