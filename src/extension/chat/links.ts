import * as vscode from 'vscode';

/** Opens what a person may mean by a link in an answer: the web and mail, nothing that acts in the editor. */
export async function openLink(href: string, shown: string): Promise<void> {
  if (!/^(?:https?|mailto):/i.test(href) || !URL.canParse(href)) return;
  const open = vscode.l10n.t('Open');
  if (misleads(href, shown)) {
    const text = vscode.l10n.t('This link is not what it says. It leads to {0}', new URL(href).href);
    if ((await vscode.window.showWarningMessage(text, { modal: true }, open)) !== open) return;
  }
  await vscode.env.openExternal(vscode.Uri.parse(href, true));
}

/** The text looks like an address and names another host, or the host hides behind look-alike letters. */
export function misleads(href: string, shown: string): boolean {
  const { host } = new URL(href);
  if (host.startsWith('xn--') || host.includes('.xn--')) return true;
  const named = /^\s*(?:https?:\/\/)?([\w-]+(?:\.[\w-]+)+)(?:[/:?#].*)?\s*$/i.exec(shown)?.[1];
  if (named === undefined || host === '') return false;
  return named.toLowerCase().replace(/^www\./, '') !== new URL(href).hostname.replace(/^www\./, '');
}
