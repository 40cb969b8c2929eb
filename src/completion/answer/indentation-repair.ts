import { BracketScanner } from '../document/brackets.ts';
import type { Language } from '../document/languages.ts';

interface Place {
  readonly language: Language;
  readonly head: string;
  readonly above: readonly string[];
  readonly below: readonly string[];
  readonly caret: BracketScanner;
  readonly indentation: { readonly insertSpaces: boolean; readonly tabSize: number };
}

/** A line that opens a block, however many brackets it opens. */
interface Level {
  /** Number of open brackets after the line. */
  readonly open: number;
  /** Its indentation in columns. */
  readonly width: number;
}

const OPENS = /[([{]\s*$/;
const OPENS_COLON = /:\s*(?:#.*)?$/;
/** Lines that may be less indented than the block they are in. */
const LABEL = /^(?:case\b|default\b|(?:public|private|protected)\s*:|#|@?\w+:\s*$)/;

/** Indents the lines of an answer that are less indented than their place requires. Deeper lines stay as they are. */
export class IndentationRepair {
  readonly #place: Place;
  /** Indentation of the caret's line in columns. */
  readonly #base: number;
  /** The caret's line opens a block, whose body starts on the next line. */
  #headOpens: boolean;
  /** Number of brackets that the caret's line opens before the caret. */
  readonly #openInHead: number;
  /** The lines of the answer that opened brackets which are still open, outermost first. */
  readonly #levels: Level[] = [];
  /** Indentation of the last line in columns. */
  #lastWidth: number;
  /** The following lines cannot be less indented than the caret's line: they are in the same block. */
  readonly #sameBlock: boolean;
  /** The last line that is not blank. */
  #previous: string;
  /** Columns that the first repaired line was moved by, its depth, and its own indentation. */
  #moved: { readonly by: number; readonly depth: number; readonly from: number } | undefined;

  constructor(place: Place) {
    this.#place = place;
    const { head, above, below, caret, language } = place;
    const blank = head.trim() === '';
    this.#base = this.#width(blank ? head : leadOf(head));
    this.#headOpens = !blank && OPENS.test(head);
    this.#openInHead = new BracketScanner(language).read(head).openedBrackets;
    this.#previous = blank ? (above.at(-1) ?? '') : head;
    this.#lastWidth = this.#base;
    const next = below[0];
    const nextInside = next !== undefined && this.#width(leadOf(next)) >= this.#base;
    this.#sameBlock = language.brackets && language.indentedBlocks !== true ? caret.openBrackets > 0 : nextInside;
  }

  /** The first line, which is inserted at the caret. */
  first(line: string): string {
    const { head } = this.#place;
    const text = line.trimStart();
    const whole = head + line;
    const previous = this.#previous;
    if (text !== '') {
      this.#previous = whole;
      this.#headOpens = false;
    }
    if (head.trim() !== '' || text === '' || !this.#repairs() || !this.#opensBlock(previous)) return line;
    const wanted = this.#width(leadOf(previous)) + (isCloser(text) ? 0 : this.#unit());
    const width = this.#width(leadOf(whole));
    // The answer is indented, or there is more than the opening line's indentation already.
    if (width >= wanted || width > this.#width(leadOf(previous))) return line;
    const repaired = this.#lead(wanted);
    return repaired.startsWith(head) ? repaired.slice(head.length) + text : line;
  }

  /** A further line. @param before the state after the lines before it. */
  next(line: string, before: BracketScanner): string {
    const text = line.trimStart();
    if (text === '' || before.inside !== undefined || !this.#repairs()) return line;
    const previous = this.#previous;
    const width = this.#width(leadOf(line));
    const wanted = this.#place.language.indentedBlocks
      ? this.#wantedAfterColon(previous, width, before)
      : this.#wantedInBrackets(text, width, before);
    const repaired = wanted > width ? this.#lead(wanted) + text : line;
    this.#previous = repaired;
    this.#lastWidth = Math.max(width, wanted);
    return repaired;
  }

  #wantedInBrackets(text: string, width: number, before: BracketScanner): number {
    const open = before.openedBrackets;
    while ((this.#levels.at(-1)?.open ?? 0) > open) this.#levels.pop();
    if (open > (this.#levels.at(-1)?.open ?? 0)) this.#levels.push({ open, width: this.#lastWidth });
    if (LABEL.test(text)) return width;
    const closers = closersAtStart(text);
    const rest = open - closers;
    const depth = this.#levels.filter((level) => level.open <= rest).length;
    const opener = closers > 0 ? this.#levels[depth] : this.#levels.at(-1);
    if (opener !== undefined) {
      return this.#moveWith(
        width,
        depth,
        closers > 0 || width > opener.width ? opener.width : opener.width + this.#unit(),
      );
    }
    const closed = before.exits.filter(({ kind }) => kind === 'bracket').length + Math.max(0, -rest);
    const outer = Math.max(0, closed - this.#openInHead);
    const inHead = this.#headOpens && closed < this.#openInHead;
    if (inHead) return this.#moveWith(width, 1, width > this.#base ? width : this.#base + this.#unit());
    const least = this.#sameBlock || closers > 0 ? this.#base - outer * this.#unit() : 0;
    return this.#moveWith(width, -outer, Math.max(0, least));
  }

  #wantedAfterColon(previous: string, width: number, before: BracketScanner): number {
    if (before.openedBrackets > 0) return width;
    const opened = this.#width(leadOf(previous));
    if (OPENS_COLON.test(previous) && width <= opened) return this.#moveWith(width, 0, opened + this.#unit());
    const moved = this.#moved;
    if (moved !== undefined) return width >= moved.from ? width + moved.by : Math.max(width, this.#base);
    return this.#sameBlock ? this.#moveWith(width, 0, this.#base) : width;
  }

  /** Moves a line to `least`, and the following lines on its level by as much. */
  #moveWith(width: number, depth: number, least: number): number {
    const moved = this.#moved;
    if (moved !== undefined && depth >= moved.depth) return Math.max(least, width + moved.by);
    if (moved === undefined && width < least) this.#moved = { by: least - width, depth, from: width };
    return Math.max(width, least);
  }

  #repairs(): boolean {
    const { language, caret } = this.#place;
    return (
      language.prose !== true && (language.brackets || language.indentedBlocks === true) && caret.inside === undefined
    );
  }

  #opensBlock(line: string): boolean {
    return OPENS.test(line) || (this.#place.language.indentedBlocks === true && OPENS_COLON.test(line));
  }

  #unit(): number {
    return this.#place.indentation.tabSize;
  }

  #width(lead: string): number {
    let width = 0;
    for (const character of lead) width += character === '\t' ? this.#place.indentation.tabSize : 1;
    return width;
  }

  #lead(width: number): string {
    const { insertSpaces, tabSize } = this.#place.indentation;
    if (insertSpaces) return ' '.repeat(width);
    return '\t'.repeat(Math.floor(width / tabSize)) + ' '.repeat(width % tabSize);
  }
}

function leadOf(line: string): string {
  return line.slice(0, line.length - line.trimStart().length);
}

function isCloser(text: string): boolean {
  return /^[)\]}]/.test(text);
}

function closersAtStart(text: string): number {
  return /^[)\]}]*/.exec(text)?.[0].length ?? 0;
}
