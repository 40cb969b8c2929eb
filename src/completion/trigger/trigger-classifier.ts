import type { SuggestRequest } from '../document/suggestion.ts';

/** Determines why VS Code requests a suggestion: its trigger kinds do not distinguish all cases. */
export class TriggerClassifier {
  #last: { readonly uri: string; readonly version: number } | undefined;
  /** The document where a suggestion was completely typed or accepted. The next request is its continuation. */
  #continuesIn: string | undefined;
  #manual = false;
  #undone = false;

  /** Handles a document change. `used`: nothing of the suggestion on screen is left. */
  changed(uri: string, { undone, used }: { readonly undone: boolean; readonly used: boolean }): void {
    this.#undone = undone;
    this.#continuesIn = used && this.continues ? uri : undefined;
  }

  /** Whether the editor should request again after acceptance: not after a manual request. */
  get continues(): boolean {
    return !this.#manual;
  }

  /** True if the last change was an undo or a redo: the user reviews earlier text and wants no suggestion. */
  get undone(): boolean {
    return this.#undone;
  }

  of(request: SuggestRequest): SuggestRequest['trigger'] {
    const trigger = this.#classify(request);
    // A suggestion that grows was requested earlier.
    if (trigger !== 'grown') this.#manual = trigger === 'invoke';
    return trigger;
  }

  #classify({ document: { uri, version }, trigger }: SuggestRequest): SuggestRequest['trigger'] {
    const [last, continuesIn] = [this.#last, this.#continuesIn];
    this.#last = { uri, version };
    this.#continuesIn = undefined;
    // A refresh for growth replaces the editor's own request for a key that was pressed just before it.
    if (trigger === 'grown') return last?.uri === uri && last.version !== version ? 'automatic' : 'grown';
    return trigger === 'invoke' && continuesIn === uri ? 'automatic' : trigger;
  }
}
