import type { Disposable } from './disposable-store.ts';

/** The listeners of one event. `Values` are the arguments of a listener. */
export class Emitter<Values extends readonly unknown[]> {
  readonly #listeners = new Map<symbol, (...values: Values) => void>();

  /** Dispose the result to unsubscribe. */
  readonly event = (listener: (...values: Values) => void): Disposable => {
    const key = Symbol();
    this.#listeners.set(key, listener);
    return { dispose: () => void this.#listeners.delete(key) };
  };

  /** Listeners that are added during the call are not called. */
  fire(...values: Values): void {
    for (const listener of [...this.#listeners.values()]) listener(...values);
  }

  dispose(): void {
    this.#listeners.clear();
  }
}
