/** The opening line of a fenced code block in Markdown (CommonMark 4.5). */
export interface Fence {
  readonly indent: string;
  /** The backticks or tildes. */
  readonly run: string;
  readonly info: string;
}

const OPENING = /^( {0,3})(`{3,}(?=[^`]*$)|~{3,}(?!~))(.*)$/;
/** A block of these languages may contain Markdown with fences of its own. */
const MARKDOWN = /^(?:markdown|mdx?|mkd|[rq]md|te?xt|plain(?:text)?)?(?![\w+#.-])/i;

/** A block of these languages is a Markdown file. */
const MARKDOWN_FILE = /^(?:markdown|mdx?|mkd|[rq]md)(?![\w+#.-])/i;
const BARE = /^ {0,3}(`{3,}|~{3,}) *$/;

/** Reads a line that opens a fenced block. */
export function readFence(line: string): Fence | undefined {
  const match = OPENING.exec(line);
  if (match === null) return undefined;
  const [, indent = '', run = '', info = ''] = match;
  return { indent, run, info: info.trim() };
}

/**
 * Finds the line that closes a fenced block. In a block of Markdown, a fence with a language opens a block inside it, and
 * one without a language closes the innermost block. By CommonMark, the first one would close the outer block. In a
 * Markdown file, a fence without a language opens a block if it follows a blank line or a colon and text follows it.
 */
export class FenceEnd {
  readonly #fence: Fence;
  readonly #nests: boolean;
  readonly #isFile: boolean;
  #previous = 'x';
  /** The runs of the blocks inside. */
  readonly #inner: string[] = [];
  /** The block has had a block inside. */
  nested = false;

  constructor(fence: Fence) {
    this.#fence = fence;
    this.#nests = MARKDOWN.test(fence.info);
    this.#isFile = MARKDOWN_FILE.test(fence.info);
  }

  /** Whether the text after this line decides its meaning. */
  needsNext(line: string): boolean {
    return this.#isFile && this.#inner.length === 0 && /^\s*$|:[*_]*\s*$/.test(this.#previous) && BARE.test(line);
  }

  /**
   * Reads the next line. True if it closes the block.
   *
   * @param next the line after it, or its beginning up to the first character that is not blank.
   */
  closes(line: string, next = ''): boolean {
    const opens = this.needsNext(line) && next.trim() !== '' && !BARE.test(next);
    this.#previous = line;
    const [, run = ''] = BARE.exec(line) ?? [];
    if (opens && run.startsWith(this.#fence.run)) {
      this.#inner.push(run);
      this.nested = true;
      return false;
    }
    const innermost = this.#inner.at(-1) ?? this.#fence.run;
    const body = line.replace(/^ {0,3}/, '');
    if (body.startsWith(innermost) && /^[~`]* *$/.test(body.slice(innermost.length))) {
      return this.#inner.pop() === undefined;
    }
    const opened = this.#nests ? readFence(line) : undefined;
    // A shorter fence cannot close the outer block.
    if (opened !== undefined && /^[\p{L}\p{N}]/u.test(opened.info) && opened.run.startsWith(this.#fence.run)) {
      this.#inner.push(opened.run);
      this.nested = true;
    }
    return false;
  }
}

/** A line of a block without the indentation of its fence, as `marked` removes it: only for fences of backticks. */
export function unindented(line: string, { indent, run }: Fence): string {
  if (indent === '' || run.startsWith('~')) return line;
  const own = /^\s*/.exec(line)?.[0] ?? '';
  return line.slice(Math.min(own.length, indent.length));
}
