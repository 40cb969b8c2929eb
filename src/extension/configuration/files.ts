import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { replaceFile } from '../../base/replace-file.ts';
import { globalFolder } from '../../config/load/sources.ts';
import type { Source } from '../../config/settings/origin.ts';
import type { Settings } from '../../config/settings/settings.ts';
import type { SaveTarget } from '../../protocol/provider-dialog.ts';
import { configurationInput } from './input.ts';

/** The user's file for all projects. */
export function globalFile(): string {
  return join(globalFolder(configurationInput()), 'svc.jsonc');
}

/** The folder of the user's own files for all projects. */
export function globalFolderUri(): vscode.Uri {
  return vscode.Uri.file(globalFolder(configurationInput()));
}

/** The files in which a new provider can be saved: the global one, and those of trusted workspace folders. */
export function saveTargets(): readonly SaveTarget[] {
  const folders = vscode.workspace.isTrusted ? (vscode.workspace.workspaceFolders ?? []) : [];
  const projects = folders
    .filter(({ uri }) => uri.scheme === 'file')
    .map(({ uri, name }) => ({
      path: join(uri.fsPath, 'svc.jsonc'),
      label: vscode.l10n.t('Only {0} (svc.jsonc in the folder)', name),
      project: true,
    }));
  return [
    { path: globalFile(), label: vscode.l10n.t('All projects (your own svc.jsonc)'), project: false },
    ...projects,
  ];
}

/** The file that defines a provider; `undefined` if it is not in an editable file. */
export function configurationFile(provider: string, settings: Settings | undefined): Source | undefined {
  const source = settings?.providers.get(provider)?.origin.source;
  return source && EDITABLE.has(source.kind) ? source : undefined;
}

const EDITABLE: ReadonlySet<Source['kind']> = new Set(['global', 'env-path', 'project']);

/** The text of a file, with unsaved changes of an open editor; empty if the file does not exist. */
export async function readConfig(path: string): Promise<string> {
  const open = openDocument(path);
  if (open) return open.getText();
  return readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
}

/** Writes a file. If it is open, the change is made in its editor, so that the user can undo it. */
export async function writeConfig(path: string, text: string): Promise<void> {
  const open = openDocument(path);
  if (!open) {
    await replaceFile(path, text);
    return;
  }
  const edit = new vscode.WorkspaceEdit();
  edit.replace(open.uri, new vscode.Range(0, 0, open.lineCount, 0), text);
  if (!(await vscode.workspace.applyEdit(edit)) || !(await open.save())) {
    throw new Error(vscode.l10n.t('The editor could not save {0}.', path));
  }
}

function openDocument(path: string): vscode.TextDocument | undefined {
  return vscode.workspace.textDocuments.find(({ uri }) => uri.scheme === 'file' && uri.fsPath === path);
}
