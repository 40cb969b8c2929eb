import type { ComponentChildren } from 'preact';

export interface Column<Row> {
  readonly name: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** How its cells look: numbers are aligned, a text has several lines, and wide texts may be broken anywhere. */
  readonly look?: 'number' | 'text' | 'breakable' | 'actions';
}

export interface TableProps<Row> {
  /** Describes the table. */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly id: (row: Row) => string;
  /** A last row. */
  readonly total?: Row | undefined;
  /** In a narrow window each row is a card with the names of its cells, so that its buttons are in sight. */
  readonly cards?: boolean;
}

/** Scrolls sideways within itself, so that the page does not. */
export function Table<Row>({ caption, columns, rows, id, total, cards = false }: TableProps<Row>) {
  const cells = (row: Row) =>
    columns.map((column) => (
      <td key={column.name} class={column.look} data-name={cards ? column.name : undefined}>
        {column.cell(row)}
      </td>
    ));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <div class={cards ? 'table cards' : 'table'} tabIndex={0}>
      <table>
        <caption class="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.name} scope="col" class={column.look}>
                {column.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={id(row)}>{cells(row)}</tr>
          ))}
        </tbody>
        {total === undefined ? null : (
          <tfoot>
            <tr>{cells(total)}</tr>
          </tfoot>
        )}
      </table>
    </div>
  );
}
