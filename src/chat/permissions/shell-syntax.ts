import { splitWords } from '../../base/split-words.ts';
/** A word of a command after removal of quotes. */
export interface ShellWord {
  readonly text: string;
  /** False if the shell replaces a part of it: a variable, a glob, the output of a command. */
  readonly literal: boolean;
  /**
   * Of a word with globs, braces, `~` or `$PWD` only: its text in which a backslash precedes each character that the
   * shell takes as it is. Absent if the word is literal, or has parts that are not known before it runs.
   */
  readonly pattern?: string;
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
const KEYWORDS = new Set(
  splitWords('if then elif else fi for while until do done case esac select in function coproc time ! [[ { }'),
);

/** Stands for the current folder in a pattern. Its text can't contain it: control characters are refused. */
export const CURRENT_FOLDER = '\u0000';

/** Collects the parts of a word. */
class WordParts {
  readonly #texts: string[] = [];
  readonly #pattern: string[] = [];
  #literal = true;
  #known = true;

  addQuoted(text: string): void {
    this.#texts.push(text);
    this.#pattern.push(text.replace(/[^\w/.]/g, '\\$&'));
  }

  addPlain(character: string, special: boolean): void {
    this.#texts.push(character);
    this.#pattern.push(character);
    if (special) this.#literal = false;
  }

  addFolder(): void {
    this.#pattern.push(CURRENT_FOLDER);
    this.#literal = false;
  }

  addUnknown(): void {
    this.#literal = false;
    this.#known = false;
  }

  word(): ShellWord {
    const word = { text: this.#texts.join(''), literal: this.#literal };
    return this.#literal || !this.#known ? word : { ...word, pattern: this.#pattern.join('') };
  }
}

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
    new LineReader(joinContinuedLines(line), 0, found).read();
    return found;
  } catch (thrown) {
    if (thrown instanceof NotUnderstood) return undefined;
    throw thrown;
  }
}

/**
 * Removes each backslash with a line break, as the shell does before it reads `$(`, `&&` and other operators. In single
 * quotes and comments, they stay (POSIX, 2.2.1).
 */
export function joinContinuedLines(line: string): string {
  if (!line.includes('\\\n')) return line;
  const parts: string[] = [];
  let quoted = false;
  for (let at = 0; at < line.length; ) {
    const character = line[at] ?? '';
    let length = 1;
    if (character === '\\') {
      length = 2;
      if (line[at + 1] === '\n') {
        at += length;
        continue;
      }
    } else if (character === '"') quoted = !quoted;
    // Inside a substitution in double quotes, single quotes and comments have a meaning again.
    else if (quoted && (character === "'" || character === '#') && /[`$]/.test(line)) throw new NotUnderstood();
    else if (!quoted && (character === "'" || (character === '#' && /^[\s;&|()]?$/.test(parts.at(-1) ?? '')))) {
      const end = line.indexOf(character === '#' ? '\n' : "'", at + 1);
      length = (end === -1 ? line.length : end + 1) - at;
    }
    parts.push(line.slice(at, at + length));
    at += length;
  }
  return parts.join('');
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
        words: this.#words,
        assigns: this.#assigns,
        writes: this.#writes,
        reads: this.#reads,
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
    if (copies) return true;
    // Also after `<<<`: a variable may be a secret.
    if (!target.literal) throw new NotUnderstood();
    if (plain === '<<<') return true;
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
    const parts = new WordParts();
    for (;;) {
      const character = this.#text[this.#at];
      if (character === undefined || /[\s;&|()<>]/.test(character)) {
        // `<(…)` and `>(…)` are words.
        if (/[<>]/.test(character ?? '') && this.#text[this.#at + 1] === '(') {
          this.#at += 1;
          this.#substitution(this.#closingParenthesis(this.#at + 1));
          parts.addUnknown();
          continue;
        }
        break;
      }
      if (character === "'") parts.addQuoted(this.#until("'"));
      else if (character === '"') this.#doubleQuoted(parts);
      else if (character === '\\') parts.addQuoted(this.#escaped());
      else if (character === '$' || character === '`') this.#expansion(parts);
      else {
        // The shell expands `{a,b}`. A single `{` is a keyword.
        const opens = character === '{' && /\S/.test(this.#text[this.#at + 1] ?? '');
        // It also expands `a=~/b`.
        const isHome = character === '~' && /^$|[=:]$/.test(this.#text.slice(start, this.#at));
        parts.addPlain(character, opens || isHome || /[*?[]/.test(character));
        this.#at += 1;
      }
    }
    return this.#at === start ? undefined : parts.word();
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

  #doubleQuoted(parts: WordParts): void {
    this.#at += 1;
    for (;;) {
      const character = this.#text[this.#at];
      if (character === undefined) throw new NotUnderstood();
      if (character === '"') break;
      if (character === '\\') {
        const next = this.#text[this.#at + 1] ?? '';
        parts.addQuoted('$`"\\\n'.includes(next) ? this.#escaped() : `\\${this.#escaped()}`);
      } else if (character === '$' || character === '`') this.#expansion(parts);
      else {
        parts.addQuoted(character);
        this.#at += 1;
      }
    }
    this.#at += 1;
  }

  /** Reads `$name`, `${…}`, `$(…)` or backticks. */
  #expansion(parts: WordParts): void {
    const start = this.#at;
    this.#skipExpansion();
    if (/^\$(?:PWD|\{PWD\})$/.test(this.#text.slice(start, this.#at))) parts.addFolder();
    else parts.addUnknown();
  }

  #skipExpansion(): void {
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
