import type { SuggestRequest } from '../document/suggestion.ts';

/** What the editor's askings stand for: it has no words for all of it. */
export class TriggerClassifier {
  #last: { readonly uri: string; readonly version: number } | undefined;
  /** The document where nothing is left of a suggestion that asks on, until that was asked. */
  #onward: string | undefined;
  #byHand = false;
  #undone = false;

  /** A document changed. `used`: nothing is left of what was on screen. */
  changed(uri: string, { undone, used }: { readonly undone: boolean; readonly used: boolean }): void {
    this.#undone = undone;
    this.#onward = used && this.asksOn ? uri : undefined;
  }

  /** Whether the editor is to ask on when what is on screen was accepted: who asks by hand may not want more unasked. */
  get asksOn(): boolean {
    return !this.#byHand;
  }

  /** Whether what changed last was taken back or done again: the person looks at what was, and wants no more. */
  get undone(): boolean {
    return this.#undone;
  }

  of(request: SuggestRequest): SuggestRequest['trigger'] {
    const trigger = this.#meant(request);
    // What grows was asked for before.
    if (trigger !== 'grown') this.#byHand = trigger === 'invoke';
    return trigger;
  }

  #meant({ document: { uri, version }, trigger }: SuggestRequest): SuggestRequest['trigger'] {
    const [last, onward] = [this.#last, this.#onward];
    this.#last = { uri, version };
    this.#onward = undefined;
    // Asking again for growth takes the place of the editor's own asking for a key that was typed just before.
    if (trigger === 'grown') return last?.uri === uri && last.version !== version ? 'automatic' : 'grown';
    return trigger === 'invoke' && onward === uri ? 'automatic' : trigger;
  }
}
