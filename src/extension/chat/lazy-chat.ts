import * as vscode from 'vscode';
import { watchTerminals } from './attachments/terminal-text.ts';
import type { ChatView } from './chat-view.ts';
import { type ChatFeatureDeps, chatViewDeps } from './chat-view-deps.ts';
import { CHAT_COMMANDS, CHAT_PANEL, CHAT_VIEW, CHAT_VISIBLE, SHOW_CHAT } from './contributions.ts';
import { EarlyInput } from './early-input.ts';

/** Registers the chat and loads it on first use, because many windows never use it. */
export function registerChat(deps: ChatFeatureDeps): vscode.Disposable & Pick<ChatView, 'listed' | 'close'> {
  let loaded: Promise<ChatView> | undefined;
  const load = async (early: EarlyInput | undefined) => {
    try {
      return new (await import('./chat-view.ts')).ChatView(chatViewDeps(deps), early);
    } catch (thrown) {
      early?.take();
      throw thrown;
    }
  };
  /** @param shown for the user, who may type at once, while the first page of the window loads. */
  const chat = (shown: boolean) => {
    loaded ??= load(shown ? new EarlyInput() : undefined);
    return loaded;
  };
  let resolved = false;
  const view: vscode.WebviewViewProvider = {
    resolveWebviewView: async (place) => {
      // Not if VS Code shows what was visible when the window was closed: nobody is about to type into that.
      const byUser = resolved || deps.context.workspaceState.get(CHAT_VISIBLE) !== true;
      resolved = true;
      await (await chat(byUser)).resolveWebviewView(place, byUser);
    },
  };
  const tabs: vscode.WebviewPanelSerializer = {
    deserializeWebviewPanel: async (panel, state) => (await chat(false)).deserializeWebviewPanel(panel, state),
  };
  const registered = vscode.Disposable.from(
    // Loading the page again takes a moment in which keys reach nothing.
    vscode.window.registerWebviewViewProvider(CHAT_VIEW, view, { webviewOptions: { retainContextWhenHidden: true } }),
    vscode.window.registerWebviewPanelSerializer(CHAT_PANEL, tabs),
    ...CHAT_COMMANDS.map((name) =>
      vscode.commands.registerCommand(name, async (...args: unknown[]) =>
        (await chat(SHOW_CHAT.has(name))).run(name, args),
      ),
    ),
    vscode.languages.registerCodeActionsProvider({ scheme: '*' }, new FixActions(), {
      providedCodeActionKinds: [vscode.CodeActionKind.QuickFix],
    }),
    watchTerminals(),
    { dispose: () => void loaded?.then((part) => part.dispose()) },
  );
  return {
    listed: async (open) => (loaded === undefined ? open() : (await loaded).listed(open)),
    close: async () => (await loaded)?.close(),
    dispose: () => registered.dispose(),
  };
}

/** Offered only for problems, to avoid a light bulb on every line, and not preferred, so that auto-fix ignores it. */
export class FixActions implements vscode.CodeActionProvider {
  provideCodeActions(
    document: vscode.TextDocument,
    range: vscode.Range,
    context: vscode.CodeActionContext,
  ): vscode.CodeAction[] {
    if (context.diagnostics.length === 0) return [];
    const action = new vscode.CodeAction(vscode.l10n.t('Fix with Svc'), vscode.CodeActionKind.QuickFix);
    action.diagnostics = [...context.diagnostics];
    action.command = { command: 'svc.chat.fix', title: action.title, arguments: [document.uri, range] };
    return [action];
  }
}
