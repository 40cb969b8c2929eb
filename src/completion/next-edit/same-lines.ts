import { defined } from '../../base/json.ts';
import { minimalChange } from '../../base/text-change.ts';
import type { DocumentText } from '../document/document-text.ts';
import { findLanguage } from '../document/languages.ts';
import type { FoundEdit } from './edit-checks.ts';
import type { HistoryEdit } from './edit-history.ts';
import { isName, MAX_LINE, splitLine } from './line-tokens.ts';
import type { FinishedEdit, NextEditSource } from './next-edit.ts';
import { COMPARED, MAX_COPIES } from './same-edit.ts';

/** Different names that make lines a copy, not a coincidence. */
const NAMES = 3;

/**
 * The same edit at the other places in the file where the same lines are, with the same indentation: after the user
 * changed one of several copies of two or more lines, or changed comments at two places in the same way.
 */
export class SameLinesSource implements NextEditSource {
  readonly origin = 'same-edit';
  readonly #earlier: (uri: string, most: number) => readonly HistoryEdit[];

  /** @param earlier the finished edits of a document, latest first. */
  constructor(earlier: (uri: string, most: number) => readonly HistoryEdit[]) {
    this.#earlier = earlier;
  }

  find(edit: FinishedEdit): Promise<readonly FoundEdit[]> {
    const { before, after } = edit;
    if (before.length === 1 && after.length === 1) return Promise.resolve(this.#sameComments(edit));
    return Promise.resolve(before.length > 1 && after.length > 0 ? copiesOf(edit) : []);
  }

  #sameComments({ document, line, before: [old = ''], after: [now = ''] }: FinishedEdit): readonly FoundEdit[] {
    const comment = findLanguage(document.languageId).line;
    if (!isComment(old, comment) || !isComment(now, comment)) return [];
    const { removed, text } = minimalChange(old, now);
    if (!/\p{L}/u.test(removed + text)) return [];
    const [, ...earlier] = this.#earlier(document.uri, 1 + COMPARED);
    const same = earlier.flatMap(({ before, after }) =>
      before.filter((each, index) => {
        if (before.length !== after.length || !isComment(each, comment)) return false;
        const change = minimalChange(each, after[index] ?? '');
        return change.removed === removed && change.text === text;
      }),
    );
    if (same.length === 0) return [];
    const wanted = new Set([old, ...same]);
    const found: FoundEdit[] = [];
    for (const at of linesFrom(document, line + 1)) {
      const copy = document.lineAt(at);
      if (!wanted.has(copy)) continue;
      const from = copy === old ? now : undefined;
      const changed = from ?? changedLike(copy, removed, text);
      if (changed !== undefined) found.push(createEdit(document, at, [copy], [changed]));
    }
    return found.slice(0, MAX_COPIES);
  }
}

/** The line after the change of an earlier one, if its place is plain. */
function changedLike(line: string, removed: string, text: string): string | undefined {
  const at = line.indexOf(removed);
  return removed === '' || at !== line.lastIndexOf(removed)
    ? undefined
    : line.slice(0, at) + text + line.slice(at + removed.length);
}

function isComment(line: string, comment: string | undefined): boolean {
  const tokens = splitLine(line, comment);
  return tokens.length > 0 && tokens.every(({ kind }) => kind === 'comment');
}

/** The other copies of changed lines. */
function copiesOf({ document, line, before, after }: FinishedEdit): readonly FoundEdit[] {
  const comment = findLanguage(document.languageId).line;
  const namesOf = (lines: readonly string[]) =>
    new Set(lines.flatMap((each) => splitLine(each, comment).flatMap((token) => (isName(token) ? [token.text] : []))));
  const [old, now] = [namesOf(before), namesOf(after)];
  // If one place gets another value, the other places need not change.
  const isOtherCode = [...old, ...now].some((name) => !old.has(name) || !now.has(name));
  if (old.size < NAMES || !isOtherCode || before.some((each) => each.length > MAX_LINE)) return [];
  const found: FoundEdit[] = [];
  for (const at of linesFrom(document, line + after.length)) {
    if (at < line + after.length && at + before.length > line) continue;
    if (before.every((each, index) => document.lineAt(at + index) === each))
      found.push(createEdit(document, at, before, after));
  }
  return found.length > MAX_COPIES ? [] : found;
}

/** From a line downwards, then from the first one. */
function* linesFrom({ lineCount }: DocumentText, first: number): Generator<number> {
  for (let at = first; at < lineCount; at++) yield at;
  for (let at = 0; at < Math.min(first, lineCount); at++) yield at;
}

function createEdit(
  { uri, path }: DocumentText,
  line: number,
  old: readonly string[],
  text: readonly string[],
): FoundEdit {
  const change = minimalChange(old.join('\n'), text.join('\n'), { line, character: 0 });
  const replacement = { start: change.start, end: change.end, expected: change.removed, text: change.text };
  const title = {
    kind: 'change',
    line: (text.find((each, index) => each !== old[index]) ?? text[0] ?? '').trim(),
  } as const;
  return { origin: 'same-edit', uri, ...defined({ path }), replacements: [replacement], title };
}
