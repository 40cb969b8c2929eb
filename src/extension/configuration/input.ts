import { homedir } from 'node:os';
import * as vscode from 'vscode';
import type { LoadInput } from '../../config/load/sources.ts';

/** svc.json and svc.jsonc, also the global file, which has the same name. */
export const CONFIGURATION_FILES: vscode.DocumentFilter = { pattern: '**/svc.{json,jsonc}' };

/** VS Code settings that override a key of svc.jsonc. All have `machine` scope: a workspace cannot set them. */
const KEYS: readonly { readonly setting: string; readonly key: string }[] = [
  { setting: 'chat.model', key: 'model' },
  { setting: 'completion.model', key: 'completionModel' },
];

/** The input for loading the settings, with the current state of VS Code. */
export function configurationInput(): LoadInput {
  const folders = vscode.workspace.workspaceFolders?.filter(({ uri }) => uri.scheme === 'file') ?? [];
  return {
    env: process.env,
    platform: process.platform,
    home: homedir(),
    // An empty window has no project: the working directory of the extension host is unrelated to the user's work.
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
