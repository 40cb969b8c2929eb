import * as vscode from 'vscode';
import { CoalescedRun } from '../../base/concurrency.ts';
import type { SuggestRequest } from '../../completion/document/suggestion.ts';

const TRIGGER = 'editor.action.inlineSuggest.trigger';

/**
 * The command of an item. VS Code runs it after the item was accepted completely, so the continuation is requested at
 * once. Otherwise VS Code waits 50 ms, as after a key press (`InlineCompletionsDebounce` in its
 * inlineCompletionsController.ts).
 */
export const AFTER_ACCEPTANCE: vscode.Command = { command: TRIGGER, title: 'Request the continuation' };

export type Provide = (
  document: vscode.TextDocument,
  position: vscode.Position,
  context: vscode.InlineCompletionContext,
  token: vscode.CancellationToken,
  trigger: SuggestRequest['trigger'],
) => Promise<vscode.InlineCompletionItem[]>;

/**
 * Makes VS Code request inline completions again although the caret has not moved. Its trigger command does not, once
 * it has a result for a document version and a caret: that result counts for all providers that were called (`satisfies`
 * in VS Code's inlineCompletionsSource.ts). For an explicit trigger, it keeps the suggestion on screen first and lists
 * a longer text as an alternative (`createStateWithAppliedResults` there). So the provider is registered again, which
 * makes it a new provider for VS Code, and only this provider is called, as after a key press.
 */
export class InlineRefresh implements vscode.Disposable {
  readonly #provide: Provide;
  readonly #extension: string;
  #registration: vscode.Disposable;
  #current: object | undefined;
  /** Position and trigger of the running refresh. */
  #pending: { readonly uri: string; readonly version: number; readonly trigger: SuggestRequest['trigger'] } | undefined;
  readonly #refreshes = new CoalescedRun(() => this.#refresh());
  #next: SuggestRequest['trigger'] = 'automatic';
  /** Requests by the user, such as Alt+], that have no answer yet. */
  readonly #byUser = new Set<Promise<unknown>>();

  /** @param extension the extension id, which VS Code uses as the provider id. */
  constructor(extension: string, provide: Provide) {
    this.#extension = extension;
    this.#provide = provide;
    this.#registration = this.#register();
  }

  dispose(): void {
    this.#registration.dispose();
  }

  /** Like `again`, without waiting. Errors are ignored, because the editor may be closed by then. */
  refreshInBackground(trigger: SuggestRequest['trigger']): void {
    this.again(trigger).catch(() => undefined);
  }

  /** Refreshes at the active editor's caret. One at a time, because another refresh would cancel the first. */
  again(trigger: SuggestRequest['trigger']): Promise<void> {
    // Do not replace a manual request.
    if (this.#next !== 'invoke') this.#next = trigger;
    return this.#refreshes.run();
  }

  async #refresh(): Promise<void> {
    // VS Code cancels its request when another one begins. The user's key would have no effect then.
    while (this.#byUser.size > 0 && this.#next !== 'invoke') await Promise.allSettled(this.#byUser);
    const trigger = this.#next;
    this.#next = 'automatic';
    const document = vscode.window.activeTextEditor?.document;
    if (document === undefined) return;
    const before = this.#registration;
    this.#registration = this.#register();
    this.#pending = { uri: document.uri.toString(), version: document.version, trigger };
    const explicit = trigger === 'invoke';
    try {
      await vscode.commands.executeCommand(
        TRIGGER,
        explicit ? { explicit: true } : { explicit: false, providerId: `${this.#extension}:*` },
      );
    } finally {
      this.#pending = undefined;
      // Only now: the suggestion on screen belongs to the old registration.
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
          const trigger = this.#findTrigger(document, context);
          const items = this.#provide(document, position, context, token, trigger);
          if (trigger === 'invoke') this.#waitFor(items);
          return items;
        },
      },
    );
  }

  #waitFor(items: Promise<unknown>): void {
    this.#byUser.add(items);
    const ended = () => this.#byUser.delete(items);
    items.then(ended, ended);
  }

  #findTrigger(document: vscode.TextDocument, context: vscode.InlineCompletionContext): SuggestRequest['trigger'] {
    // Alt+] requests another suggestion, also while a refresh runs.
    if (context.triggerKind === vscode.InlineCompletionTriggerKind.Invoke) return 'invoke';
    const pending = this.#pending;
    const isRefresh = pending?.uri === document.uri.toString() && pending.version === document.version;
    return isRefresh ? pending.trigger : 'automatic';
  }
}
