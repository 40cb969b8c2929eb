/** A word of a command after removal of quotes. */
export interface ShellWord {
  readonly text: string;
  /** False if the shell replaces a part of it: a variable, a glob, the output of a command. */
  readonly literal: boolean;
}

/** One program with its arguments. */
export interface SimpleCommand {
  readonly words: readonly ShellWord[];
  /** It begins with assignments of variables, such as `PATH=.`. */
  readonly assigns: boolean;
  /** The files that it writes by redirection, except `/dev/null`. */
  readonly writes: readonly string[];
  /** The files that it reads by redirection. */
  readonly reads: readonly string[];
}

/** Syntax that needs more than splitting: it is asked. */
const KEYWORDS = new Set([
  ...['if', 'then', 'elif', 'else', 'fi', 'for', 'while', 'until', 'do', 'done', 'case', 'esac', 'select', 'in'],
  ...['function', 'coproc', 'time', '!', '[[', '{', '}'],
]);

/** Nested substitutions beyond this are not understood. */
const MAX_DEPTH = 8;

class NotUnderstood extends Error {}

/**
 * Splits a command line of a POSIX shell (bash, zsh, sh, fish without its own syntax) into all commands that it runs,
 * also those in `$()`, backticks, `<()` and subshells. Undefined if it has other syntax: here-documents, functions,
 * loops, arithmetic, or an error.
 */
export function splitCommandLine(line: string): readonly SimpleCommand[] | undefined {
  try {
    const found: SimpleCommand[] = [];
    new LineReader(line, 0, found).read();
    return found;
  } catch (thrown) {
    if (thrown instanceof NotUnderstood) return undefined;
    throw thrown;
  }
}

/** Reads one command line. Commands of substitutions are added to the same list. */
class LineReader {
  readonly #text: string;
  readonly #depth: number;
  readonly #found: SimpleCommand[];
  #at = 0;
  #words: ShellWord[] = [];
  #writes: string[] = [];
  #reads: string[] = [];
  #assigns = false;

  constructor(text: string, depth: number, found: SimpleCommand[]) {
    if (depth > MAX_DEPTH) throw new NotUnderstood();
    this.#text = text;
    this.#depth = depth;
    this.#found = found;
  }

