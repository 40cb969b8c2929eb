import type { Disposable } from './disposable-store.ts';

/** Listeners of one event. `Values` are the arguments that a listener gets. */
export class Emitter<Values extends readonly unknown[]> {
  readonly #listeners = new Map<symbol, (...values: Values) => void>();

  /** Dispose the result to unsubscribe. */
  readonly event = (listener: (...values: Values) => void): Disposable => {
    const key = Symbol();
    this.#listeners.set(key, listener);
    return { dispose: () => void this.#listeners.delete(key) };
  };

  /** Listeners that are added meanwhile are not called. */
  fire(...values: Values): void {
    for (const listener of [...this.#listeners.values()]) listener(...values);
  }

  dispose(): void {
    this.#listeners.clear();
  }
}
