export interface Disposable {
  dispose(): void;
}

/** Disposes its items together, the last added first. An item that is added after that is disposed immediately. */
export class DisposableStore implements Disposable {
  readonly #items: Disposable[] = [];
  #disposed = false;

  get disposed(): boolean {
    return this.#disposed;
  }

  add(...items: readonly Disposable[]): void {
    if (this.#disposed) for (const item of items) item.dispose();
    else this.#items.push(...items);
  }

  dispose(): void {
    this.#disposed = true;
    for (const item of this.#items.splice(0).reverse()) item.dispose();
  }
}
