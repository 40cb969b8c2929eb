import { type Fence, FenceEnd, readFence } from '../base/fences.ts';

/**
 * Text that models add around the requested code or text: fences, sentences, quotation marks, bold. These are the
 * only readers of it: `codeOfAnswer` and `textOfAnswer` for whole answers, and the patterns for answers that stream
 * (completion/answer/answer-cleaner.ts). Reasoning is read before (reasoning-tags.ts).
 */

/** A line of a fence, also one that is indented as the code around it. */
export const FENCE_LINE = /^\s*(?:```|~~~)/;
/** The first words of sentences with which chat models introduce code. */
export const INTRODUCTION =
  /^(?:sure|certainly|of course|absolutely|okay|great|here(?:'s|’s| is| are)|the (?:completed?|completion|missing|following|code|rest|updated)|to complete|i(?:'ll|’ll|'ve|’ve| will| have)|below is|let me|let's|you can|this (?:is|code|function|completes))\b/i;
/** The first words of sentences with which chat models explain code. */
export const EXPLANATION = /^(?:this|the|that|note|explanation|in this|here|it|these|we|i|you|as you|let me|hope)\b/i;

/** Whether a line is a sentence and not code: some words, and none of the characters that most code has. */
export function isSentence(line: string): boolean {
  const text = line.trim().replace(/`[^`]*`/g, 'x');
  return /^\S+(?:\s+\S+){2,}/.test(text) && !/[{}=;<>|\\[\]]|\w\(|=>|::|->/.test(text);
}

/** A sentence that cannot be a line of code: it begins and ends as one. */
function isProse(line: string): boolean {
  const words = line.replace(/;(?=\s)/g, ',');
  return isSentence(words) && /^["'“(*_]*[\p{Lu}]/u.test(line.trim()) && /[.!?:][)"'”*_]*$/.test(line.trim());
}

interface Block {
  readonly text: string;
  /** Indexes of the lines of the fence. `last` is the number of lines if the block is not closed. */
  readonly first: number;
  readonly last: number;
}

/** The fenced blocks of a text. */
function blocksOf(lines: readonly string[]): readonly Block[] {
  const blocks: Block[] = [];
  for (let at = 0; at < lines.length; at++) {
    const fence = fenceAt(lines[at] ?? '');
    if (fence === undefined) continue;
    const end = new FenceEnd(fence);
    const first = at;
    const content: string[] = [];
    for (at++; at < lines.length; at++) {
      const line = withoutIndent(lines[at] ?? '', fence.indent.length);
      if (end.closes(line, lines[at + 1])) break;
      content.push(line);
    }
    blocks.push({ text: content.join('\n'), first, last: at });
  }
  return blocks;
}

function withoutIndent(line: string, length: number): string {
  const own = /^[ \t]*/.exec(line)?.[0].length ?? 0;
  return line.slice(Math.min(own, length));
}

/** As `readFence`. Models indent a fence as the code around it. */
function fenceAt(line: string): Fence | undefined {
  const lead = /^[ \t]*/.exec(line)?.[0] ?? '';
  const fence = readFence(line.slice(lead.length));
  return fence && { ...fence, indent: lead };
}

/** The code of the only fenced block; `undefined` if there are none or several, or if it is not closed. */
export function onlyBlock(answer: string): string | undefined {
  const lines = answer.split(/\r?\n/);
  const [block, ...others] = blocksOf(lines);
  return block !== undefined && others.length === 0 && block.last < lines.length ? block.text : undefined;
}

/**
 * The code of an answer that replaces a text. Undefined if the answer has no code, or several blocks of which any may be
 * meant.
 *
 * @param replaced the text that the code replaces. Its content may be in the code.
 */
export function codeOfAnswer(answer: string, replaced: string): string | undefined {
  const lines = answer.split(/\r?\n/);
  const blocks = blocksOf(lines);
  const [block] = blocks;
  if (block === undefined) return bareCode(lines, replaced);
  const around = [...lines.slice(0, block.first), ...lines.slice(block.last + 1)].filter((line) => line.trim() !== '');
  if (blocks.length === 1 && (around.length === 0 || !hasFence(replaced))) return block.text;
  // The code contains fences itself, such as a part of a Markdown file.
  return hasFence(replaced) ? bareCode(lines, replaced) : undefined;
}

/** Whether a line of the text is a fence. Code in a fence has all white space that the model wrote. */
export function hasFence(text: string): boolean {
  return text.split(/\r?\n/).some((line) => FENCE_LINE.test(line));
}

/** Code without a fence: without the sentences before and after it. Undefined: there is nothing but sentences. */
function bareCode(lines: readonly string[], replaced: string): string | undefined {
  const filled = (each: readonly string[]) => each.filter((line) => line.trim() !== '');
  const prose = filled(replaced.split(/\r?\n/)).every(isSentence) && replaced.trim() !== '';
  if (prose) return lines.join('\n');
  if (filled(lines).every((line) => isProse(line) && !replaced.includes(line.trim()))) return undefined;
  let [first, last] = [0, lines.length];
  const introduces = lines.findIndex((line) => line.trim() !== '');
  const introduction = (lines[introduces] ?? '').trim();
  if (INTRODUCTION.test(introduction) && isProse(introduction) && !replaced.includes(introduction)) {
    first = lines.findIndex((line, at) => at > introduces && line.trim() !== '');
  }
  // Sentences after a blank line.
  for (;;) {
    const blank = lines.findLastIndex((line, at) => at < last && at > first && line.trim() === '');
    const paragraph = filled(lines.slice(blank + 1, last));
    const explains = blank > 0 && paragraph.every((line) => isProse(line) && !replaced.includes(line.trim()));
    if (!explains || (paragraph.length > 0 && !EXPLANATION.test((paragraph[0] ?? '').trim()))) break;
    last = blank;
  }
  return lines.slice(first, last).join('\n');
}

/** In lower case, it may be the scope of a conventional commit. */
const LABEL = /^[*_#\s]*(?:Commit [Mm]essage|Message|Title|Subject|Summary)(?:\s*:[*_]*|[*_]+\s*:)\s*/;
const PAIRS: readonly (readonly [string, string])[] = [
  ['**', '**'],
  ['__', '__'],
  ['"', '"'],
  ["'", "'"],
  ['“', '”'],
  ['„', '“'],
  ['«', '»'],
  ['`', '`'],
];

/** The text of an answer that is a text: a commit message, a title, a summary. */
export function textOfAnswer(answer: string): string {
  let text = withoutFence(answer.trim());
  const [first = '', ...rest] = text.split('\n');
  if (INTRODUCTION.test(first.trim()) && /:[*_]*$/.test(first.trim()) && rest.some((line) => line.trim() !== '')) {
    text = rest.join('\n').trim();
  }
  text = text.replace(LABEL, '').trim();
  const whole = unwrapped(text);
  if (whole !== text) return whole;
  // Only the first line, the subject, may be bold.
  const [subject = '', ...body] = text.split('\n');
  return [unwrapped(subject.trim()), ...body].join('\n');
}

/** The content of the only block, if nothing but sentences is around it. */
function withoutFence(text: string): string {
  const lines = text.split(/\r?\n/);
  const blocks = blocksOf(lines);
  const [block] = blocks;
  if (block === undefined || blocks.length > 1) return text;
  const before = lines.slice(0, block.first).filter((line) => line.trim() !== '');
  const after = lines.slice(block.last + 1).filter((line) => line.trim() !== '');
  const introduces = before.length === 0 || (before.length === 1 && /:[*_]*$/.test((before[0] ?? '').trim()));
  const explains = after.every(isSentence);
  return introduces && (explains || after.length === 0) ? block.text.trim() : text;
}

/** Without quotation marks or bold around all of it. */
function unwrapped(text: string): string {
  for (const [open, close] of PAIRS) {
    if (text.length <= open.length + close.length || !text.startsWith(open) || !text.endsWith(close)) continue;
    const inner = text.slice(open.length, -close.length);
    if (!inner.includes(open) && !inner.includes(close)) return unwrapped(inner.trim());
  }
  return text;
}
