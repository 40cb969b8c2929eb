import { setTimeout } from 'node:timers/promises';
import * as vscode from 'vscode';

/** Without a key for so long, the user has stopped typing. */
const PAUSE_MS = 700;

/**
 * An input for the text that the user types while VS Code loads the first page of a window, which takes up to some
 * seconds. Until then, keys reach nothing.
 */
export class EarlyInput {
  readonly #box = vscode.window.createInputBox();
  #changedAt = Number.NEGATIVE_INFINITY;
  #open = true;
  #entered = false;

  constructor() {
    this.#box.prompt = vscode.l10n.t('The chat is opening. Your text goes into its input.');
    this.#box.ignoreFocusOut = true;
    this.#box.onDidChangeValue(() => {
      this.#changedAt = performance.now();
    });
    this.#box.onDidAccept(() => {
      this.#entered = true;
      this.#box.hide();
    });
    this.#box.onDidHide(() => {
      this.#open = false;
    });
    this.#box.show();
  }

  /**
   * Resolves when the user pauses: no word is being composed, and where VS Code has to move the focus, a key of that
   * moment would be lost.
   */
  async paused(): Promise<void> {
    for (;;) {
      const rest = this.#changedAt + PAUSE_MS - performance.now();
      if (rest <= 0) return;
      await setTimeout(rest);
    }
  }

  /** The user closed it, or opened the palette or another list: the next keys belong there. */
  get left(): boolean {
    return !this.#open && !this.#entered;
  }

  /** The user has gone elsewhere by a click. */
  leave(): void {
    this.#box.hide();
  }

  /** Closes it and returns its text, also if the user closed it before. */
  take(): string {
    const { value } = this.#box;
    this.#box.dispose();
    return value;
  }
}
