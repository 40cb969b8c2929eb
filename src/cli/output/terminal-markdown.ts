import { forTerminal } from './output.ts';

type Style = 'bold' | 'italic' | 'strike' | 'code' | 'dim' | 'heading' | 'link';

/** Select Graphic Rendition: the codes that begin and end a style. */
const CODES: Readonly<Record<Style, readonly [on: string, off: string]>> = {
  bold: ['1', '22'],
  italic: ['3', '23'],
  strike: ['9', '29'],
  code: ['36', '39'],
  dim: ['2', '22'],
  heading: ['1;35', '22;39'],
  link: ['4', '24'],
};

const LONGEST_LINK = 2000;
/** The beginning of a line that may become a marker of a block with the next characters. */
const UNDECIDED = /^[ \t]{0,20}(?:#{0,6}|>|[-*+_ ]{0,80}|\d{0,9}[.)]?|`{0,2}|~{0,2}|(?:`{3,}|~{3,})[^\n]{0,200})$/;

/**
 * Renders streamed Markdown with the styles of a terminal. Text is written as it arrives: only characters that may be
 * part of a marker wait for the next ones. Unknown syntax, such as tables, remains as it is.
 */
export class TerminalMarkdown {
  #pending = '';
  #atLineStart = true;
  #previous = '';
  #fence = '';
  #codeRun = 0;
  readonly #active = new Set<Style>();

  /** @param text of a model. Sequences that control the terminal are made visible. */
  write(text: string): string {
    this.#pending += forTerminal(text);
    return this.#consume(false);
  }

  /** The rest of the text, and the end of all styles. */
  end(): string {
    return this.#consume(true) + this.#endStyles();
  }

  #consume(final: boolean): string {
    let out = '';
    while (this.#pending !== '') {
      const piece = this.#atLineStart ? this.#lineStart(final) : this.#inline(final);
      if (piece === undefined) break;
      out += piece;
    }
    return out;
  }

  /** Removes characters from the pending text. */
  #take(length: number): string {
    const taken = this.#pending.slice(0, length);
    this.#pending = this.#pending.slice(length);
    return taken;
  }

  /** Undefined: more text is needed. */
  #lineStart(final: boolean): string | undefined {
    const text = this.#pending;
    if (this.#fence !== '') return this.#inFence(final);
    if (!final && UNDECIDED.test(text)) return undefined;
    const fence = /^ {0,3}(`{3,}|~{3,})([^\n`]{0,200})(?:\n|$)/.exec(text);
    if (fence) {
      this.#take(fence[0].length);
      this.#fence = fence[1] ?? '';
      return `${styled('dim', `─── ${fence[2]?.trim() ?? ''}`.trimEnd())}\n`;
    }
    const rule = /^ {0,3}([-*_])(?:[ \t]{0,3}\1){2,80}[ \t]{0,3}(?:\n|$)/.exec(text);
    if (rule) {
      this.#take(rule[0].length);
      return `${styled('dim', '─'.repeat(40))}\n`;
    }
    const quote = /^ {0,3}> ?/.exec(text);
    if (quote) {
      this.#take(quote[0].length);
      return styled('dim', '│ ');
    }
    this.#atLineStart = false;
    this.#previous = '';
    const heading = /^ {0,3}#{1,6}[ \t]{1,20}/.exec(text);
    if (heading) {
      this.#take(heading[0].length);
      return this.#begin('heading');
    }
    const item = /^([ \t]{0,40})[-*+][ \t]{1,4}/.exec(text);
    if (item) {
      this.#take(item[0].length);
      return `${item[1] ?? ''}• `;
    }
    return '';
  }

  /** The lines of a code block, unchanged. */
  #inFence(final: boolean): string | undefined {
    const text = this.#pending;
    const end = /^ {0,3}(`{0,200}|~{0,200})[ \t]{0,20}(\n|$)/.exec(text);
    if (end && end[2] === '' && !final) return undefined;
    const run = end?.[1] ?? '';
    if (end && run[0] === this.#fence[0] && run.length >= this.#fence.length) {
      this.#take(end[0].length);
      this.#fence = '';
      return `${styled('dim', '───')}\n`;
    }
    this.#atLineStart = false;
    return '';
  }

  /** Undefined: more text is needed. */
  #inline(final: boolean): string | undefined {
    const text = this.#pending;
    const character = text[0] ?? '';
    if (character === '\n') return this.#endLine();
    if (this.#fence !== '') return this.#codeLine();
    if (character === '`') return this.#backticks(final);
    if (this.#codeRun > 0) return this.#plain(/^[^\n`]+/);
    switch (character) {
      case '\\':
        if (text.length < 2 && !final) return undefined;
        this.#take(/^\\[!-/:-@[-`{-~]/.test(text) ? 1 : 0);
        return this.#plain(/^[^\n]/);
      case '*':
      case '_':
      case '~':
        return this.#emphasis(character, final);
      case '[':
        return this.#link(final);
      default:
        return this.#plain(/^[^\n`*_~[\\]+/);
    }
  }

  #endLine(): string {
    this.#take(1);
    this.#atLineStart = true;
    this.#codeRun = 0;
    return `${this.#endStyles()}\n`;
  }

  #codeLine(): string {
    const [line = ''] = /^[^\n]+/.exec(this.#pending) ?? [];
    return styled('code', this.#take(line.length));
  }

  #plain(pattern: RegExp): string {
    const taken = this.#take(pattern.exec(this.#pending)?.[0].length ?? 1);
    this.#previous = taken.at(-1) ?? this.#previous;
    return taken;
  }

  /** Inline code ends with as many backticks as it begins with. */
  #backticks(final: boolean): string | undefined {
    const run = /^`+/.exec(this.#pending)?.[0].length ?? 1;
    if (run === this.#pending.length && !final) return undefined;
    if (this.#codeRun === 0 || this.#codeRun === run) {
      this.#take(run);
      this.#previous = '`';
      const begins = this.#codeRun === 0;
      this.#codeRun = begins ? run : 0;
      return begins ? this.#begin('code') : this.#end('code');
    }
    return this.#take(run);
  }

  #emphasis(mark: '*' | '_' | '~', final: boolean): string | undefined {
    const text = this.#pending;
    const run = text.length - text.replace(mark === '*' ? /^\*+/ : mark === '_' ? /^_+/ : /^~+/, '').length;
    if (run === text.length && !final) return undefined;
    const next = text[run] ?? ' ';
    const before = this.#previous;
    const styles = emphasisStyles(mark, run);
    const closes = styles.length > 0 && styles.every((style) => this.#active.has(style)) && /\S/.test(before);
    const opens = /\S/.test(next) && !/[\p{L}\p{N}]/u.test(before);
    const word = mark === '_' && /[\p{L}\p{N}]/u.test(next);
    this.#take(run);
    this.#previous = mark;
    if (closes && !word) return styles.map((style) => this.#end(style)).join('');
    if (styles.length > 0 && opens) return styles.map((style) => this.#begin(style)).join('');
    return mark.repeat(run);
  }

  /** `[text](address)` becomes the text and its address. */
  #link(final: boolean): string | undefined {
    const text = this.#pending;
    const link = /^\[([^[\]\n]{1,500})\]\(([^()\s]{1,1500})\)/.exec(text);
    if (link) {
      this.#take(link[0].length);
      this.#previous = ')';
      const [, label = '', address = ''] = link;
      return label === address ? styled('link', label) : `${styled('link', label)} (${address})`;
    }
    const open = /^\[[^[\]\n]{0,500}(?:\](?:\([^()\s]{0,1500})?)?$/.test(text);
    if (open && !final && text.length < LONGEST_LINK) return undefined;
    return this.#plain(/^\[/);
  }

  #begin(style: Style): string {
    this.#active.add(style);
    return `\u001b[${CODES[style][0]}m`;
  }

  /** Ends a style and begins the others again that the same code ends. */
  #end(style: Style): string {
    this.#active.delete(style);
    const again = [...this.#active].map((each) => `\u001b[${CODES[each][0]}m`).join('');
    return `\u001b[${CODES[style][1]}m${again}`;
  }

  #endStyles(): string {
    if (this.#active.size === 0) return '';
    this.#active.clear();
    return '\u001b[0m';
  }
}

function emphasisStyles(mark: '*' | '_' | '~', run: number): readonly Style[] {
  if (mark === '~') return run === 2 ? ['strike'] : [];
  if (run === 1) return ['italic'];
  if (run === 2) return ['bold'];
  return run === 3 ? ['bold', 'italic'] : [];
}

function styled(style: Style, text: string): string {
  return text === '' ? '' : `\u001b[${CODES[style][0]}m${text}\u001b[${CODES[style][1]}m`;
}
