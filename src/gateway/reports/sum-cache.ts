import { type SealedQuery, type SealedRow, type SealedSums, sumSealed } from '../state/sealed-sums.ts';
import type { SealedPart } from './report-plan.ts';

const MAX_BYTES = 32 * 1024 * 1024;
/** Memory of a row and of its names, about. */
const ROW_BYTES = 200;

interface Entry {
  readonly rows: readonly SealedRow[];
  readonly bytes: number;
}

/**
 * The sums that reports made of sealed days and hours. A page that asks for a report every few seconds then reads only the
 * hours that are not over. Sums that were not used for the longest time are removed first.
 */
export class SumCache {
  readonly #maxBytes: number;
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  constructor(maxBytes = MAX_BYTES) {
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  find(part: SealedPart, query: SealedQuery): readonly SealedRow[] | undefined {
    const key = keyOf(part, query);
    const found = this.#entries.get(key);
    if (found === undefined) return undefined;
    // The order of the map is the order of use.
    this.#entries.delete(key);
    this.#entries.set(key, found);
    return found.rows;
  }

  /** Sums a part and keeps the result. */
  sum(part: SealedPart, query: SealedQuery, sealed: SealedSums): readonly SealedRow[] {
    const rows = sumSealed(sealed, part.periods, query);
    const key = keyOf(part, query);
    const bytes = key.length + rows.reduce((sum, row) => sum + row.sums.byteLength + ROW_BYTES, 0);
    this.#entries.set(key, { rows, bytes });
    this.#bytes += bytes;
    for (const [oldest, entry] of this.#entries) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#entries.delete(oldest);
      this.#bytes -= entry.bytes;
    }
    return rows;
  }
}

/** All reports have the same columns. */
function keyOf({ size, start, version, periods }: SealedPart, { fields, filters }: SealedQuery): string {
  return JSON.stringify([size, start, version, periods, fields, filters]);
}
