import * as vscode from 'vscode';

/** Ids from package.json. */
export const CHAT_VIEW = 'svc.chat';
export const CHAT_PANEL = 'svc.chatPanel';
const CHAT_CONTAINER = 'svc';
/** State of the workspace: true while the view is visible. */
export const CHAT_VISIBLE = 'svc.chat.visible';

/** Commands that load the chat. */
export const CHAT_COMMANDS = [
  'svc.chat.open',
  'svc.chat.new',
  'svc.chat.history',
  'svc.chat.openInEditor',
  'svc.chat.openInWindow',
  'svc.chat.chooseTools',
  'svc.chat.managePermissions',
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
  'svc.chat.cancelChange',
  'svc.chat.commitMessage',
  'svc.chat.explainTerminal',
  'svc.proposal.apply',
  'svc.proposal.applyHunks',
  'svc.proposal.discard',
  'svc.review.acceptHunk',
  'svc.review.rejectHunk',
  'svc.review.next',
  'svc.review.previous',
  'svc.review.acceptFile',
  'svc.review.rejectFile',
  'svc.review.viewDiff',
  'svc.review.all',
  'svc.review.followUp',
] as const;

export type ChatCommand = (typeof CHAT_COMMANDS)[number];

/** Commands that show the chat at once, without a question before. */
export const SHOW_CHAT: ReadonlySet<ChatCommand> = new Set(['svc.chat.open', 'svc.chat.new']);

/** Shows the chat view in its current location. @param preserveFocus the focus stays where it is. */
export async function revealChat(preserveFocus = false): Promise<void> {
  try {
    await vscode.commands.executeCommand(`${CHAT_VIEW}.focus`, { preserveFocus });
  } catch {
    // VS Code 1.139 removes a view's focus command after "Reset View Locations". The view is then in its container.
    await vscode.commands.executeCommand(`workbench.view.extension.${CHAT_CONTAINER}`);
  }
}
