/** Lines of one block inside an open fence: growing one large text node costs its whole layout at each delta. */
const LINES = 64;

/** The beginning of a fence at the start of a text (as `marked` reads it), and the rest after its first line. */
export interface OpenFence {
  readonly indent: string;
  readonly run: string;
  readonly info: string;
  /** Characters of its first line with the line break. */
  readonly length: number;
}

export function openFence(source: string): OpenFence | undefined {
  const match = /^( {0,3})(`{3,}(?=[^`\n]*\n)|~{3,}(?!~))([^\n]*)\n/.exec(source);
  if (!match) return undefined;
  const [whole, indent = '', run = '', info = ''] = match;
  return { indent, run, info: info.trim(), length: whole.length };
}

/** Writes the lines of an open fence into a code element, once each. */
export class FenceWriter {
  readonly #code: HTMLElement;
  readonly #fence: OpenFence;
  #chunk: Text | undefined;
  #lines = 0;
  #pending = '';
  /** What of the pending line is on screen already. */
  #shown = 0;
  #empty = true;

  constructor(code: HTMLElement, fence: OpenFence) {
    this.#code = code;
    this.#fence = fence;
  }

  /** What follows the closing line, from its line break on; undefined while the fence is open. */
  append(text: string): string | undefined {
    this.#pending += text;
    for (let end = this.#pending.indexOf('\n'); end !== -1; end = this.#pending.indexOf('\n')) {
      const line = this.#pending.slice(0, end);
      if (this.#closes(line)) return this.#pending.slice(end);
      this.#writeLine(line);
      this.#pending = this.#pending.slice(end + 1);
      this.#shown = 0;
      this.#empty = false;
    }
    this.#showPartial();
    return undefined;
  }

  /** The text is over: the last line is what it is. True when it closed the fence. */
  end(): boolean {
    if (this.#closes(this.#pending)) return true;
    if (this.#pending !== '') this.#writeLine(this.#pending);
    this.#pending = '';
    return false;
  }

  #closes(line: string): boolean {
    const body = line.replace(/^ {0,3}/, '');
    const { run } = this.#fence;
    return body.startsWith(run) && /^[~`]* *$/.test(body.slice(run.length));
  }

  /** The line that still grows, unless it may turn out to be the closing one. */
  #showPartial(): void {
    const line = this.#pending;
    if (line === '' || /^\s*$/.test(line) || /^ {0,3}[`~][`~ ]*$/.test(line)) return;
    if (this.#shown === 0) this.#begin();
    this.#write(this.#unindented(line).slice(this.#shown));
    this.#shown = this.#unindented(line).length;
  }

  #writeLine(line: string): void {
    if (this.#shown === 0) this.#begin();
    this.#write(this.#unindented(line).slice(this.#shown));
  }

  /** Begins a line: the break before it is written with it, since the last one of a fence belongs to nobody. */
  #begin(): void {
    if (this.#chunk === undefined || this.#lines >= LINES) {
      if (this.#chunk) this.#write('\n');
      const block = document.createElement('span');
      block.className = 'lines';
      this.#chunk = document.createTextNode('');
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

  /** As `marked` takes away the indentation of the fence. */
  #unindented(line: string): string {
    const { indent, run } = this.#fence;
    // It does so for fences of backticks alone.
    if (indent === '' || run.startsWith('~')) return line;
    const own = /^\s*/.exec(line)?.[0] ?? '';
    return line.slice(Math.min(own.length, indent.length));
  }
}
