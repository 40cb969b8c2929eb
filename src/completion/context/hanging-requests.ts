/** So many unanswered requests of a kind show that their provider hangs or is behind. It gets no more until it answers. */
const MAX_UNANSWERED = 6;

/** Requests to the providers of a language, any of which may never answer. */
export class HangingRequests {
  readonly #unanswered = new Map<string, number>();

  /**
   * `undefined` if the provider fails, or hangs already. Does not settle if it does not answer.
   *
   * @param kind names the question and the language: another language has another server.
   */
  async ask<T>(kind: string, request: () => PromiseLike<T>): Promise<T | undefined> {
    const count = this.#unanswered.get(kind) ?? 0;
    if (count >= MAX_UNANSWERED) return undefined;
    this.#unanswered.set(kind, count + 1);
    try {
      return await request();
    } catch {
      // Not shown: the user did not ask for it.
      return undefined;
    } finally {
      this.#unanswered.set(kind, (this.#unanswered.get(kind) ?? 1) - 1);
    }
  }
}
