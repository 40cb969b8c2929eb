import * as vscode from 'vscode';
import type { SuggestRequest } from '../../completion/document/suggestion.ts';

const TRIGGER = 'editor.action.inlineSuggest.trigger';

/**
 * As the command of an item: VS Code runs it when the item was accepted whole, and so asks for what comes next at once.
 * Else it waits 50 ms, as after a key (`InlineCompletionsDebounce` in its inlineCompletionsController.ts).
 */
export const AFTER_ACCEPTANCE: vscode.Command = { command: TRIGGER, title: 'Ask for what comes next' };

export type Provide = (
  document: vscode.TextDocument,
  position: vscode.Position,
  context: vscode.InlineCompletionContext,
  token: vscode.CancellationToken,
  trigger: SuggestRequest['trigger'],
) => Promise<vscode.InlineCompletionItem[]>;

/**
 * Makes VS Code ask again where the caret rests. Its own trigger command doesn't, once there was an answer for a
 * version of the document and a caret: it counts as known to all providers that were asked (`satisfies` in VS Code's
 * inlineCompletionsSource.ts). And when asked by hand it keeps what is on screen first and puts a longer text behind
 * it, among the alternatives (`createStateWithAppliedResults` there). So the provider is registered anew, which makes
 * it one that was not asked yet, and it alone is asked, as after a key.
 */
export class InlineRefresh implements vscode.Disposable {
  readonly #provide: Provide;
  readonly #extension: string;
  #registration: vscode.Disposable;
  #current: object | undefined;
  /** The place and wish of an asking that is under way. */
  #wish: { readonly uri: string; readonly version: number; readonly trigger: SuggestRequest['trigger'] } | undefined;
  #running: Promise<void> | undefined;
  #next: SuggestRequest['trigger'] | undefined;

  /** `extension`: the id under which VS Code knows the provider. */
  constructor(extension: string, provide: Provide) {
    this.#extension = extension;
    this.#provide = provide;
    this.#registration = this.#register();
  }

  dispose(): void {
    this.#registration.dispose();
  }

  /** As `again`, where nobody waits for it: an editor that is gone by then needs no answer. */
  soon(trigger: SuggestRequest['trigger']): void {
    this.again(trigger).catch(() => undefined);
  }

  /** Asks for the active editor's caret. One at a time: another would end the one before it unseen. */
  again(trigger: SuggestRequest['trigger']): Promise<void> {
    if (this.#running !== undefined) {
      // Nothing takes the place of what the person asked for.
      if (this.#next !== 'invoke') this.#next = trigger;
      return this.#running;
    }
    this.#running = this.#askUntilDone(trigger).finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #askUntilDone(trigger: SuggestRequest['trigger']): Promise<void> {
    let wish: SuggestRequest['trigger'] | undefined = trigger;
    while (wish !== undefined) {
      this.#next = undefined;
      await this.#ask(wish);
      wish = this.#next;
    }
  }

  async #ask(trigger: SuggestRequest['trigger']): Promise<void> {
    const document = vscode.window.activeTextEditor?.document;
    if (document === undefined) return;
    const before = this.#registration;
    this.#registration = this.#register();
    this.#wish = { uri: document.uri.toString(), version: document.version, trigger };
    const byHand = trigger === 'invoke';
    try {
      await vscode.commands.executeCommand(
        TRIGGER,
        byHand ? { explicit: true } : { explicit: false, providerId: `${this.#extension}:*` },
      );
    } finally {
      this.#wish = undefined;
      // Not before: what is on screen is from it.
      before.dispose();
    }
  }

  #register(): vscode.Disposable {
    const self = {};
    this.#current = self;
    return vscode.languages.registerInlineCompletionItemProvider(
      { pattern: '**' },
      {
        provideInlineCompletionItems: (document, position, context, token) => {
          if (this.#current !== self) return undefined;
          return this.#provide(document, position, context, token, this.#triggerOf(document, context));
        },
      },
    );
  }

  #triggerOf(document: vscode.TextDocument, context: vscode.InlineCompletionContext): SuggestRequest['trigger'] {
    const wish = this.#wish;
    if (wish?.uri === document.uri.toString() && wish.version === document.version) return wish.trigger;
    return context.triggerKind === vscode.InlineCompletionTriggerKind.Invoke ? 'invoke' : 'automatic';
  }
}
