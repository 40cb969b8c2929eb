export interface Item {
  readonly name: string;
  /** Cents. */
  readonly price: number;
  readonly quantity: number;
}

/** What one line of the basket costs, in cents. */
export function lineTotal(item: Item): number {
  return item.price * item.quantity;
}

/** What the whole basket costs, in cents. */
export function basketTotal(items: readonly Item[]): number {
  let total = 0;
  for (const item of items) {
    total += lineTotal(item);
  }
  return total;
}

/** Formats cents for display: `12.50 €`. */
export function formatPrice(cents: number): string {
  const euros = Math.floor(cents / 100);
  const rest = String(cents % 100).padStart(2, '0');
  return `${euros}.${rest} €`;
}

/** Items that cost more than a limit, dearest first. */
export function expensiveItems(items: readonly Item[], limit: number): Item[] {
  const found = items.filter((item) => lineTotal(item) > limit);
  return found.sort((a, b) => lineTotal(b) - lineTotal(a));
}
