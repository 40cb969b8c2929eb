import { findHunks, type Hunk } from '../../../base/hunks.ts';
import { defined } from '../../../base/json.ts';
import { commonPrefix, commonSuffix } from '../../../base/text-change.ts';
import { hasForeignText } from '../../answer/answer-cleaner.ts';
import { type DocumentText, readLines } from '../../document/document-text.ts';
import { findLanguage } from '../../document/languages.ts';
import type { FoundEdit } from '../edit-checks.ts';
import type { NextEditTitle, Replacement } from '../next-edit.ts';
import {
  baselessCheck,
  bracketCheck,
  isReversal,
  isWhiteSpaceOnly,
  type PlacedEdit,
  type RecentWork,
} from './edit-filters.ts';

export interface Answer {
  /** As it is now: the user may have typed since the request. */
  readonly document: DocumentText;
  /** Line of the document where the region begins. */
  readonly first: number;
  /** The region as it was sent, with masked secrets, and as the model rewrote it. */
  readonly region: string;
  readonly rewritten: string;
  /** The line above the region; undefined: it begins with the first line of the document. */
  readonly above: string | undefined;
  /** The region has the last line of the document. */
  readonly atEnd: boolean;
  /** The stand-ins of the secrets. */
  readonly masked: readonly string[];
  readonly cursor: number;
  /** The last edits of the user in this document. */
  readonly edits: readonly PlacedEdit[];
  /** Pieces of other files that the model has seen. */
  readonly seen: readonly string[];
  readonly work: RecentWork;
}

/** The edits that the answer of a model proposes, without those that nobody wants. The nearest to the cursor is the first. */
export function answerEdits(answer: Answer): readonly FoundEdit[] {
  const { document, edits } = answer;
  const isBaseless = baselessCheck(readLines(document), answer.seen, answer.work);
  const hunks = splitIntoHunks(answer).filter(
    (hunk) =>
      !isBaseless(hunk) &&
      !isWhiteSpaceOnly(hunk) &&
      !isReversal(hunk, edits) &&
      !touchesSecret(hunk, answer.masked) &&
      !hasForeignText(hunk.after.join('\n'), hunk.before.join('\n')),
  );
  const isEven = bracketCheck(readLines(document), findLanguage(document.languageId).line);
  if (hunks.every((hunk) => isEven([hunk])))
    return nearestFirst(hunks, answer.cursor).map((hunk) => toEdit(answer, [hunk]));
  // One opens a bracket that another one closes: they are accepted together.
  if (isEven(hunks)) return [toEdit(answer, hunks)];
  return nearestFirst(
    hunks.filter((hunk) => isEven([hunk])),
    answer.cursor,
  ).map((hunk) => toEdit(answer, [hunk]));
}

/** Their lines are counted from the first one of the document. */
function splitIntoHunks({ region, rewritten, first }: Answer): readonly Hunk[] {
  const old = region.split('\n');
  const hunks = (findHunks(old, rewritten.split('\n')) ?? []).map((hunk) => ({ ...hunk, from: first + hunk.from }));
  // Models stop early, or begin late: lines that are missing at an end of the region are not deleted.
  const last = first + old.length - (region.endsWith('\n') ? 1 : 0);
  return hunks.filter(({ from, before, after }) => after.length > 0 || (from > first && from + before.length < last));
}

function touchesSecret({ before, after }: Hunk, masked: readonly string[]): boolean {
  return masked.some((each) => [...before, ...after].some((line) => line.includes(each.split('\n', 1)[0] ?? each)));
}

/** From the one nearest to the cursor downwards, then those above. */
function nearestFirst(hunks: readonly Hunk[], cursor: number): readonly Hunk[] {
  const distance = ({ from, before }: Hunk): number =>
    Math.max(0, from - cursor, cursor - from - Math.max(0, before.length - 1));
  let nearest = 0;
  for (const [index, hunk] of hunks.entries()) {
    const best = hunks[nearest];
    if (best !== undefined && distance(hunk) < distance(best)) nearest = index;
  }
  return [...hunks.slice(nearest), ...hunks.slice(0, nearest)];
}

