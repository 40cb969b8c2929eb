import { moveLine } from '../../base/text-change.ts';
import type { Replacement } from './next-edit.ts';
import type { TrackedChange } from './tracked-document.ts';

/** After this many typed or deleted characters, lines count as different ones. As for dismissed completions. */
const SUBSTANTIAL = 8;
const REMEMBERED = 200;

interface Lines {
  readonly uri: string;
  first: number;
  last: number;
  /** Characters typed and deleted in them since then. */
  changed: number;
}

interface Places {
  readonly uri: string;
  readonly replacements: readonly Pick<Replacement, 'start' | 'end'>[];
}

/** The lines for which the user rejected an edit. They are followed while the document changes. */
export class Rejections {
  #rejected: Lines[] = [];

  add({ uri, replacements }: Places): void {
    for (const { start, end } of replacements)
      this.#rejected.push({ uri, first: start.line, last: end.line, changed: 0 });
    if (this.#rejected.length > REMEMBERED) this.#rejected = this.#rejected.slice(-REMEMBERED);
  }

  covers({ uri, replacements }: Places): boolean {
    return this.#rejected.some(
      (lines) =>
        lines.uri === uri && replacements.some(({ start, end }) => start.line <= lines.last && end.line >= lines.first),
    );
  }

  documentChanged(uri: string, change: TrackedChange): void {
    for (const lines of this.#rejected) {
      if (lines.uri !== uri || change.start.line > lines.last) continue;
      if (change.end.line >= lines.first) lines.changed += change.removed.length + change.text.length;
      lines.first = moveLine(lines.first, change);
      lines.last = moveLine(lines.last, change);
    }
    this.#rejected = this.#rejected.filter((lines) => lines.changed < SUBSTANTIAL);
  }

  documentClosed(uri: string): void {
    this.#rejected = this.#rejected.filter((lines) => lines.uri !== uri);
  }
}
