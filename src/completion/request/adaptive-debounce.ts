import type { Clock } from '../document/clock.ts';

const GAPS = 15;
const LATENCIES = 10;
const OUTCOMES = 10;
/** A gap beyond this is a pause to think, not a typing rhythm. */
const PAUSE_MS = 2_000;
/** The first key after a rest this long is asked for at once, as long as answers are of use. */
const RESUMING_MS = 600;
/** A connection that was idle this long is likely closed by the other side. */
const COLD_AFTER_MS = 30_000;
const LONGEST_WAIT_MS = 400;
/** Typing gap and latency until measured. */
const USUAL_GAP_MS = 160;
const USUAL_LATENCY_MS = 400;

/** When to ask: from how this person types, how fast answers come, and how often they were in vain. */
export class AdaptiveDebounce {
  readonly #clock: Clock;
  readonly #gaps: number[] = [];
  readonly #latencies: number[] = [];
  readonly #inVain: number[] = [];
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

  /** Whether the connection is likely closed. */
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

  /** Whether a request's answer was of use: shown before the text went another way. */
  judged(useful: boolean): void {
    keep(this.#inVain, useful ? 0 : 1, OUTCOMES);
  }

  /** Median milliseconds to the first text of late; `undefined` before the first answer. */
  get measuredLatency(): number | undefined {
    return median(this.#latencies);
  }

  /**
   * Milliseconds to wait before asking. A person whose next key comes within the wait is still
   * typing what they have in mind; so the wait is a share of their usual gap, a small one while
   * answers agree with what they type next, more than a whole one while answers are in vain.
   */
  wait(floor: number, slow: boolean): number {
    const gap = median(this.#gaps) ?? USUAL_GAP_MS;
    const vain = this.#inVain.reduce((sum, one) => sum + one, 0) / Math.max(4, this.#inVain.length);
    if (this.#afterPause && vain <= 0.5 && !slow) return floor;
    const wait = gap * (0.2 + 1.3 * vain) * (slow ? 3 : 1);
    return Math.max(floor, Math.min(LONGEST_WAIT_MS * (slow ? 3 : 1), wait));
  }

  /** After this long without a word, a request no longer keeps another from being sent. */
  get overdueAfter(): number {
    return Math.max(1_500, 4 * (this.measuredLatency ?? USUAL_LATENCY_MS));
  }
}

function keep(values: number[], value: number, count: number): void {
  values.push(value);
  if (values.length > count) values.shift();
}

function median(values: readonly number[]): number | undefined {
  return [...values].sort((a, b) => a - b)[values.length >> 1];
}
