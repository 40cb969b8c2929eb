/** A line after which code is deeper: the head of a block, or the beginning of a list. */
const OPENS = /[{([:]\s{0,9}$/;

/**
 * Code at the place of an indented line. Models write it at the margin, or begin it where the indentation ends and indent
 * its other lines only. Code that begins with an indentation of its own is meant so. Line ends are `\n`.
 *
 * @param lead the indentation of the first line of the place
 */
export function indentCode(code: string, lead: string): string {
  const lines = code.split('\n');
  const [first = '', ...rest] = lines;
  if (lead === '' || first.trim() === '' || indentOf(first) !== '') return code;
  const others = rest.filter((line) => line.trim() !== '').map((line) => indentOf(line).length);
  const least = Math.min(...others);
  // The block of a head at the margin is as deep as the place.
  const atMargin = least < lead.length || (OPENS.test(first) && (others[0] ?? 0) <= lead.length);
  return lines.map((line, at) => (at === 0 || atMargin ? indent(line, lead) : line)).join('\n');
}

/** The white space at the beginning of a line. */
export function indentOf(line: string): string {
  return /^[ \t]*/.exec(line)?.[0] ?? '';
}

/** The indentation that code must get (or, as a negative number, lose) to be at the place of a line. */
export function indentDifference(line: string, code: string): string | number {
  const [wanted, has] = [indentOf(line), indentOf(code)];
  return wanted.startsWith(has) ? wanted.slice(has.length) : -(has.length - wanted.length);
}

export function indent(line: string, lead: string | number): string {
  if (line.trim() === '') return line.trim();
  if (typeof lead === 'string') return lead + line;
  return line.slice(Math.min(-lead, indentOf(line).length));
}
