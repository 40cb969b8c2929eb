import { endOfText, minimalChange } from '../../../base/text-change.ts';
import { type DocumentText, readLines } from '../../document/document-text.ts';
import { rebaseEdit } from '../edit-chain.ts';
import type { FoundEdit } from '../edit-checks.ts';
import type { Replacement } from '../next-edit.ts';
import type { TrackedChange } from '../tracked-document.ts';

const KEPT = 16;
/** After this long, the user is at something else. */
const KEPT_MS = 60_000;

/** The answer of a model for one region, as the region was then. */
interface CachedAnswer {
  readonly uri: string;
  readonly model: string;
  readonly region: readonly string[];
  /** Lines are counted from the first one of the region. */
  readonly edits: readonly FoundEdit[];
  readonly at: number;
  /** Where the region is now. */
  first: number;
  lineCount: number;
}

interface KnownEdits {
  readonly edits: readonly FoundEdit[];
  /** The region has not changed since the request. */
  readonly exact: boolean;
}

/** The region as it was when a request was sent. It moves while the request runs. */
export type PendingAnswer = Omit<CachedAnswer, 'edits'>;

/** The answers of models. An answer still holds if the user has only typed a part of it, or something that it does not touch. */
export class AnswerCache {
  #answers: CachedAnswer[] = [];
  readonly #pending = new Set<PendingAnswer>();

  /** Follows a region while a request for it runs. */
  follow(pending: PendingAnswer): void {
    this.#pending.add(pending);
  }

  /** The request has ended. Without edits: it failed. */
  settle(pending: PendingAnswer, edits: readonly FoundEdit[] | undefined): void {
    if (!this.#pending.delete(pending) || edits === undefined) return;
    this.#answers = [{ ...pending, edits }, ...this.#answers].slice(0, KEPT);
  }

  /** The edits for a line, as they are now. Undefined: a model has to be asked. */
  find(document: DocumentText, line: number, model: string, now: number): KnownEdits | undefined {
    for (const answer of this.#answers) {
      if (answer.uri !== document.uri || answer.model !== model || now - answer.at > KEPT_MS) continue;
      if (line < answer.first || line >= answer.first + answer.lineCount) continue;
      const edits = currentEdits(answer, document);
      if (edits !== undefined) return edits;
    }
    return undefined;
  }

  documentChanged(uri: string, change: TrackedChange): void {
    const delta = change.after.length - change.before.length;
    const follow = (answer: PendingAnswer): boolean => {
      const end = answer.first + answer.lineCount;
      if (answer.uri !== uri || change.start.line >= end) return true;
      if (change.end.line < answer.first) answer.first += delta;
      else if (change.start.line >= answer.first && change.end.line < end) answer.lineCount += delta;
      else return false;
      return true;
    };
    this.#answers = this.#answers.filter(follow);
    for (const pending of this.#pending) if (!follow(pending)) this.#pending.delete(pending);
  }

  forget(uri: string): void {
    this.#answers = this.#answers.filter((answer) => answer.uri !== uri);
    for (const pending of this.#pending) if (pending.uri === uri) this.#pending.delete(pending);
  }
}

/** Undefined: the user typed something else. */
function currentEdits(answer: CachedAnswer, document: DocumentText): KnownEdits | undefined {
  const { first, lineCount, region, edits, uri } = answer;
  if (first + lineCount > document.lineCount) return undefined;
  const change = changeBetween(region, readLines(document, first, first + lineCount));
  if (change === undefined) return { edits: edits.map((edit) => moveEdit(edit, first)), exact: true };
  const rebased: FoundEdit[] = [];
  for (const edit of edits) {
    const state = rebaseEdit(edit, uri, change);
    if (state === 'conflict') return undefined;
    if (state !== 'done') rebased.push(moveEdit(state, first));
  }
  // The user typed all of it, or typed where the model changed nothing: the model is asked again.
  return rebased.length === 0 ? undefined : { edits: rebased, exact: false };
}

/** The change that makes `before` to `after`. Undefined: they are the same. */
function changeBetween(before: readonly string[], after: readonly string[]): TrackedChange | undefined {
  const [old, now] = [before.join('\n'), after.join('\n')];
  if (old === now) return undefined;
  const change = minimalChange(old, now);
  const { start, end, text } = change;
  return {
    ...change,
    before: before.slice(start.line, end.line + 1),
    after: after.slice(start.line, endOfText(start, text).line + 1),
  };
}

/** An edit with all lines moved. */
export function moveEdit(edit: FoundEdit, lines: number): FoundEdit {
  const move = (replacement: Replacement): Replacement => ({
    ...replacement,
    start: { ...replacement.start, line: replacement.start.line + lines },
    end: { ...replacement.end, line: replacement.end.line + lines },
  });
  return { ...edit, replacements: edit.replacements.map(move) };
}
