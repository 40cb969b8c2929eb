import { type Fence, FenceEnd, readFence, unindented } from '../../../base/fences.ts';

/**
 * Lines per block inside an open fence: a change of one large text node causes a layout of the whole node. Also the
 * number of lines that are coloured together: a frame that colours more takes too long.
 */
const LINES = 8;
/** Milliseconds until the lines of a block that is not full are coloured again. */
const COLOUR_MS = 150;

/** A fence at the start of a text. */
export interface OpenFence extends Fence {
  /** Length of the opening line including the line break. */
  readonly length: number;
}

export function openFence(source: string): OpenFence | undefined {
  const end = source.indexOf('\n');
  const fence = end === -1 ? undefined : readFence(source.slice(0, end));
  return fence && { ...fence, length: end + 1 };
}

/** Writes each line of an open fence once into a code element. */
export class FenceWriter {
  readonly #code: HTMLElement;
  readonly #fence: OpenFence;
  readonly #end: FenceEnd;
  #chunk: Text | undefined;
  /** The coloured lines of the last block, before `#chunk`. */
  #coloured: HTMLElement | undefined;
  #highlight: ((code: string) => string | undefined) | undefined;
  #colouredAt = 0;
  #lines = 0;
  #pending = '';
  /** Number of characters of the pending line that are already on screen. */
  #shown = 0;
  #empty = true;

  constructor(code: HTMLElement, fence: OpenFence) {
    this.#code = code;
    this.#fence = fence;
    this.#end = new FenceEnd(fence);
  }

  /** Returns the text after the closing line, starting with its line break; undefined while the fence is open. */
  append(text: string): string | undefined {
    this.#pending += text;
    const rest = this.#takeLines(false);
    if (rest !== undefined || this.#pending.includes('\n')) return rest;
    this.#showPartial();
    if (performance.now() - this.#colouredAt > COLOUR_MS) this.#colour();
    return undefined;
  }

  /** Writes the complete lines, except one whose meaning the text after it decides. Returns as `append`. */
  #takeLines(last: boolean): string | undefined {
    for (let end = this.#pending.indexOf('\n'); end !== -1; end = this.#pending.indexOf('\n')) {
      const line = this.#pending.slice(0, end);
      const [next = '', following] = this.#pending.slice(end + 1).split('\n', 2);
      if (!last && next.trim() === '' && following === undefined && this.#end.needsNext(line)) return undefined;
      if (this.#end.closes(line, next)) return this.#pending.slice(end);
      this.#writeLine(line);
      this.#pending = this.#pending.slice(end + 1);
      this.#shown = 0;
      this.#empty = false;
    }
    return undefined;
  }

  /** The text is complete: handles the last line. True if it closed the fence. */
  end(): boolean {
    if (this.#takeLines(true) !== undefined || this.#end.closes(this.#pending)) return true;
    if (this.#pending !== '') this.#writeLine(this.#pending);
    this.#pending = '';
    return false;
  }

  /** From now on complete lines are coloured, a block at a time. */
  colourWith(highlight: (code: string) => string | undefined): void {
    this.#highlight = highlight;
    this.#colour();
  }

  /**
   * Colours the complete lines of the last block. The whole code is coloured again when the fence closes, because a
   * construct may have begun in an earlier block.
   */
  #colour(): void {
    const chunk = this.#chunk;
    const end = chunk ? chunk.data.lastIndexOf('\n') + 1 : 0;
    if (!chunk || !this.#highlight || end === 0) return;
    const html = this.#highlight((this.#coloured?.textContent ?? '') + chunk.data.slice(0, end));
    if (html === undefined) return;
    if (!this.#coloured) {
      this.#coloured = document.createElement('span');
      chunk.before(this.#coloured);
    }
    // highlight.js escapes its input: its output has only spans with its own classes.
    this.#coloured.innerHTML = html;
    chunk.deleteData(0, end);
    this.#colouredAt = performance.now();
  }

  /** Shows the incomplete line, unless it may become the closing line. */
  #showPartial(): void {
    const line = this.#pending;
    if (line === '' || /^\s*$/.test(line) || /^ {0,3}[`~][`~ ]*$/.test(line)) return;
    if (this.#shown === 0) this.#begin();
    this.#write(unindented(line, this.#fence).slice(this.#shown));
    this.#shown = unindented(line, this.#fence).length;
  }

  #writeLine(line: string): void {
    if (this.#shown === 0) this.#begin();
    this.#write(unindented(line, this.#fence).slice(this.#shown));
  }

  /** Starts a line. Writes the preceding line break now, because the last line break of a fence is not content. */
  #begin(): void {
    if (this.#chunk === undefined || this.#lines >= LINES) {
      if (this.#chunk) this.#write('\n');
      this.#colour();
      const block = document.createElement('span');
      block.className = 'lines';
      this.#chunk = document.createTextNode('');
      this.#coloured = undefined;
      block.append(this.#chunk);
      this.#code.append(block);
      this.#lines = 1;
      return;
    }
    this.#write('\n');
    this.#lines += 1;
  }

  #write(text: string): void {
    if (text !== '') this.#chunk?.appendData(text);
  }

  get empty(): boolean {
    return this.#empty && this.#pending === '';
  }
}
