import { Emitter } from '../../base/emitter.ts';
import type { Clock } from '../document/clock.ts';

/** At most one event in this time, the last one never lost. */
const GROWTH_MS = 80;

/** Tells that the suggestion on screen has more text at its end, not oftener than a person can see. */
export class GrowthNotifier {
  readonly #clock: Clock;
  readonly #grown = new Emitter<[uri: string]>();
  readonly onDidGrow = this.#grown.event;
  #lastAt = Number.NEGATIVE_INFINITY;
  #cancel: (() => void) | undefined;
  #onScreen: () => boolean = () => false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  dispose(): void {
    this.#cancel?.();
    this.#grown.dispose();
  }

  /** Another suggestion is handed over: the editor has yet to put it on screen. */
  began(): void {
    this.#lastAt = this.#clock.now();
  }

  /** @param onScreen whether it still is when it is time to tell: asking again would be in the way of what came next. */
  grew(uri: string, onScreen: () => boolean): void {
    this.#onScreen = onScreen;
    if (this.#cancel !== undefined) return;
    const wait = Math.max(0, this.#lastAt + GROWTH_MS - this.#clock.now());
    this.#cancel = this.#clock.after(wait, () => {
      this.#cancel = undefined;
      if (!this.#onScreen()) return;
      this.#lastAt = this.#clock.now();
      this.#grown.fire(uri);
    });
  }
}
