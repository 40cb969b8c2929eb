/** A line after which code is deeper: a head of a block, an operator or the beginning of a list, without a comment. */
const OPENS = /(?:[{([:=,\\&|+<>?-]|\b(?:do|else|then|begin|of))$/;
const COMMENT = /\s(?:\/\/|#|--).*$/s;
/** An item of a list in YAML or Markdown. */
const ITEM = /^(?:[-*+]|\d{1,9}[.)])\s/;
/** A line that goes on with the expression of the line before. */
const GOES_ON = /^(?:[.?:+*/|&]|\{?\s{0,9}(?:and|or)\b)/;

/**
 * Code of a model at the place of an indented line. Code at the margin gets the indentation of the place; code that begins
 * with an indentation of its own is meant so. Line ends are `\n`.
 *
 * @param lead the indentation of the first line of the place
 * @param trimmed the code is a whole answer: its first line may lack the indentation that the others have.
 */
export function indentCode(code: string, lead: string, trimmed = false): string {
  const lines = code.split('\n');
  const filled = lines.filter((line) => line.trim() !== '');
  const [first = ''] = filled;
  if (lead === '' || first === '' || indentOf(first) !== '') return code;
  if (!trimmed || isAtMargin(filled, lead)) return lines.map((line) => indent(line, lead)).join('\n');
  return lines.with(lines.indexOf(first), lead + first).join('\n');
}

/** Whether all lines lack the indentation, and not only the first one. */
function isAtMargin([first = '', ...rest]: readonly string[], lead: string): boolean {
  const wanted = columns(lead);
  const depths = rest.map((line) => columns(indentOf(line)));
  const [second = wanted] = depths;
  if (rest.length === 0 || depths.some((depth) => depth < wanted)) return true;
  // What belongs to the first line is deeper than it. If it is as deep as the place, the first line is at the margin.
  const next = (rest[0] ?? '').trim();
  const head = first.replace(COMMENT, '').trimEnd();
  const deeper = OPENS.test(head) || GOES_ON.test(next) || (ITEM.test(first) && !ITEM.test(next));
  return deeper && second <= wanted;
}

/** Width of an indentation. A tab is as wide as four blanks. */
function columns(text: string): number {
  return text.replaceAll('\t', '    ').length;
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
