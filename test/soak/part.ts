/** One line of the report. */
export interface SoakRow {
  readonly what: string;
  readonly measured: string;
  /** The limit or the expected value. */
  readonly wanted: string;
  readonly holds: boolean;
}

export interface SoakOptions {
  readonly seconds: number;
  /** The same seed gives the same load. */
  readonly seed: number;
  /** Number of concurrent tasks; a short run has fewer. */
  readonly scale: 'short' | 'long';
  /** Reports progress. */
  readonly progress: (text: string) => void;
}

/** A part of the product under mixed load with faults, for a given time. main.ts lists all parts. */
export interface SoakPart {
  readonly name: string;
  readonly run: (options: SoakOptions) => Promise<readonly SoakRow[]>;
}

/** A row that holds while a number is not above a limit. */
export function atMost(what: string, measured: number, limit: number, unit = ''): SoakRow {
  const shown = (value: number) => `${Number.isInteger(value) ? value : value.toFixed(1)}${unit}`;
  return { what, measured: shown(measured), wanted: `≤ ${shown(limit)}`, holds: measured <= limit };
}

/** A row that holds while a number is not below one. */
export function atLeast(what: string, measured: number, least: number): SoakRow {
  return { what, measured: String(measured), wanted: `≥ ${least}`, holds: measured >= least };
}

/** A row that only reports an amount. */
export function count(what: string, measured: number): SoakRow {
  return { what, measured: String(measured), wanted: '> 0', holds: measured > 0 };
}

/** Numbers from 0 to 1 by a seed (mulberry32). */
export function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
