import { createScanner, type JSONScanner } from 'jsonc-parser';
import type { SlicedWork } from '../../base/time-slices.ts';

/** `SyntaxKind` of jsonc-parser, whose const enum has no values at run time. */
const OPEN_BRACE = 1;
const CLOSE_BRACE = 2;
const OPEN_BRACKET = 3;
const CLOSE_BRACKET = 4;
const COMMA = 5;
const COLON = 6;
const NULL = 7;
const TRUE = 8;
const FALSE = 9;
const STRING = 10;
const NUMBER = 11;
const LINE_COMMENT = 12;
const UNKNOWN = 16;
const END = 17;

/** Names of `ParseErrorCode` by `ScanError` of jsonc-parser. */
const SCAN_ERRORS = [
  undefined,
  'UnexpectedEndOfComment',
  'UnexpectedEndOfString',
  'UnexpectedEndOfNumber',
  'InvalidUnicode',
  'InvalidEscapeCharacter',
  'InvalidCharacter',
];

/** Callbacks for the relevant tokens. The scanner has the position of the token, with zero-based line and character. */
export interface TextVisitor {
  readonly open: (type: 'object' | 'array', at: JSONScanner) => void;
  readonly key: (name: string, at: JSONScanner) => void;
  readonly scalar: (value: string | number | boolean | null, at: JSONScanner) => void;
  readonly close: () => void;
  /** `error` is the name of a `ParseErrorCode` of jsonc-parser. */
  readonly error: (error: string, at: JSONScanner) => void;
  /** True ends the visit. */
  readonly done: boolean;
}

/** Number of members between two steps. */
const MEMBERS = 100;

/**
 * `visit` of jsonc-parser in steps, because a file of 1 MiB would block the extension host for too long. The scanner is
 * that of jsonc-parser. The grammar and the error recovery are those of `visit` with `allowTrailingComma` and
 * `allowEmptyContent`; test/config/properties.test.ts compares both.
 */
export class TextReader {
  readonly #scanner: JSONScanner;
  readonly #visitor: TextVisitor;
  #token = END;
  #members = 0;

  constructor(text: string, visitor: TextVisitor) {
    this.#scanner = createScanner(text, false);
    this.#visitor = visitor;
  }

  *read(): SlicedWork<void> {
    this.#scan();
    if (this.#token === END) return;
    if (!(this.#scalar() || (yield* this.#container()))) this.#report('ValueExpected');
    else if (this.#token !== END) this.#report('EndOfFileExpected');
  }

  /** Moves to the next token that is not white space or a comment. */
  #scan(): void {
    if (this.#visitor.done) {
      this.#token = END;
      return;
    }
    for (;;) {
      const token = this.#scanner.scan();
      const error = SCAN_ERRORS[this.#scanner.getTokenError()];
      if (error !== undefined) this.#report(error);
      if (token === UNKNOWN) this.#report('InvalidSymbol');
      else if (token < LINE_COMMENT || token === END) {
        this.#token = token;
        return;
      }
    }
  }

  #is(token: number): boolean {
    return this.#token === token;
  }

  #report(error: string): void {
    this.#visitor.error(error, this.#scanner);
  }

  /** Reports an error and continues at the next comma or the end of the container. */
  #skip(error: string, close: number): void {
    this.#report(error);
    while (this.#token !== END && this.#token !== close && this.#token !== COMMA) this.#scan();
  }

  /** Reads a scalar. Returns whether there is one. */
  #scalar(): boolean {
    const token = this.#token;
    if (token === STRING) this.#visitor.scalar(this.#scanner.getTokenValue(), this.#scanner);
    else if (token === NUMBER) this.#visitor.scalar(this.#number(), this.#scanner);
    else if (token === TRUE || token === FALSE) this.#visitor.scalar(token === TRUE, this.#scanner);
    else if (token === NULL) this.#visitor.scalar(null, this.#scanner);
    else return false;
    this.#scan();
    return true;
  }

  #number(): number {
    const value = Number(this.#scanner.getTokenValue());
    if (!Number.isNaN(value)) return value;
    this.#report('InvalidNumberFormat');
    return 0;
  }

  /** Reads an object or an array. Returns whether there is one. */
  *#container(): SlicedWork<boolean> {
    const object = this.#token === OPEN_BRACE;
    if (!object && this.#token !== OPEN_BRACKET) return false;
    const close = object ? CLOSE_BRACE : CLOSE_BRACKET;
    this.#visitor.open(object ? 'object' : 'array', this.#scanner);
    this.#scan();
    for (let first = true; this.#token !== close && this.#token !== END; first = false) {
      this.#members += 1;
      if (this.#members % MEMBERS === 0) yield;
      if (this.#token === COMMA) {
        if (first) this.#report('ValueExpected');
        this.#scan();
        if (this.#is(close)) break;
      } else if (!first) this.#report('CommaExpected');
      if (object && !this.#key()) continue;
      if (!(this.#scalar() || (yield* this.#container()))) this.#skip('ValueExpected', close);
    }
    this.#visitor.close();
    if (this.#token === END) this.#report(object ? 'CloseBraceExpected' : 'CloseBracketExpected');
    else this.#scan();
    return true;
  }

  /** Reads a key and its colon. Returns whether there is one. */
  #key(): boolean {
    if (this.#token !== STRING) {
      this.#skip('PropertyNameExpected', CLOSE_BRACE);
      this.#skip('ValueExpected', CLOSE_BRACE);
      return false;
    }
    this.#visitor.key(this.#scanner.getTokenValue(), this.#scanner);
    this.#scan();
    if (this.#is(COLON)) {
      this.#scan();
      return true;
    }
    this.#skip('ColonExpected', CLOSE_BRACE);
    return false;
  }
}
