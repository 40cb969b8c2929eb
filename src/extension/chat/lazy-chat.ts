import * as vscode from 'vscode';
import { watchTerminals } from './attachments/terminal-text.ts';
import type { ChatView } from './chat-view.ts';
import { type ChatFeatureDeps, chatViewDeps } from './chat-view-deps.ts';
import { CHAT_COMMANDS, CHAT_PANEL, CHAT_VIEW, revealChat } from './contributions.ts';
import { EarlyInput } from './early-input.ts';

/** Registers the chat and loads it on first use, because many windows never use it. */
export function registerChat(deps: ChatFeatureDeps): vscode.Disposable & Pick<ChatView, 'listed'> {
  let loaded: Promise<ChatView> | undefined;
  const load = async () => new (await import('./chat-view.ts')).ChatView(chatViewDeps(deps));
  const chat = () => {
    loaded ??= load();
    return loaded;
  };
  /** Shows the chat for a message of the user, who may type it while the first page of the window loads. */
  const openForTyping = async (begin: (view: ChatView) => Promise<void>) => {
    const early = loaded === undefined ? new EarlyInput() : undefined;
    try {
      const loading = chat();
      await revealChat(early !== undefined);
      const view = await loading;
      await begin(view);
      await view.focusInput(early);
    } catch (thrown) {
      early?.take();
      throw thrown;
    }
  };
  const view: vscode.WebviewViewProvider = {
    resolveWebviewView: async (place) => (await chat()).resolveWebviewView(place),
  };
  const tabs: vscode.WebviewPanelSerializer = {
    deserializeWebviewPanel: async (panel, state) => (await chat()).deserializeWebviewPanel(panel, state),
  };
  const registered = vscode.Disposable.from(
    vscode.window.registerWebviewViewProvider(CHAT_VIEW, view),
    vscode.window.registerWebviewPanelSerializer(CHAT_PANEL, tabs),
    vscode.commands.registerCommand('svc.chat.open', () => openForTyping(async () => undefined)),
    ...CHAT_COMMANDS.map((name) =>
      vscode.commands.registerCommand(name, async (...args: unknown[]) => {
        if (name === 'svc.chat.new' && loaded === undefined) return openForTyping((view) => view.startNew());
        return (await chat()).run(name, args);
      }),
    ),
    vscode.languages.registerCodeActionsProvider({ scheme: '*' }, new FixActions(), {
      providedCodeActionKinds: [vscode.CodeActionKind.QuickFix],
    }),
    watchTerminals(),
    { dispose: () => void loaded?.then((part) => part.dispose()) },
  );
  return {
    listed: async (open) => (loaded === undefined ? open() : (await loaded).listed(open)),
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
