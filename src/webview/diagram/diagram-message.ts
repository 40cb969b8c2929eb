/** A drawing that the page requests from the frame. */
export interface DrawMessage {
  readonly number: number;
  readonly source: string;
  readonly dark: boolean;
}

/** A message of the frame to the page: that it can draw (number 0), or how a drawing ended. */
export interface DrawnMessage {
  readonly number: number;
  readonly svg?: string;
  /** Why the source can't be drawn, with the line of a mistake. */
  readonly error?: string;
}

/** Undefined for anything else. The sender runs code that reads texts of models. */
export function readDrawn(data: unknown): DrawnMessage | undefined {
  if (typeof data !== 'object' || data === null || !('number' in data) || typeof data.number !== 'number') return;
  const svg = 'svg' in data && typeof data.svg === 'string' ? { svg: data.svg } : {};
  const error = 'error' in data && typeof data.error === 'string' ? { error: data.error } : {};
  return { number: data.number, ...svg, ...error };
}
