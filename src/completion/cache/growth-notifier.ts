import { Emitter } from '../../base/emitter.ts';
import type { Clock } from '../document/clock.ts';

/** At most one event in this time. The last event is never lost. */
const GROWTH_MS = 80;

/** Reports that the suggestion on screen grew, no more often than is visible to the user. */
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

  /** A new suggestion was returned to the editor, which needs time to show it. */
  began(): void {
    this.#lastAt = this.#clock.now();
  }

  /** @param onScreen checked again before the event: a refresh would disturb a newer suggestion. */
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
