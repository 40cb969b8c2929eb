import type { SuggestRequest } from './suggestion.ts';

/** What the editor's askings stand for: it has no words for all of it. */
export class Intent {
  #last: { readonly uri: string; readonly version: number } | undefined;
  /** The document where nothing is left of a suggestion that asks on, until that was asked. */
  #onward: string | undefined;
  #undone = false;

  /** A document changed. `asksOn`: nothing is left of a suggestion that has the editor ask again. */
  changed(uri: string, { undone, asksOn }: { readonly undone: boolean; readonly asksOn: boolean }): void {
    this.#undone = undone;
    this.#onward = asksOn ? uri : undefined;
  }

  /** Whether what changed last was taken back or done again: the person looks at what was, and wants no more. */
  get undone(): boolean {
    return this.#undone;
  }

  of(request: SuggestRequest): SuggestRequest['trigger'] {
    const { uri, version } = request.document;
    const [last, onward] = [this.#last, this.#onward];
    this.#last = { uri, version };
    this.#onward = undefined;
    // Asking again for growth takes the place of the editor's own asking for a key that was typed just before.
    if (request.trigger === 'grown') return last?.uri === uri && last.version !== version ? 'automatic' : 'grown';
    return request.trigger === 'invoke' && onward === uri ? 'automatic' : request.trigger;
  }
}
