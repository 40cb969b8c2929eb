import { comparePositions, textBetween } from '../../base/text-change.ts';
import type { DocumentText } from '../document/document-text.ts';
import type { NextEdit, Replacement } from './next-edit.ts';

/** An edit that a source found. */
export type FoundEdit = Omit<NextEdit, 'id' | 'following'>;

/** An edit of more lines can't be reviewed at a glance. */
const MAX_LINES = 30;

/** True if the edit can be shown and accepted: it changes something, in the text that is there, and is not too long. */
export function isApplicable({ replacements }: FoundEdit, document: DocumentText | undefined): boolean {
  if (replacements.length === 0) return false;
  const lines = replacements.reduce(
    (sum, { expected, text }) => sum + Math.max(lineCount(expected), lineCount(text)),
    0,
  );
  if (lines > MAX_LINES) return false;
  const inOrder = replacements.every((each, index) => {
    const previous = replacements[index - 1];
    return previous === undefined || comparePositions(previous.end, each.start) <= 0;
  });
  if (!inOrder || replacements.every(({ expected, text }) => expected === text)) return false;
  if (document === undefined) return true;
  return (
    replacements.every((each) => isExpected(document, each)) && !replacements.some((each) => isThere(document, each))
  );
}

/** True if the text to be inserted is there already: the user typed it at the next line, which an insertion can't tell apart. */
function isThere(document: DocumentText, { start, expected, text }: Replacement): boolean {
  if (expected !== '' || !text.includes('\n')) return false;
  const lines = text.split('\n');
  return lines.every((line, index) => {
    const at = start.line + index;
    if (at >= document.lineCount) return false;
    const now = index === 0 ? document.lineAt(at).slice(start.character) : document.lineAt(at);
    return index === lines.length - 1 ? now.startsWith(line) : now === line;
  });
}

/** True if the document has the text that the replacement was made for. */
export function isExpected(document: DocumentText, replacement: Replacement): boolean {
  const { start, end, expected } = replacement;
  if (end.line >= document.lineCount || comparePositions(start, end) > 0) return false;
  const lineAt = (line: number) => document.lineAt(line);
  const within = start.character <= lineAt(start.line).length && end.character <= lineAt(end.line).length;
  return within && textBetween(lineAt, replacement) === expected;
}

export function sameReplacements(a: FoundEdit, b: FoundEdit): boolean {
  return (
    a.uri === b.uri &&
    a.replacements.length === b.replacements.length &&
    a.replacements.every((one, index) => {
      const other = b.replacements[index];
      return other !== undefined && one.text === other.text && comparePositions(one.start, other.start) === 0;
    })
  );
}

function lineCount(text: string): number {
  return text.split('\n').length;
}
