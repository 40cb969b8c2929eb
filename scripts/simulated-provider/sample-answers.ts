// Answers about the sample workspace that were written beforehand.

/** What its README and its comment suggest to type. */
export const SAMPLE_CODE = `import { basketTotal, formatPrice, type Item, lineTotal } from './basket.ts';

export function averagePrice(items: readonly Item[]): string {
  if (items.length === 0) return formatPrice(0);
  return formatPrice(Math.round(basketTotal(items) / items.length));
}
`;

/** What its README suggests to ask. */
export const SAMPLE_ANSWER = `\`basketTotal\` adds up what each line costs, in **cents**. Whole numbers lose nothing to rounding; \`formatPrice\` makes euros of them at the very end.

| Item | Price | Quantity | Line |
|---|---:|---:|---:|
| Apples | 40 | 6 | 240 |
| Bread | 385 | 1 | 385 |
| **Total** | | | **625** |

For an empty basket the result is \`0\`. The same without a loop:

\`\`\`typescript
export function basketTotal(items: readonly Item[]): number {
  return items.reduce((total, item) => total + lineTotal(item), 0);
}
\`\`\``;
