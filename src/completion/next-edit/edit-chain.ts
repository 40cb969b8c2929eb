import { type FoundEdit, sameReplacements } from './edit-checks.ts';
import type { NextEdit, Replacement } from './next-edit.ts';
import { rebaseReplacement } from './rebase.ts';
import type { TrackedChange } from './tracked-document.ts';

/** The lines of the user's edit from which edits follow. */
export interface Basis {
  readonly uri: string;
  readonly first: number;
  readonly last: number;
}

type ChainEdit = Omit<NextEdit, 'following'>;

/** The edits that follow from one change of the user, in the order in which they are offered. */
export class EditChain {
  #edits: readonly ChainEdit[] = [];
  /** The edits do not hold if these lines change. Absent for edits of a model, which may change these lines themselves. */
  #basis: Basis | undefined;
  /** The document where the user is when the edits are offered. */
  #home: string | undefined;
  #lastId = 0;

  get length(): number {
    return this.#edits.length;
  }

  get edits(): readonly ChainEdit[] {
    return this.#edits;
  }

  /** The edit to offer in a document. */
  head(active: string | undefined): ChainEdit | undefined {
    const [head] = this.#edits;
    return head !== undefined && (active === this.#home || active === head.uri) ? head : undefined;
  }

  start(found: readonly FoundEdit[], home: string, basis: Basis | undefined): void {
    this.#edits = found.map((edit) => ({ ...edit, id: ++this.#lastId }));
    this.#home = home;
    this.#basis = basis;
  }

  /** The same edits were found again: they hold for the new change too. Returns false if others were found. */
  confirm(found: readonly FoundEdit[], basis: Basis | undefined): boolean {
    const [first] = found;
    const [head] = this.#edits;
    if (first === undefined || head === undefined || !sameReplacements(first, head)) return false;
    this.#edits = [head, ...found.slice(1).map((edit) => ({ ...edit, id: ++this.#lastId }))];
    this.#basis = basis;
    return true;
  }

  /** Removes an edit that is accepted, and offers the next one where it is. */
  take(edit: Pick<NextEdit, 'id' | 'uri'>): boolean {
    if (this.#edits[0]?.id !== edit.id) return false;
    this.#edits = this.#edits.slice(1);
    this.#home = edit.uri;
    return true;
  }

  /** Keeps the edits that can be made. */
  keep(isPossible: (edit: ChainEdit) => boolean): void {
    if (!this.#edits.every(isPossible)) this.#edits = this.#edits.filter(isPossible);
  }

  clear(): void {
    this.#edits = [];
    this.#basis = undefined;
  }

  /**
   * Moves, shortens and removes edits. Returns true if the user has made the first one without help.
   *
   * @param own the change is an accepted edit of this chain
   */
  documentChanged(uri: string, change: TrackedChange, own: boolean): boolean {
    if (this.#edits.length === 0) return false;
    if (this.#basis?.uri === uri && !this.#moveBasis(this.#basis, change) && !own) {
      this.clear();
      return false;
    }
    const [head] = this.#edits;
    const [state] = head === undefined ? [] : [rebaseEdit(head, uri, change)];
    this.#edits = this.#edits.flatMap((edit, index) => {
      const rebased = index === 0 ? state : rebaseEdit(edit, uri, change);
      return rebased === undefined || typeof rebased === 'string' ? [] : [rebased];
    });
    return state === 'done';
  }

  /** Returns false if the change touches the basis. */
  #moveBasis(basis: Basis, change: TrackedChange): boolean {
    if (change.start.line > basis.last || isBelow(change, basis.last)) return true;
    if (change.end.line >= basis.first && !isAbove(change, basis.first)) return false;
    const delta = change.after.length - change.before.length;
    this.#basis = { ...basis, first: basis.first + delta, last: basis.last + delta };
    return true;
  }
}

/** True for a new line after a line, which stays as it is. */
function isBelow({ start, removed, text, before }: TrackedChange, line: number): boolean {
  return start.line === line && removed === '' && text.startsWith('\n') && start.character === before[0]?.length;
}

/** True for new lines before a line, which stays as it is. */
function isAbove({ start, removed, text }: TrackedChange, line: number): boolean {
  return start.line === line && start.character === 0 && removed === '' && text.endsWith('\n');
}

/** The edit after a change; the same object if it is not affected. */
export function rebaseEdit<E extends FoundEdit>(edit: E, uri: string, change: TrackedChange): E | 'done' | 'conflict' {
  if (edit.uri !== uri) return edit;
  const replacements: Replacement[] = [];
  let affected = false;
  for (const replacement of edit.replacements) {
    const rebased = rebaseReplacement(replacement, change);
    if (rebased.kind === 'conflict') return 'conflict';
    if (rebased.kind === 'kept') replacements.push(rebased.replacement);
    affected ||= rebased.kind === 'done' || rebased.replacement !== replacement;
  }
  if (!affected) return edit;
  return replacements.length === 0 ? 'done' : { ...edit, replacements };
}
