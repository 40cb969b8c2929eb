import { BracketScanner } from '../document/brackets.ts';
import type { Language } from '../document/languages.ts';
import { CASE } from './trim.ts';

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
/** Ends of elements and of their opening tags. */
const TAG_END = /^(?:<\/|\/?>)/;

/** The last statement of a block. */
const LEAVES = /^\s*(?:return|raise|break|continue|pass|\.\.\.)\b/;

/** A statement of a module that leaves the function before it also without a blank line, or the next part of a statement. */
const MODULE = /^(?:@|(?:async|case|class|def|elif|else|except|finally|from|import)\b|if __name__\b)/;

/** The line before ends a statement or a block. A line that starts so continues it. */
const ENDED = /[;}]\s*$/;
const CONTINUES = /^(?:[.?:&|+*/=<>{(-]|and\b|or\b|else\b)/;
/** An element of a list or a property of an object. */
const ELEMENT = /^\s*(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[\w$-]+)\s*(?::|(?:,\s*)?$)/;

/**
 * Corrects the indentation of the lines of an answer: of lines that are less indented than their place requires, and of
 * lines that are deeper than the line before although a new statement, property or element starts there.
 */
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
  /** A statement starts on the caret's line: the next one cannot be less indented. */
  readonly #startsStatement: boolean;
  /** The caret is in a function or a class that starts at the margin. */
  readonly #inFunction: boolean;
  /** Indentation of the lines above around the caret's line, innermost first: of open brackets, or of each block. */
  readonly #around: readonly number[];
  /** A line of the answer was indented as far as the caret's line: the answer counts from the margin. */
  #fromMargin = false;
  /** Number of blank lines before the next line. */
  #blank = 0;
  /** The last line that is not blank. */
  #previous: string;
  /** The level of brackets at which the last line that is not blank starts. */
  #previousLevel = 0;
  /** Columns that the first repaired line was moved by, its depth, and its own indentation. */
  #moved: { readonly by: number; readonly depth: number; readonly from: number } | undefined;

  constructor(place: Place) {
    this.#place = place;
    const { head, above, below, caret, language } = place;
    const blank = head.trim() === '';
    this.#base = this.#width(blank ? head : leadOf(head));
    this.#headOpens = !blank && OPENS.test(head);
    const scannedHead = new BracketScanner(language).read(head);
    this.#openInHead = scannedHead.openedBrackets;
    this.#previous = blank ? (above.at(-1) ?? '') : head;
    this.#lastWidth = this.#base;
    const isAfterStatement = ENDED.test(this.#previous) && this.#width(leadOf(this.#previous)) === this.#base;
    this.#startsStatement = blank && (/\{\s*$/.test(this.#previous) || isAfterStatement);
    const next = below[0];
    const nextInside = next !== undefined && this.#width(leadOf(next)) >= this.#base;
    const inBrackets = language.blockEnds === undefined && caret.openBrackets > 0;
    this.#sameBlock = language.indentedBlocks === true ? nextInside : inBrackets;
    const outermost = above.findLast((line) => line.trim() !== '' && this.#width(leadOf(line)) === 0);
    this.#inFunction = /^(?:async\s+def|class|def)\b/.test(outermost ?? '');
    this.#around = language.indentedBlocks ? this.#blocksAbove() : this.#openersAbove(closedBy(scannedHead));
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
    if (head.trim() !== '' || text === '' || CASE.test(text)) return line;
    if (!this.#repairs()) return line;
    if (this.#isInPlace(previous) && head !== '') return text;
    if (!this.#opensBlock(previous)) return line;
    const wanted = this.#width(leadOf(previous)) + (isCloser(text) ? 0 : this.#unit());
    const width = this.#width(leadOf(whole));
    // The answer is indented, or there is more than the opening line's indentation already.
    if (width >= wanted || width > this.#width(leadOf(previous))) return line;
    const repaired = this.#lead(wanted);
    return repaired.startsWith(head) ? repaired.slice(head.length) + text : line;
  }

  /** Whether the caret is where a statement starts: white space of the answer would be too much. */
  #isInPlace(previous: string): boolean {
    const { language, caret } = this.#place;
    const above = this.#width(leadOf(previous));
    if (this.#opensBlock(previous)) return this.#base > above;
    const isNext = language.indentedBlocks === true && caret.openBrackets === 0 && !previous.endsWith('\\');
    return isNext && this.#base === above;
  }

  /** A further line. @param before the state after the lines before it. */
  next(line: string, before: BracketScanner): string {
    const text = line.trimStart();
    this.#blank = text === '' ? this.#blank + 1 : this.#blank;
    if (text === '' || before.inside !== undefined || !this.#repairs()) return line;
    const width = this.#width(leadOf(line));
    const wanted = this.#place.language.indentedBlocks
      ? this.#wantedAfterColon(text, width, before)
      : this.#wantedInBrackets(text, width, before);
    const repaired = wanted === width ? line : this.#lead(wanted) + text;
    this.#previous = repaired;
    this.#previousLevel = levelOf(before);
    this.#blank = 0;
    this.#lastWidth = wanted;
    return repaired;
  }

  #wantedInBrackets(text: string, width: number, before: BracketScanner): number {
    const open = before.openedBrackets;
    while ((this.#levels.at(-1)?.open ?? 0) > open) this.#levels.pop();
    if (open > (this.#levels.at(-1)?.open ?? 0)) this.#levels.push({ open, width: this.#lastWidth });
    if (LABEL.test(text) || (this.#place.language.tags === true && TAG_END.test(text))) return width;
    const closers = closersAtStart(text);
    if (this.#startsTooDeep(text, width, before)) return this.#moveBack(width, levelOf(before));
    const rest = open - closers;
    const depth = this.#levels.filter((level) => level.open <= rest).length;
    const opener = closers > 0 ? this.#levels[depth] : this.#levels.at(-1);
    // A block in an argument may start under the line that it belongs to.
    if (opener !== undefined && text.startsWith('{') && width === opener.width) return width;
    if (opener !== undefined) {
      return this.#moveWith(
        width,
        depth,
        closers > 0 || (width > opener.width && this.#moved === undefined) ? opener.width : opener.width + this.#unit(),
      );
    }
    const closed = closedBy(before) + Math.max(0, -rest);
    const outer = Math.max(0, closed - this.#openInHead);
    const inHead = this.#headOpens && closed < this.#openInHead;
    if (inHead) return this.#moveWith(width, 1, width > this.#base ? width : this.#base + this.#unit());
    const least = this.#sameBlock || closers > 0 ? this.#leastOutside(width, outer, closers > 0) : 0;
    return this.#moveWith(width, -outer, Math.max(0, least));
  }

  /** Whether a line is deeper than the line before, although it does not belong to it. */
  #startsTooDeep(text: string, width: number, before: BracketScanner): boolean {
    const previous = this.#previous;
    const moved = this.#moved;
    if (moved !== undefined || width <= this.#width(leadOf(previous)) || CONTINUES.test(text)) return false;
    const level = levelOf(before);
    const isSibling = this.#previousLevel === level || isCloser(previous.trimStart());
    // Lines after an opening bracket on the caret's line are deeper than this line.
    if (!isSibling || (level === 0 && this.#openInHead > 0)) return false;
    return ENDED.test(previous) || (/,\s*$/.test(previous) && ELEMENT.test(previous) && ELEMENT.test(text));
  }

  /** Moves a line to the indentation of the line before, and the following lines on its level by as much. */
  #moveBack(width: number, depth: number): number {
    const wanted = this.#width(leadOf(this.#previous));
    this.#moved = { by: wanted - width, depth, from: width };
    return wanted;
  }

  /** The least indentation of a line after so many brackets from before the answer were closed. */
  #leastOutside(width: number, closed: number, closes: boolean): number {
    const usual = closed === 0 ? this.#base : (this.#around[closed - 1] ?? this.#base - closed * this.#unit());
    // The opening bracket may be above the known lines.
    const opener = this.#around[closed] ?? (this.#place.caret.openBrackets > closed ? 0 : undefined);
    // The caret's line may continue a statement, so that the next statement is less indented.
    const mayContinue = closed > 0 || !this.#startsStatement;
    const inBlock = opener !== undefined && !closes && mayContinue && width >= opener + this.#unit();
    return inBlock ? Math.min(width, usual) : usual;
  }

  /** The indentation of the lines above whose brackets are open at the caret, innermost first. */
  #openersAbove(closedInHead: number): readonly number[] {
    const { above, language } = this.#place;
    const widths: number[] = [];
    let closed = closedInHead;
    for (const line of [...above].reverse()) {
      const scanned = new BracketScanner(language).read(line);
      const opened = scanned.openedBrackets;
      for (let open = opened - closed; open > 0; open--) widths.push(this.#width(leadOf(line)));
      closed = Math.max(0, closed - opened) + closedBy(scanned);
    }
    return widths;
  }

  /** The indentation of the blocks around the caret's line, innermost first. */
  #blocksAbove(): readonly number[] {
    const widths: number[] = [];
    for (const line of [...this.#place.above].reverse()) {
      const width = this.#width(leadOf(line));
      if (width < (widths.at(-1) ?? this.#base)) widths.push(width);
    }
    return widths;
  }

  #wantedAfterColon(text: string, width: number, before: BracketScanner): number {
    if (before.openedBrackets > 0) return width;
    const previous = this.#previous;
    const opened = this.#width(leadOf(previous));
    if (OPENS_COLON.test(previous) && width <= opened) return this.#moveWith(width, 0, opened + this.#unit());
    const moved = this.#moved;
    if (moved === undefined && this.#isUnexpected(previous, width, opened)) return this.#moveBack(width, 0);
    if (moved !== undefined) return width >= moved.from ? width + moved.by : Math.max(width, this.#base);
    if (width >= this.#base) this.#fromMargin = true;
    const endsBlock = width === 0 ? this.#fromMargin || this.#blank >= 2 : this.#around.includes(width);
    const atMargin = width === 0 && this.#blank === 0 && this.#inFunction;
    const goesOn = this.#sameBlock || (atMargin && !LEAVES.test(previous) && !MODULE.test(text));
    return goesOn && !endsBlock ? this.#moveWith(width, 0, this.#base) : width;
  }

  /** Whether a line is deeper than a line before it that opens no block. */
  #isUnexpected(previous: string, width: number, opened: number): boolean {
    return (
      width > opened && this.#place.caret.openBrackets === 0 && !OPENS_COLON.test(previous) && !previous.endsWith('\\')
    );
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
      language.prose !== true &&
      (language.brackets || language.indentedBlocks === true) &&
      (caret.inside === undefined || caret.inShortString)
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

/** Number of brackets that are open, relative to the caret. */
function levelOf(scanner: BracketScanner): number {
  return scanner.openedBrackets - closedBy(scanner);
}

/** Number of brackets from before the text that it closes. */
function closedBy({ exits }: BracketScanner): number {
  return exits.filter(({ kind }) => kind === 'bracket').length;
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
