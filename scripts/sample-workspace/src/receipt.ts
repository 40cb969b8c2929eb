import { basketTotal, formatPrice, type Item, lineTotal } from './basket.ts';

/** A receipt as plain text, one line an item. */
export function receipt(items: readonly Item[]): string {
  const lines = items.map((item) => `${item.quantity} x ${item.name}  ${formatPrice(lineTotal(item))}`);
  return [...lines, `Total  ${formatPrice(basketTotal(items))}`].join('\n');
}

// Type `export function average` in the next line.
