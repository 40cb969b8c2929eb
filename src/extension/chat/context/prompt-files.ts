import * as vscode from 'vscode';
import type { AnswerOptions } from '../../../chat/message-parts.ts';
import { expandPrompt, type PromptFile, readPromptFile } from '../../../chat/prompts/prompt-file.ts';
import { cautionFor } from '../../../chat/tools/workspace-files.ts';
import { showWarning } from '../../foreign-text.ts';
import { fileAt, workspaceRelativePath } from '../tools/workspace-path.ts';
import { filesIn } from './folder-files.ts';
import { isShareable } from './shareable.ts';

export interface FoundPrompt extends PromptFile {
  readonly name: string;
  readonly path: string;
}

/** A prompt whose variables are filled in. */
export interface FilledPrompt {
  readonly prompt: string;
  readonly options: AnswerOptions;
}

/** The prompt files of a trusted workspace. */
export async function promptFiles(): Promise<readonly FoundPrompt[]> {
  if (!vscode.workspace.isTrusted) return [];
  const found = [...(await filesIn('.github/prompts', '.prompt.md')), ...(await filesIn('.svc/prompts', '.prompt.md'))];
  const prompts = await Promise.all(found.map(readPrompt));
  return prompts.flat().sort((a, b) => a.name.localeCompare(b.name));
}

/**
 * The prompt for `/name`, with its variables filled in. Asks for its inputs.
 *
 * @returns undefined if the user cancelled an input, or there is no such prompt, which the user is told.
 */
export async function fillPrompt(name: string): Promise<FilledPrompt | undefined> {
  const found = (await promptFiles()).find((prompt) => prompt.name === name);
  if (!found) {
    const text = vscode.l10n.t('There is no command /{0}. To send it as text, write a blank before it.', name);
    void showWarning(text);
    return undefined;
  }
  const editor = vscode.window.activeTextEditor ?? vscode.window.visibleTextEditors[0];
  const values = {
    ...(editor ? { file: workspaceRelativePath(editor.document.uri) } : {}),
    // The repository wrote the prompt: it gets the text of the editor only if that may be sent without a question.
    ...(editor && (await isShareable(editor.document.uri))
      ? { selection: editor.document.getText(editor.selection) }
      : {}),
    workspaceFolder: vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? '',
  };
  const prompt = await expandPrompt(found.body, values, async (input, placeHolder) =>
    vscode.window.showInputBox({ title: `/${name}: ${input}`, placeHolder, ignoreFocusOut: true }),
  );
  return prompt === undefined ? undefined : { prompt, options: found.options };
}

async function readPrompt(uri: vscode.Uri): Promise<readonly FoundPrompt[]> {
  // A prompt file in a repository may be a link to a private file of the user.
  const file = await fileAt(uri);
  const path = workspaceRelativePath(uri);
  if (!file || cautionFor(file, path, 'read')) return [];
  const text = (await vscode.workspace.openTextDocument(file.uri)).getText();
  const name = uri.path.slice(uri.path.lastIndexOf('/') + 1).replace(/\.prompt\.md$/, '');
  return [{ ...(await readPromptFile(text)), name, path }];
}