  read(): void {
    let open = 0;
    while (this.#at < this.#text.length) {
      const character = this.#text[this.#at] ?? '';
      if (character === ' ' || character === '\t') this.#at += 1;
      else if (this.#text.startsWith('\\\n', this.#at)) this.#at += 2;
      else if (character === '#') this.#skipComment();
      else if (character === '(' && this.#words.length === 0) {
        if (this.#text[this.#at + 1] === '(') throw new NotUnderstood();
        open += 1;
        this.#at += 1;
      } else if (character === ')' && open > 0) {
        this.#endCommand();
        open -= 1;
        this.#at += 1;
      } else if (/[;&|\n]/.test(character) && !this.#text.startsWith('&>', this.#at)) {
        this.#endCommand();
        this.#at += 1;
      } else if (!this.#redirection()) this.#word();
    }
    if (open > 0) throw new NotUnderstood();
    this.#endCommand();
  }

  #endCommand(): void {
    const first = this.#words[0];
    const changes = this.#assigns || this.#writes.length > 0 || this.#reads.length > 0;
    if (first !== undefined || changes) {
      if (first?.literal && KEYWORDS.has(first.text)) throw new NotUnderstood();
      const { length } = this.#found;
      this.#found[length] = {
        ...{ words: this.#words, assigns: this.#assigns, writes: this.#writes, reads: this.#reads },
      };
    }
    this.#words = [];
    this.#writes = [];
    this.#reads = [];
    this.#assigns = false;
  }

  #skipComment(): void {
    const end = this.#text.indexOf('\n', this.#at);
    this.#at = end === -1 ? this.#text.length : end;
  }

  /** Reads a redirection with its target. */
  #redirection(): boolean {
    const operator = /^(?:\d{0,2}(?:<<<|<<|<>|>>|>\||<&|>&|<|>)|&>>?)/.exec(
      this.#text.slice(this.#at, this.#at + 6),
    )?.[0];
    if (operator === undefined) return false;
    const plain = operator.replace(/^\d+/, '');
    if (plain === '<<' || plain === '<>') throw new NotUnderstood();
    if ((plain === '<' || plain === '>') && this.#text[this.#at + operator.length] === '(') return false;
    this.#at += operator.length;
    while (/[ \t]/.test(this.#text[this.#at] ?? '')) this.#at += 1;
    const target = this.#readWord();
    if (target === undefined) throw new NotUnderstood();
    const copies = plain.endsWith('&') && /^(?:\d+-?|-)$/.test(target.text);
    if (copies || plain === '<<<') return true;
    if (!target.literal) throw new NotUnderstood();
    if (plain === '<') this.#reads.push(target.text);
    else if (target.text !== '/dev/null') this.#writes.push(target.text);
    return true;
  }

  #word(): void {
    const start = this.#at;
    const word = this.#readWord();
    if (word === undefined) throw new NotUnderstood();
    if (this.#words.length === 0 && /^[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=/.test(this.#text.slice(start, start + 200))) {
      this.#assigns = true;
    } else this.#words.push(word);
  }

  /** Reads until a separator. Undefined if there is no word. */
  #readWord(): ShellWord | undefined {
    const start = this.#at;
    const parts: string[] = [];
    let literal = true;
    for (;;) {
      const character = this.#text[this.#at];
      if (character === undefined || /[\s;&|()<>]/.test(character)) {
        // `<(…)` and `>(…)` are words.
        if (/[<>]/.test(character ?? '') && this.#text[this.#at + 1] === '(') {
          this.#at += 1;
          this.#substitution(this.#closingParenthesis(this.#at + 1));
          literal = false;
          continue;
        }
        break;
      }
      if (character === "'") parts.push(this.#until("'"));
      else if (character === '"') literal = this.#doubleQuoted(parts) && literal;
      else if (character === '\\') parts.push(this.#escaped());
      else if (character === '$' || character === '`') {
        this.#expansion();
        literal = false;
      } else {
        if (/[*?[~]/.test(character) && (character !== '~' || parts.length === 0)) literal = false;
        // The shell expands `{a,b}`. A single `{` is a keyword.
        if (character === '{' && /\S/.test(this.#text[this.#at + 1] ?? '')) literal = false;
        parts.push(character);
        this.#at += 1;
      }
    }
    return this.#at === start ? undefined : { text: parts.join(''), literal };
  }

  #until(quote: string): string {
    const end = this.#text.indexOf(quote, this.#at + 1);
    if (end === -1) throw new NotUnderstood();
    const inner = this.#text.slice(this.#at + 1, end);
    this.#at = end + 1;
    return inner;
  }

  #escaped(): string {
    const next = this.#text[this.#at + 1];
    if (next === undefined) throw new NotUnderstood();
    this.#at += 2;
    return next === '\n' ? '' : next;
  }

  /** Returns whether the text is literal. */
  #doubleQuoted(parts: string[]): boolean {
    let literal = true;
    this.#at += 1;
    for (;;) {
      const character = this.#text[this.#at];
      if (character === undefined) throw new NotUnderstood();
      if (character === '"') break;
      if (character === '\\') {
        const next = this.#text[this.#at + 1] ?? '';
        parts.push('$`"\\\n'.includes(next) ? this.#escaped() : `\\${this.#escaped()}`);
      } else if (character === '$' || character === '`') {
        this.#expansion();
        literal = false;
      } else {
        parts.push(character);
        this.#at += 1;
      }
    }
    this.#at += 1;
    return literal;
  }

  /** Reads `$name`, `${…}`, `$(…)` or backticks. */
  #expansion(): void {
    if (this.#text[this.#at] === '`') {
      const inner = this.#until('`');
      if (inner.includes('\\')) throw new NotUnderstood();
      new LineReader(inner, this.#depth + 1, this.#found).read();
      return;
    }
    const next = this.#text[this.#at + 1] ?? '';
    if (next === '(') {
      if (this.#text[this.#at + 2] === '(') throw new NotUnderstood();
      this.#at += 1;
      this.#substitution(this.#closingParenthesis(this.#at + 1));
    } else if (next === '{') {
      const name = /^\{[A-Za-z_]\w{0,99}\}/.exec(this.#text.slice(this.#at + 1, this.#at + 110))?.[0];
      // Others contain words that the shell expands again.
      if (name === undefined) throw new NotUnderstood();
      this.#at += 1 + name.length;
    } else if (next === "'" || next === '"' || next === '[') throw new NotUnderstood();
    else {
      const name = /^(?:[A-Za-z_]\w{0,99}|[\d@*#?$!-])/.exec(this.#text.slice(this.#at + 1, this.#at + 110))?.[0] ?? '';
      this.#at += 1 + name.length;
    }
  }

  /** Reads the commands between the parenthesis here and the one at `end`. */
  #substitution(end: number): void {
    new LineReader(this.#text.slice(this.#at + 1, end), this.#depth + 1, this.#found).read();
    this.#at = end + 1;
  }

  #closingParenthesis(from: number): number {
    let open = 1;
    for (let at = from; at < this.#text.length; at += 1) {
      const character = this.#text[at];
      if (character === '\\') at += 1;
      else if (character === "'") {
        at = this.#text.indexOf("'", at + 1);
        if (at === -1) throw new NotUnderstood();
      } else if (character === '"') at = this.#closingQuote(at + 1);
      else if (character === '#' && /[\s;&|(]/.test(this.#text[at - 1] ?? ' ')) throw new NotUnderstood();
      else if (character === '(') open += 1;
      else if (character === ')') {
        open -= 1;
        if (open === 0) return at;
      }
    }
    throw new NotUnderstood();
  }

  /** A substitution inside quotes may contain quotes: that is not understood. */
  #closingQuote(from: number): number {
    for (let at = from; at < this.#text.length; at += 1) {
      const character = this.#text[at];
      if (character === '\\') at += 1;
      else if (character === '"') return at;
      else if (character === '`' || (character === '$' && this.#text[at + 1] === '(')) throw new NotUnderstood();
    }
    throw new NotUnderstood();
  }
}
