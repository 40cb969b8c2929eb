import * as vscode from 'vscode';

/** Ids of package.json. */
export const CHAT_VIEW = 'svc.chat';
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
