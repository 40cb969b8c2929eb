import * as vscode from 'vscode';
import { findRealPath } from '../../base/real-path.ts';
import { isSecretFile } from '../../base/secret-files.ts';
import { ask } from '../foreign-text.ts';
import { fileAt, workspaceRelativePath } from './tools/workspace-path.ts';

/**
 * Whether a file's text may be sent with a message. Asks the user about each file that may contain secrets and each
 * link in the workspace whose target is outside.
 */
export async function mayAttach(uri: vscode.Uri): Promise<boolean> {
  const question = await confirmationText(uri);
  if (question === undefined) return true;
  const attach = vscode.l10n.t('Attach');
  const detail = vscode.l10n.t('Its text is sent to the provider of the model.');
  return (await ask(question, { detail }, attach)) === attach;
}

async function confirmationText(uri: vscode.Uri): Promise<string | undefined> {
  if (uri.scheme === 'untitled' && !isSecretFile(uri.path)) return undefined;
  const name = workspaceRelativePath(uri);
  const real = uri.scheme === 'file' ? await findRealPath(uri.fsPath) : uri.path;
  if (real === undefined || isSecretFile(real) || isSecretFile(uri.path)) {
    return vscode.l10n.t('{0} may contain secrets. Attach it?', name);
  }
  if (vscode.workspace.getWorkspaceFolder(uri) === undefined || (await fileAt(uri))) return undefined;
  return vscode.l10n.t('{0} is a link to {1}, outside the workspace. Attach it?', name, real);
}
