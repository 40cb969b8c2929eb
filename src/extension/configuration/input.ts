import { homedir } from 'node:os';
import * as vscode from 'vscode';
import type { LoadInput } from '../../config/load/sources.ts';

/** svc.json, svc.jsonc and the global file, which has the same name. */
export const CONFIGURATION_FILES: vscode.DocumentFilter = { pattern: '**/svc.{json,jsonc}' };

/** VS Code settings that stand for a key of svc.jsonc. All are `machine` scope: a workspace can't set them. */
const KEYS: readonly { readonly setting: string; readonly key: string }[] = [
  { setting: 'chat.model', key: 'model' },
  { setting: 'completion.model', key: 'completionModel' },
];

/** What decides the settings, as the editor has it at this moment. */
export function configurationInput(): LoadInput {
  const folders = vscode.workspace.workspaceFolders?.filter(({ uri }) => uri.scheme === 'file') ?? [];
  return {
    env: process.env,
    platform: process.platform,
    home: homedir(),
    // An empty window has no project: the working directory of the host says nothing about the person's work.
    folders: folders.map(({ uri }) => uri.fsPath),
    trustedWorkspace: vscode.workspace.isTrusted,
    editor: { user: editorValues() },
  };
}

function editorValues(): Record<string, unknown> {
  const configuration = vscode.workspace.getConfiguration('svc');
  const values: Record<string, unknown> = {};
  for (const { setting, key } of KEYS) {
    const value = configuration.get<string>(setting, '');
    if (value !== '') values[key] = value;
  }
  return values;
}
