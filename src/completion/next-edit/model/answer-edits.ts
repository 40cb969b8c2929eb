import { diffArrays } from 'diff';
import { commonPrefix, commonSuffix } from '../../../base/text-change.ts';
import { hasForeignText } from '../../answer/answer-cleaner.ts';
import type { DocumentText } from '../../document/document-text.ts';
import { findLanguage } from '../../document/languages.ts';
import type { FoundEdit } from '../edit-checks.ts';
import type { NextEditTitle, Replacement } from '../next-edit.ts';
import { bracketCheck, type Hunk, isReversal, isWhiteSpaceOnly, type PlacedEdit } from './edit-filters.ts';

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
}

/** The edits that the answer of a model proposes, without those that nobody wants. The nearest to the cursor is the first. */
export function answerEdits(answer: Answer): readonly FoundEdit[] {
  const { document, edits } = answer;
  const hunks = splitIntoHunks(answer).filter(
    (hunk) =>
      !isWhiteSpaceOnly(hunk) &&
      !isReversal(hunk, edits) &&
      !touchesSecret(hunk, answer.masked) &&
      !hasForeignText(hunk.text.join('\n'), hunk.old.join('\n')),
  );
  const lines = Array.from({ length: document.lineCount }, (_, line) => document.lineAt(line));
  const isEven = bracketCheck(lines, findLanguage(document.languageId).line);
  if (hunks.every((hunk) => isEven([hunk])))
    return nearestFirst(hunks, answer.cursor).map((hunk) => toEdit(answer, [hunk]));
  // One opens a bracket that another one closes: they are accepted together.
  if (isEven(hunks)) return [toEdit(answer, hunks)];
  return nearestFirst(
    hunks.filter((hunk) => isEven([hunk])),
    answer.cursor,
  ).map((hunk) => toEdit(answer, [hunk]));
}

function splitIntoHunks({ region, rewritten, first }: Answer): Hunk[] {
  const [old, now] = [region.split('\n'), rewritten.split('\n')];
  const hunks: Hunk[] = [];
  let line = 0;
  let removed: string[] = [];
  let added: string[] = [];
  const flush = (): void => {
    if (removed.length + added.length > 0)
      hunks.push({ first: first + line - removed.length, old: removed, text: added });
    [removed, added] = [[], []];
  };
  for (const part of diffArrays(old, now)) {
    if (part.added) added.push(...part.value);
    else if (part.removed) {
      removed.push(...part.value);
      line += part.value.length;
    } else {
      flush();
      line += part.value.length;
    }
  }
  flush();
  // Models stop early, or begin late: lines that are missing at an end of the region are not deleted.
  const last = first + old.length - (region.endsWith('\n') ? 1 : 0);
  return hunks.filter((hunk) => hunk.text.length > 0 || (hunk.first > first && hunk.first + hunk.old.length < last));
}

function touchesSecret({ old, text }: Hunk, masked: readonly string[]): boolean {
  return masked.some((each) => [...old, ...text].some((line) => line.includes(each.split('\n', 1)[0] ?? each)));
}

/** From the one nearest to the cursor downwards, then those above. */
function nearestFirst(hunks: readonly Hunk[], cursor: number): readonly Hunk[] {
  const distance = ({ first, old }: Hunk): number =>
    Math.max(0, first - cursor, cursor - first - Math.max(0, old.length - 1));
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
    ...(path === undefined ? {} : { path }),
    replacements,
    title: editTitle(hunks),
  };
}

function editTitle(hunks: readonly Hunk[]): NextEditTitle {
  for (const { old, text } of hunks) {
    const changed = text.find(
      (line, index) => line.trim() !== '' && (old.length !== text.length || line !== old[index]),
    );
    if (changed !== undefined) return { kind: 'change', line: changed.trim() };
  }
  return { kind: 'delete', lines: hunks.reduce((sum, { old }) => sum + old.length, 0) };
}

function hunkReplacements(hunk: Hunk, answer: Answer): readonly Replacement[] {
  const { first, old, text } = hunk;
  if (old.length === text.length)
    return old.flatMap((line, index) => {
      const now = text[index] ?? '';
      return line === now ? [] : [lineReplacement(first + index, line, now)];
    });
  if (old.length === 0) return [insertion(first, text, answer)];
  if (text.length === 0) return [deletion(first, old, answer)];
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
function blockReplacement({ first, old, text }: Hunk): Replacement {
  const [before, after] = [old.join('\n'), text.join('\n')];
  const [firstOld = '', firstNew = ''] = [old[0], text[0]];
  const indent = Math.min(firstOld.length - firstOld.trimStart().length, commonPrefix(firstOld, firstNew));
  return {
    start: { line: first, character: indent },
    end: { line: first + old.length - 1, character: old.at(-1)?.length ?? 0 },
    expected: before.slice(indent),
    text: after.slice(indent),
  };
}
