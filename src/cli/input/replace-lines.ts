/** After each line break: LF, CRLF, or CR alone. */
const AFTER_BREAK = /(?<=\n|\r(?!\n))/;
const BREAK = /(?:\r\n|\r|\n)$/;

/**
 * Replaces lines of a text. Lines that stay the same keep their own line breaks, the others get that of the first
 * line that changes.
 * @param first 0-based index of the first line.
 * @param replacement with LF.
 */
export function replaceLines(text: string, first: number, count: number, replacement: string): string {
  const lines = text.split(AFTER_BREAK);
  const old = lines.slice(first, first + count);
  const fresh = replacement.split(/(?<=\n)/);
  const same = (a: number, b: number) => old[a]?.replace(BREAK, '\n') === fresh[b];
  const most = Math.min(old.length, fresh.length);
  let head = 0;
  while (head < most && same(head, head)) head += 1;
  let tail = 0;
  while (tail < most - head && same(old.length - 1 - tail, fresh.length - 1 - tail)) tail += 1;
  const broken = [...old.slice(head), ...old, ...lines].find((line) => BREAK.test(line)) ?? '\n';
  const [lineBreak = '\n'] = BREAK.exec(broken) ?? [];
  const changed = fresh.slice(head, fresh.length - tail).map((line) => line.replace(/\n$/, lineBreak));
  const region = [...old.slice(0, head), ...changed, ...old.slice(old.length - tail)];
  return [...lines.slice(0, first), ...region, ...lines.slice(first + count)].join('');
}
