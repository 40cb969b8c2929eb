import { csv } from '../../../base/csv.ts';

/** Lets the user save rows as a file. */
export function saveCsv(name: string, rows: readonly (readonly string[])[]): void {
  saveFile(name, new Blob([csv(rows)], { type: 'text/csv' }));
}

export function saveFile(name: string, contents: Blob): void {
  const url = URL.createObjectURL(contents);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
