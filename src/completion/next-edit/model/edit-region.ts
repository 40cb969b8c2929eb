import type { EditDialect, EditRequest } from '../../../wire/edit/edit-request.ts';
import { SWEEP_LINES } from '../../../wire/edit/sweep.ts';
import { type DocumentText, type Position, readLines } from '../../document/document-text.ts';

const LINES_ABOVE = 8;
const LINES_BELOW = 16;
/** Lines of the file that the model sees on each side of the region, and their characters. */
const CONTEXT_LINES = 100;
const CONTEXT_CHARACTERS = 6_000;
/** A longer region is data, not code. */
const MAX_REGION = 12_000;

type Lines = Pick<DocumentText, 'lineCount' | 'lineAt'>;

interface CodeAround {
  /** The parts of a request that show the file: the region that the model may rewrite, and the code around it. */
  readonly code: Pick<EditRequest, 'before' | 'region' | 'after' | 'cursor' | 'startLine' | 'fromStart'>;
  /** The lines of the region. */
  readonly lines: readonly string[];
}

/** The region around the cursor. Undefined: its lines are too long. */
export function codeAround(
  document: Lines,
  { line, character }: Position,
  dialect: EditDialect | undefined,
): CodeAround | undefined {
  const sweep = dialect?.startsWith('sweep') === true;
  const first = Math.max(0, line - (sweep ? SWEEP_LINES : LINES_ABOVE));
  const end = Math.min(document.lineCount, line + 1 + (sweep ? SWEEP_LINES : LINES_BELOW));
  const region = joinLines(document, first, end);
  if (region.length > MAX_REGION) return undefined;
  const start = contextStart(document, first);
  return {
    code: {
      before: joinLines(document, start, first),
      region,
      after: joinLines(document, end, contextEnd(document, end)),
      cursor: joinLines(document, first, line).length + character,
      startLine: first + 1,
      ...(start === 0 ? { fromStart: true as const } : {}),
    },
    lines: readLines(document, first, end),
  };
}

/** Lines with their line breaks. The last line of a document has none. */
function joinLines(document: Lines, from: number, to: number): string {
  let text = '';
  for (let line = from; line < to; line++)
    text += document.lineAt(line) + (line === document.lineCount - 1 ? '' : '\n');
  return text;
}

function contextStart(document: Lines, end: number): number {
  let room = CONTEXT_CHARACTERS;
  let line = end;
  while (line > 0 && end - line < CONTEXT_LINES) {
    room -= document.lineAt(line - 1).length + 1;
    if (room < 0) break;
    line--;
  }
  return line;
}

function contextEnd(document: Lines, start: number): number {
  let room = CONTEXT_CHARACTERS;
  let line = start;
  while (line < document.lineCount && line - start < CONTEXT_LINES) {
    room -= document.lineAt(line).length + 1;
    if (room < 0) break;
    line++;
  }
  return line;
}
