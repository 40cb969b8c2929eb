import type { Clock } from '../document/clock.ts';

const GAPS = 15;
const LATENCIES = 10;
const OUTCOMES = 10;
/** A longer gap is a pause and is not counted as typing. */
const PAUSE_MS = 2_000;
/** The first key after a pause of this length causes a request at once, as long as answers are useful. */
const RESUMING_MS = 600;
/** A connection that was idle for this long has probably been closed by the server. */
const COLD_AFTER_MS = 30_000;
const MAX_WAIT_MS = 400;
/** Defaults until the typing gap and the latency have been measured. */
const DEFAULT_GAP_MS = 160;
const DEFAULT_LATENCY_MS = 400;

/** Computes when to send a request, from the user's typing rhythm, the latency and the share of useless answers. */
export class AdaptiveDebounce {
  readonly #clock: Clock;
  readonly #gaps: number[] = [];
  readonly #latencies: number[] = [];
  readonly #useless: number[] = [];
  #lastEdit: number | undefined;
  #afterPause = true;
  #lastTraffic: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  edited(): void {
    const now = this.#clock.now();
    const gap = this.#lastEdit === undefined ? undefined : now - this.#lastEdit;
    this.#lastEdit = now;
    this.#afterPause = gap === undefined || gap >= RESUMING_MS;
    if (gap !== undefined && gap > 0 && gap < PAUSE_MS) keep(this.#gaps, gap, GAPS);
  }

  /** True if the connection has probably been closed. */
  get cold(): boolean {
    return this.#lastTraffic === undefined || this.#clock.now() - this.#lastTraffic > COLD_AFTER_MS;
  }

  warmed(): void {
    this.#lastTraffic = this.#clock.now();
  }

  sent(): void {
    this.#lastTraffic = this.#clock.now();
  }

  /** Milliseconds from a request to its first text. */
  answered(latency: number): void {
    this.#lastTraffic = this.#clock.now();
    keep(this.#latencies, latency, LATENCIES);
  }

  /** Records whether an answer was useful: shown before the user typed something else. */
  judged(useful: boolean): void {
    keep(this.#useless, useful ? 0 : 1, OUTCOMES);
  }

  /** Median time to the first text of recent requests in milliseconds; `undefined` before the first answer. */
  get measuredLatency(): number | undefined {
    return median(this.#latencies);
  }

  /**
   * Milliseconds to wait before sending a request. The wait is a share of the user's median typing gap:
   * a small share while answers agree with the text typed next, more than the whole gap while answers
   * are useless, so that a request is sent only when the user stops typing.
   */
  wait(floor: number, slow: boolean): number {
    const gap = median(this.#gaps) ?? DEFAULT_GAP_MS;
    const useless = this.#useless.reduce((sum, one) => sum + one, 0) / Math.max(4, this.#useless.length);
    if (this.#afterPause && useless <= 0.5 && !slow) return floor;
    const wait = gap * (0.2 + 1.3 * useless) * (slow ? 3 : 1);
    return Math.max(floor, Math.min(MAX_WAIT_MS * (slow ? 3 : 1), wait));
  }

  /** A request without any text after this time no longer prevents another request. */
  get overdueAfter(): number {
    return Math.max(1_500, 4 * (this.measuredLatency ?? DEFAULT_LATENCY_MS));
  }
}

function keep(values: number[], value: number, count: number): void {
  values.push(value);
  if (values.length > count) values.shift();
}

function median(values: readonly number[]): number | undefined {
  return [...values].sort((a, b) => a - b)[values.length >> 1];
}
