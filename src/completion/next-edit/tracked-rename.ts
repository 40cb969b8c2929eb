import type { Position } from '../document/document-text.ts';
import type { DocumentChange } from '../document/suggestion.ts';
import { advance } from './edit-layout.ts';

/** One place of a rename, as the language computed it before the name changed. `text` contains `placeholder`. */
export interface RenamePlace {
  readonly uri: string;
  readonly start: Position;
  readonly end: Position;
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

type Change = DocumentChange['changes'][number];

/**
 * The places that a rename of a declaration changes. They were found before the name changed, and are moved by the
 * changes since then.
 */
export class TrackedRename {
  readonly declaration: Declaration;
  #start: Position;
  #end: Position;
  #places: readonly RenamePlace[];
  #valid = true;

  /** @param places with the one at the declaration. */
  constructor(declaration: Declaration, places: readonly RenamePlace[]) {
    const { uri, name, placeholder, start } = declaration;
    this.declaration = declaration;
    this.#start = start;
    this.#end = advance(start, name);
    this.#places = places.filter((place) => place.uri !== uri || !equal(place.start, start));
    const own = places.find((place) => place.uri === uri && equal(place.start, start));
    // The declaration itself would have to change to something else: `{ name }` becomes `{ name: newName }`.
    if (own?.text !== placeholder || !equal(own.end, this.#end)) this.#valid = false;
    if (this.#places.some(({ text }) => !text.includes(placeholder))) this.#valid = false;
  }

  /** False: there is nothing to rename. */
  get valid(): boolean {
    return this.#valid && this.#places.length > 0;
  }

  /** The present range of the declared name. */
  get range(): { readonly start: Position; readonly end: Position } {
    return { start: this.#start, end: this.#end };
  }

  /** Moves the places. A place that is changed itself is not renamed. */
  changed({ uri, changes }: DocumentChange): void {
    // The positions of the changes are those before all of them: apply the last one first.
    const ordered = [...changes].sort((a, b) => compare(b.start, a.start));
    for (const change of ordered) this.#apply(uri, change);
  }

  /** What remains to rename, by document, in the order of the document. */
  rest(newName: string): ReadonlyMap<string, readonly Omit<RenamePlace, 'uri'>[]> {
    const { placeholder } = this.declaration;
    const found = new Map<string, Omit<RenamePlace, 'uri'>[]>();
    for (const { uri, ...place } of [...this.#places].sort((a, b) => compare(a.start, b.start))) {
      const text = place.text.replaceAll(placeholder, () => newName);
      found.set(uri, [...(found.get(uri) ?? []), { ...place, text }]);
    }
    return found;
  }

  #apply(uri: string, change: Change): void {
    this.#places = this.#places.flatMap((place) => {
      if (place.uri !== uri) return [place];
      if (touches(place, change)) return [];
      return [{ ...place, start: shift(place.start, change), end: shift(place.end, change) }];
    });
    if (uri !== this.declaration.uri) return;
    const inside = compare(change.start, this.#start) >= 0 && compare(change.end, this.#end) <= 0;
    if (inside) this.#end = shift(this.#end, change);
    else if (touches({ start: this.#start, end: this.#end }, change)) this.#valid = false;
    else {
      this.#start = shift(this.#start, change);
      this.#end = shift(this.#end, change);
    }
  }
}

interface Range {
  readonly start: Position;
  readonly end: Position;
}

function touches({ start, end }: Range, change: Change): boolean {
  return compare(change.end, start) > 0 && compare(change.start, end) < 0;
}

/** A position after a change that does not touch it. */
function shift(position: Position, { start, end, text }: Change): Position {
  if (compare(position, end) < 0) return position;
  const after = advance(start, text);
  if (position.line !== end.line) {
    return { line: position.line + after.line - end.line, character: position.character };
  }
  return { line: after.line, character: after.character + position.character - end.character };
}

function compare(a: Position, b: Position): number {
  return a.line - b.line || a.character - b.character;
}

function equal(a: Position, b: Position): boolean {
  return compare(a, b) === 0;
}
