import * as vscode from 'vscode';
import { findRealPath } from '../../../base/real-path.ts';
import { isSecretFile } from '../../../base/secret-files.ts';

/**
 * Whether text of a document may be sent without a question: a file of the workspace or a new one. Never one that may
 * contain secrets, whatever its scheme, and never through a link.
 */
export async function isShareable(uri: vscode.Uri): Promise<boolean> {
  if (isSecretFile(uri.path)) return false;
  if (uri.scheme === 'untitled') return true;
  if (!vscode.workspace.getWorkspaceFolder(uri)) return false;
  if (uri.scheme !== 'file') return true;
  const real = await findRealPath(uri.fsPath);
  if (real === undefined || isSecretFile(real)) return false;
  return vscode.workspace.getWorkspaceFolder(vscode.Uri.file(real)) !== undefined;
}
