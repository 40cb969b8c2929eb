import * as vscode from 'vscode';

/** The snooze of completions, which ends automatically. */
export class CompletionSwitch implements vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.#changed.event;
  #until = 0;
  #timer: NodeJS.Timeout | undefined;

  dispose(): void {
    clearTimeout(this.#timer);
    this.#changed.dispose();
  }

  get snoozing(): boolean {
    return Date.now() < this.#until;
  }

  /** Milliseconds until the snooze ends; 0: not snoozed. */
  get remaining(): number {
    return Math.max(0, this.#until - Date.now());
  }

  snooze(milliseconds: number): void {
    clearTimeout(this.#timer);
    this.#until = Date.now() + milliseconds;
    this.#timer = setTimeout(() => this.wake(), milliseconds);
    this.#changed.fire();
  }

  wake(): void {
    clearTimeout(this.#timer);
    this.#until = 0;
    this.#changed.fire();
  }
}
