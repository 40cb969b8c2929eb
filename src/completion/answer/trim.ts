/** Pure functions on the lines of an answer, used while it streams (completion-trimmer.ts). */

/** True if a line has enough characters that a second occurrence is no coincidence. */
export function isDistinctive(line: string): boolean {
  // Stop counting early: a line may have 100,000 characters.
  let found = 0;
  for (const _ of line.matchAll(/[\p{L}\p{N}_]/gu)) if (++found === 3) return true;
  return false;
}

/** Removes indentation that the answer repeats from the caret's line. @param comment start of a comment. */
export function withoutRepeatedIndentation(
  line: string,
  {
    head,
    above,
    comment,
  }: { readonly head: string; readonly above?: string | undefined; readonly comment?: string | undefined },
): string {
  if (head.trim() !== '' || head === '') return line;
  const lead = /^[ \t]*/.exec(line)?.[0] ?? '';
  if (lead === '' || !lead.startsWith(head)) return line;
  const aboveLead = /^[ \t]*/.exec(above ?? '')?.[0] ?? '';
  if (CASE.test(line.trimStart())) return line.slice(head.length);
  // After a line that opens a block, a caret that is not deeper than that line still needs indentation.
  const isComment = comment !== undefined && above?.trimStart().startsWith(comment) === true;
  const opens = !isComment && /[([{:]\s*$/.test(above ?? '');
  if (opens && head.length <= aboveLead.length) return line;
  return line.slice(head.length);
}

/** Starts of lines in comments and lists, which answers repeat. */
const LEADER = /^(?:\*|\/\/[/!]?|#|--|;+|>|-|\d{1,3}\.)$/;

/** Lines that may be as far indented as the line that opens their block. */
export const CASE = /^(?:case|default)\b/;

export function isCommentLeader(text: string): boolean {
  return LEADER.test(text);
}

/** Removes the start of the caret's line if the answer repeats it. */
export function withoutRepeatedHead(line: string, head: string): string {
  const existing = head.trim();
  const start = line.trimStart();
  // `RUN` of a Dockerfile.
  const distinctive = (existing.length >= 4 || /^[A-Z]{3}$/.test(existing)) && isDistinctive(existing);
  const leader = LEADER.test(existing) && start.length > existing.length && /\s/.test(start[existing.length] ?? '');
  // After a blank, the answer may be a longer word.
  const longer = /\w\s+$/.test(head) && /^\w/.test(start.slice(existing.length));
  return start.startsWith(existing) && (distinctive || leader) && !longer ? withoutHead(start, head) : line;
}

/** Removes the sign before a variable if the caret is after one. */
export function withoutRepeatedSign(line: string, head: string, sign: string | undefined): string {
  return sign !== undefined && head.endsWith(sign) && line.startsWith(sign) ? line.slice(sign.length) : line;
}

/** A line of a makefile that is a rule or a part of a recipe. */
const RECIPE = /^(?:\t|[^\s#=][^=]*:(?!=))/;

/** Lines of a recipe start with a tab. @param previous the line before. */
export function withTab(line: string, previous: string): string {
  return RECIPE.test(previous) && line.startsWith('  ') ? `\t${line.trimStart()}` : line;
}

/** The text after the head of the caret's line, which it repeats, without the white space that is there already. */
export function withoutHead(text: string, head: string): string {
  const rest = text.slice(head.trim().length);
  const most = head.length - head.trimEnd().length;
  let spaces = 0;
  while (spaces < most && (rest[spaces] === ' ' || rest[spaces] === '\t')) spaces++;
  return rest.slice(spaces);
}

/** Converts the indentation of a line to the style of the document. */
export function reindent(line: string, style: { readonly insertSpaces: boolean; readonly tabSize: number }): string {
  const lead = /^[ \t]*/.exec(line)?.[0] ?? '';
  if (lead === '') return line;
  if (style.insertSpaces) {
    return lead.includes('\t') ? lead.replaceAll('\t', ' '.repeat(style.tabSize)) + line.slice(lead.length) : line;
  }
  if (lead.includes('\t')) return line;
  const tabs = Math.floor(lead.length / style.tabSize);
  return tabs === 0 ? line : '\t'.repeat(tabs) + ' '.repeat(lead.length % style.tabSize) + line.slice(lead.length);
}

/** True if a line repeats one short piece of text. */
export function loopsInside(line: string): boolean {
  const text = line.trim();
  if (text.length < 60) return false;
  const period = smallestPeriod(text);
  return period > 1 && period * 3 <= text.length && isDistinctive(text.slice(0, Math.max(period, 6)));
}

/** How many times the last 1 to 4 lines repeat the lines before them; 0: not at all. */
export function repeatedLines(untrimmed: readonly string[]): number {
  // The first line continues the caret's line, so it has no indentation.
  const lines = untrimmed.map((line) => line.trim());
  for (let period = 1; period <= 4; period++) {
    let repeated = 0;
    while (repeated + period < lines.length && lines.at(-1 - repeated) === lines.at(-1 - repeated - period)) repeated++;
    if (repeated >= period && isDistinctive(lines.slice(-period).join('\n'))) return Math.floor(repeated / period);
  }
  return 0;
}

const IN_WORD = /^[\p{L}\p{N}\p{M}_$\u200c\u200d]$/u;

/** Removes the partial word at the end of text that was cut off. */
export function withoutHalfWord(text: string): string {
  let end = /[\ud800-\udbff]$/.test(text) ? text.length - 1 : text.length;
  for (let start = end; start > 0; end = start) {
    start -= /[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(Math.max(0, end - 2), end)) ? 2 : 1;
    if (!IN_WORD.test(text.slice(start, end))) break;
  }
  return text.slice(0, end);
}

function smallestPeriod(text: string): number {
  const border: number[] = [0];
  for (let i = 1; i < text.length; i++) {
    let length = border[i - 1] ?? 0;
    while (length > 0 && text[i] !== text[length]) length = border[length - 1] ?? 0;
    border.push(text[i] === text[length] ? length + 1 : 0);
  }
  return text.length - (border[text.length - 1] ?? 0);
}
