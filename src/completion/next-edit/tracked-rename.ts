import {
  comparePositions,
  endOfText,
  lastFirst,
  movePosition,
  type Position,
  type TextChange,
  type TextRange,
  touches,
} from '../../base/text-change.ts';
import type { DocumentChange } from '../document/suggestion.ts';

/** One place of a rename, as the language computed it before the name changed. `text` contains `placeholder`. */
export interface RenamePlace extends TextRange {
  readonly uri: string;
  readonly text: string;
  /** Absent: unknown, because the document was not open. */
  readonly expected?: string;
}

export interface Declaration {
  readonly uri: string;
  readonly name: string;
  /** Stands for the new name in the texts of the places. */
  readonly placeholder: string;
  readonly start: Position;
}

/**
 * The places that a rename of a declaration changes. They were found before the name changed, and are moved by the
 * changes since then.
 */
export class TrackedRename {
  readonly declaration: Declaration;
  #range: TextRange;
  #places: readonly RenamePlace[];
  #valid = true;

  /** @param places with the one at the declaration. */
  constructor(declaration: Declaration, places: readonly RenamePlace[]) {
    const { uri, name, placeholder, start } = declaration;
    this.declaration = declaration;
    this.#range = { start, end: endOfText(start, name) };
    this.#places = places.filter((place) => place.uri !== uri || !equal(place.start, start));
    const own = places.find((place) => place.uri === uri && equal(place.start, start));
    // The declaration itself would have to change to something else: `{ name }` becomes `{ name: newName }`.
    if (own?.text !== placeholder || !equal(own.end, this.#range.end)) this.#valid = false;
    if (this.#places.some(({ text }) => !text.includes(placeholder))) this.#valid = false;
  }

  /** False: there is nothing to rename. */
  get valid(): boolean {
    return this.#valid && this.#places.length > 0;
  }

  /** The present range of the declared name. */
  get range(): TextRange {
    return this.#range;
  }

  /** Moves the places. A place that is changed itself is not renamed. */
  changed({ uri, changes }: DocumentChange): void {
    for (const change of lastFirst(changes)) this.#apply(uri, change);
  }

  /** The places that are still to rename, by document, in the order of the document. */
  rest(newName: string): ReadonlyMap<string, readonly Omit<RenamePlace, 'uri'>[]> {
    const { placeholder } = this.declaration;
    const found = new Map<string, Omit<RenamePlace, 'uri'>[]>();
    for (const { uri, ...place } of [...this.#places].sort((a, b) => comparePositions(a.start, b.start))) {
      const text = place.text.replaceAll(placeholder, () => newName);
      found.set(uri, [...(found.get(uri) ?? []), { ...place, text }]);
    }
    return found;
  }

  #apply(uri: string, change: TextChange): void {
    const move = ({ start, end }: TextRange): TextRange => ({
      start: movePosition(start, change),
      end: movePosition(end, change),
    });
    this.#places = this.#places.flatMap((place) => {
      if (place.uri !== uri) return [place];
      return touches(place, change) ? [] : [{ ...place, ...move(place) }];
    });
    if (uri !== this.declaration.uri) return;
    const { start, end } = this.#range;
    const inside = comparePositions(change.start, start) >= 0 && comparePositions(change.end, end) <= 0;
    if (inside) this.#range = { start, end: movePosition(end, change) };
    else if (touches(this.#range, change)) this.#valid = false;
    else this.#range = move(this.#range);
  }
}

function equal(a: Position, b: Position): boolean {
  return comparePositions(a, b) === 0;
}
