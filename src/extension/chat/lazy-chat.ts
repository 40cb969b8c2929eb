import * as vscode from 'vscode';
import type { ChatView } from './chat-view.ts';
import { FixActions } from './fix-actions.ts';
import { watchTerminals } from './terminal-text.ts';

const CHAT_VIEW = 'svc.chat';
export const CHAT_PANEL = 'svc.chatPanel';
const CHAT_CONTAINER = 'svc';

/** What the chat does when its commands are called; it is loaded then. */
export const CHAT_COMMANDS = [
  'svc.chat.new',
  'svc.chat.history',
  'svc.chat.openInEditor',
  'svc.chat.openInWindow',
  'svc.chat.chooseTools',
  'svc.chat.compact',
  'svc.chat.stop',
  'svc.chat.export',
  'svc.chat.import',
  'svc.chat.addSelection',
  'svc.chat.addFile',
  'svc.chat.explain',
  'svc.chat.fix',
  'svc.chat.tests',
  'svc.chat.doc',
  'svc.chat.editSelection',
  'svc.chat.commitMessage',
  'svc.chat.explainTerminal',
  'svc.proposal.apply',
  'svc.proposal.applyHunks',
  'svc.proposal.discard',
] as const;

export type ChatCommand = (typeof CHAT_COMMANDS)[number];

/** Shows the chat, wherever a person has put it. */
export async function revealChat(): Promise<void> {
  try {
    await vscode.commands.executeCommand(`${CHAT_VIEW}.focus`);
  } catch {
    // VS Code 1.139 drops a view's focus command after "Reset View Locations"; the view is then in its container again.
    await vscode.commands.executeCommand(`workbench.view.extension.${CHAT_CONTAINER}`);
  }
}

/** Stands in for the chat until a person first asks for it: most windows are opened to write code. */
export function registerChat(load: () => Promise<ChatView>): vscode.Disposable {
  let loaded: Promise<ChatView> | undefined;
  const chat = () => {
    loaded ??= load();
    return loaded;
  };
  const view: vscode.WebviewViewProvider = {
    resolveWebviewView: async (place) => (await chat()).resolveWebviewView(place),
  };
  const tabs: vscode.WebviewPanelSerializer = {
    deserializeWebviewPanel: async (panel, state) => (await chat()).deserializeWebviewPanel(panel, state),
  };
  return vscode.Disposable.from(
    vscode.window.registerWebviewViewProvider(CHAT_VIEW, view),
    vscode.window.registerWebviewPanelSerializer(CHAT_PANEL, tabs),
    vscode.commands.registerCommand('svc.chat.open', revealChat),
    ...CHAT_COMMANDS.map((name) =>
      vscode.commands.registerCommand(name, async (...args: unknown[]) => (await chat()).run(name, args)),
    ),
    vscode.languages.registerCodeActionsProvider({ scheme: '*' }, new FixActions(), {
      providedCodeActionKinds: [vscode.CodeActionKind.QuickFix],
    }),
    watchTerminals(),
    { dispose: () => void loaded?.then((part) => part.dispose()) },
  );
}