function toEdit(answer: Answer, hunks: readonly Hunk[]): FoundEdit {
  const { uri, path } = answer.document;
  const replacements = hunks.flatMap((hunk) => hunkReplacements(hunk, answer));
  return {
    origin: 'model',
    uri,
    ...defined({ path }),
    replacements,
    title: editTitle(hunks),
  };
}

function editTitle(hunks: readonly Hunk[]): NextEditTitle {
  for (const { before, after } of hunks) {
    const changed = after.find(
      (line, index) => line.trim() !== '' && (before.length !== after.length || line !== before[index]),
    );
    if (changed !== undefined) return { kind: 'change', line: changed.trim() };
  }
  return { kind: 'delete', lines: hunks.reduce((sum, { before }) => sum + before.length, 0) };
}

function hunkReplacements(hunk: Hunk, answer: Answer): readonly Replacement[] {
  const { from, before, after } = hunk;
  if (before.length === after.length)
    return before.flatMap((line, index) => {
      const now = after[index] ?? '';
      return line === now ? [] : [lineReplacement(from + index, line, now)];
    });
  if (before.length === 0) return [insertion(from, after, answer)];
  if (after.length === 0) return [deletion(from, before, answer)];
  return [blockReplacement(hunk)];
}

const WORD = /[\p{L}\p{N}_$]/u;

/** The changed words of a line. */
function lineReplacement(line: number, old: string, text: string): Replacement {
  let head = commonPrefix(old, text);
  while (head > 0 && (splitsWord(old, head) || splitsWord(text, head))) head--;
  let tail = commonSuffix(old.slice(head), text.slice(head));
  while (tail > 0 && (splitsWord(old, old.length - tail) || splitsWord(text, text.length - tail))) tail--;
  return {
    start: { line, character: head },
    end: { line, character: old.length - tail },
    expected: old.slice(head, old.length - tail),
    text: text.slice(head, text.length - tail),
  };
}

/** True inside of a word or a surrogate pair. */
function splitsWord(text: string, at: number): boolean {
  const low = text.charCodeAt(at);
  if (low >= 0xdc00 && low <= 0xdfff) return true;
  return WORD.test(text[at - 1] ?? '') && WORD.test(text[at] ?? '');
}

function insertion(first: number, text: readonly string[], answer: Answer): Replacement {
  if (first === 0) {
    const start = { line: 0, character: 0 };
    return { start, end: start, expected: '', text: `${text.join('\n')}\n` };
  }
  const start = { line: first - 1, character: lineBefore(first, answer).length };
  return { start, end: start, expected: '', text: `\n${text.join('\n')}` };
}

function deletion(first: number, old: readonly string[], answer: Answer): Replacement {
  const end = first + old.length;
  if (!answer.atEnd || end < answer.first + answer.region.split('\n').length)
    return {
      start: { line: first, character: 0 },
      end: { line: end, character: 0 },
      expected: `${old.join('\n')}\n`,
      text: '',
    };
  const before = Math.max(0, first - 1);
  return {
    start: { line: before, character: first === 0 ? 0 : lineBefore(first, answer).length },
    end: { line: end - 1, character: old.at(-1)?.length ?? 0 },
    expected: first === 0 ? old.join('\n') : `\n${old.join('\n')}`,
    text: '',
  };
}

/** The line before a line of the region, or before its end, as it was when the request was sent. */
function lineBefore(line: number, { first, region, above }: Answer): string {
  return (line === first ? above : region.split('\n')[line - first - 1]) ?? '';
}

/** Several lines that become more or fewer lines. Without the indentation that the first ones share. */
function blockReplacement({ from, before, after }: Hunk): Replacement {
  const [firstOld = '', firstNew = ''] = [before[0], after[0]];
  const indent = Math.min(firstOld.length - firstOld.trimStart().length, commonPrefix(firstOld, firstNew));
  return {
    start: { line: from, character: indent },
    end: { line: from + before.length - 1, character: before.at(-1)?.length ?? 0 },
    expected: before.join('\n').slice(indent),
    text: after.join('\n').slice(indent),
  };
}
