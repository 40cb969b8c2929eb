/** Pure questions about lines of an answer, asked while it streams (stop.ts). */

/** Whether a line says enough that meeting it twice means something. */
export function isDistinctive(line: string): boolean {
  // Not counted to the end: a line may have 100,000 characters.
  let found = 0;
  for (const _ of line.matchAll(/[\p{L}\p{N}_]/gu)) if (++found === 3) return true;
  return false;
}

/** Without the indentation that the caret's line has already and the answer repeats. */
export function withoutRepeatedIndentation(line: string, head: string, above: string | undefined): string {
  if (head.trim() !== '' || head === '') return line;
  const lead = /^[ \t]*/.exec(line)?.[0] ?? '';
  if (lead === '' || !lead.startsWith(head)) return line;
  const aboveLead = /^[ \t]*/.exec(above ?? '')?.[0] ?? '';
  // Behind a line that opens a block a caret no deeper than that line is yet to be indented.
  const opens = /[([{:]\s*$/.test(above ?? '');
  if (opens && head.length <= aboveLead.length) return line;
  return line.slice(head.length);
}

/** Without the start of the caret's line, where an answer says it again. */
export function withoutRepeatedHead(line: string, head: string): string {
  const said = head.trim();
  const start = line.trimStart();
  return said.length >= 4 && isDistinctive(said) && start.startsWith(said) ? start.slice(said.length) : line;
}

/** Without its end, as far as that is the start of what stands behind the caret. */
export function withoutRepeatedTail(line: string, tail: string): string {
  const said = tail.trimEnd();
  for (let length = Math.min(said.length, line.length); length > 0; length--) {
    const end = said.slice(0, length);
    // Closers are decided by their openers (fit.ts), not by looking alike.
    if (!/[\p{L}\p{N}_=:]/u.test(end)) return line;
    if (line.endsWith(end)) return line.slice(0, line.length - length);
  }
  return line;
}

/** The indentation of a line written the way the document writes it. */
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

/** Whether a line is one short piece said over and over. */
export function loopsInside(line: string): boolean {
  const text = line.trim();
  if (text.length < 60) return false;
  const period = smallestPeriod(text);
  return period > 1 && period * 3 <= text.length && isDistinctive(text.slice(0, Math.max(period, 6)));
}

/** How many lines at the end say the 1 to 4 lines before them again; 0: they don't. */
export function repeatedLines(lines: readonly string[]): number {
  for (let period = 1; period <= 4; period++) {
    let repeated = 0;
    while (repeated + period < lines.length && lines.at(-1 - repeated) === lines.at(-1 - repeated - period)) repeated++;
    if (repeated >= period && isDistinctive(lines.slice(-period).join('\n'))) return Math.floor(repeated / period);
  }
  return 0;
}

const IN_WORD = /^[\p{L}\p{N}\p{M}_$\u200c\u200d]$/u;

/** Up to the end of its last whole word, for text that was cut off. */
export function withoutHalfWord(text: string): string {
  let end = /[\ud800-\udbff]$/.test(text) ? text.length - 1 : text.length;
  for (let start = end; start > 0; end = start) {
    start -= /[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(Math.max(0, end - 2), end)) ? 2 : 1;
    if (!IN_WORD.test(text.slice(start, end))) break;
  }
  return text.slice(0, end);
}

/** Up to the first invisible character that changes the direction of what follows; none of ours to write. */
export function withoutDirectionOverrides(text: string): string {
  const at = text.search(/[\u202a-\u202e\u2066-\u2069]/);
  return at < 0 ? text : text.slice(0, at);
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
