/**
 * A table with columns as wide as their widest cell. Without rows it has only the head.
 *
 * @param numbers indexes of the columns that are aligned to the right.
 */
export function textTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  numbers: readonly number[] = [],
): string {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  return [head, ...rows]
    .map(
      (row) =>
        `${row
          .map((cell, column) => cell[numbers.includes(column) ? 'padStart' : 'padEnd'](widths[column] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}
