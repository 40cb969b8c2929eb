import * as vscode from 'vscode';
import { isMisleadingLink } from '../../chat/page/misleading-link.ts';

/** Opens a link of an answer. Only web and mail links: other schemes could run commands in VS Code. */
export async function openLink(href: string, shown: string): Promise<void> {
  if (!/^(?:https?|mailto):/i.test(href) || !URL.canParse(href)) return;
  const open = vscode.l10n.t('Open');
  if (isMisleadingLink(href, shown)) {
    const text = vscode.l10n.t('The text of this link does not match its address. It opens {0}', new URL(href).href);
    if ((await vscode.window.showWarningMessage(text, { modal: true }, open)) !== open) return;
  }
  await vscode.env.openExternal(vscode.Uri.parse(href, true));
}
