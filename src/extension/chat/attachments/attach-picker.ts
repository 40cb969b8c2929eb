import * as vscode from 'vscode';
import type { Attachment } from '../../../chat/attachment.ts';
import type { Attach } from './attach.ts';

/** Lets the user choose attachments. Returns none if the user cancels. */
export async function pickAttachments(attach: Attach): Promise<readonly Attachment[]> {
  const item = (label: string, run: () => Promise<readonly Attachment[]>) => ({ label, run });
  const items = [
    item(`$(file-media) ${vscode.l10n.t('Files, images, PDFs…')}`, () => pickFiles(attach)),
    item(`$(list-selection) ${vscode.l10n.t('Selected code or the open file')}`, () => attach.named('selection')),
    item(`$(warning) ${vscode.l10n.t('Problems of the workspace')}`, () => attach.named('problems')),
    item(`$(terminal) ${vscode.l10n.t('Last output of the terminal')}`, () => attach.named('terminal')),
    item(`$(git-compare) ${vscode.l10n.t('Changes in Git')}`, () => attach.named('diff')),
  ];
  const chosen = await vscode.window.showQuickPick(items, { title: vscode.l10n.t('Attach') });
  return (await chosen?.run()) ?? [];
}

async function pickFiles(attach: Attach): Promise<readonly Attachment[]> {
  const uris = await vscode.window.showOpenDialog({ canSelectMany: true, canSelectFolders: false });
  return (await Promise.all((uris ?? []).map((uri) => attach.uri(uri)))).flat();
}
