import { Lexer, type Token, type TokensList } from 'marked';

/** Deeper nested blocks are shown as plain text, because `marked` recurses and reads each level again. */
const MAX_NESTING = 24;
/** A paragraph with more delimiters is shown as plain text, because `marked` compares them in pairs. */
const MAX_DELIMITERS = 1000;
const DELIMITERS = new Set(['*', '_', '~', '`', '[', ']', '<', '!', '$', '\\']);
/** Not part of a paragraph (CommonMark 4.8). `marked` removes some of them, depending on the next block. */
const SPACES_OF_LINES = /\n[ \t]+/g;

/** Reads any text in linear time. Text that would take `marked` longer is treated as plain text. */
export class BoundedLexer extends Lexer {
  #depth = 0;

  override blockTokens(source: string, tokens?: Token[], lastParagraphClipped?: boolean): Token[];
  override blockTokens(source: string, tokens?: TokensList, lastParagraphClipped?: boolean): TokensList;
  override blockTokens(source: string, tokens: Token[] = [], lastParagraphClipped?: boolean): Token[] {
    if (this.#depth >= MAX_NESTING) {
      tokens.push({ type: 'text', raw: source, text: source });
      return tokens;
    }
    this.#depth += 1;
    try {
      return super.blockTokens(source, tokens, lastParagraphClipped);
    } finally {
      this.#depth -= 1;
    }
  }

  override inlineTokens(source: string, tokens: Token[] = []): Token[] {
    const text = source.replace(SPACES_OF_LINES, '\n');
    if (countDelimiters(text) <= MAX_DELIMITERS) return super.inlineTokens(text, tokens);
    tokens.push({ type: 'text', raw: text, text });
    return tokens;
  }
}

function countDelimiters(text: string): number {
  let count = 0;
  for (const character of text) if (DELIMITERS.has(character)) count++;
  return count;
}
