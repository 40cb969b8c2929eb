import * as vscode from 'vscode';
import { defined } from '../../../base/json.ts';
import { readPathLink } from '../../../chat/page/path-link.ts';
import { applyPlaces, findCodePlaces } from '../../../chat/review/code-place.ts';
import { plainLineEnds } from '../../../chat/tools/file-change.ts';
import { findLinkedFile } from '../links.ts';
import { workspaceRelativePath } from '../tools/workspace-path.ts';
import { atRange } from './code-range.ts';
import type { Proposals } from './proposals.ts';

/**
 * Compares a code block with the file that it belongs to, changed at the place that it belongs to: found by the path in
 * the block, its first and last lines, or the name that it declares. Otherwise the user chooses the place.
 */
export async function applyCode(text: string, file: string | undefined, proposals: Proposals): Promise<void> {
  const { code, path } = splitPathComment(text);
  const name = file ?? path;
  const named = name === undefined ? undefined : await findLinkedFile(name);
  const documents = named ? [await vscode.workspace.openTextDocument(named)] : shownDocuments();
  // A path that does not exist is a new file, not a place in another one.
  for (const document of name !== undefined && !named ? [] : documents) {
    const after = placed(document.getText(), code);
    if (after !== undefined) return proposals.compare(document, after);
  }
  const editor = named ? await vscode.window.showTextDocument(named, { preview: true }) : shownEditors()[0];
  await askPlace(code, name, editor, proposals);
}

function placed(text: string, code: string): string | undefined {
  if (text.trim() === '') return code;
  const places = findCodePlaces(text, code);
  return places && applyPlaces(text, places);
}

type Choice = vscode.QuickPickItem & { readonly apply: () => Promise<void> };

async function askPlace(
  code: string,
  name: string | undefined,
  editor: vscode.TextEditor | undefined,
  proposals: Proposals,
): Promise<void> {
  const inEditor = editor ? await editorChoices(code, editor, proposals) : [];
  const create: Choice = {
    label: vscode.l10n.t('New file'),
    ...defined({ description: name }),
    apply: () => newFile(code, name),
  };
  const known = name !== undefined && !(await findLinkedFile(name));
  const title = editor
    ? vscode.l10n.t('Where does this code belong in {0}?', workspaceRelativePath(editor.document.uri))
    : vscode.l10n.t('Where does this code belong?');
  const items = known ? [create, ...inEditor] : [...inEditor, create];
  const chosen = await vscode.window.showQuickPick(items, { title, ignoreFocusOut: true });
  await chosen?.apply();
}

async function editorChoices(
  code: string,
  editor: vscode.TextEditor,
  proposals: Proposals,
): Promise<readonly Choice[]> {
  const { document, selection } = editor;
  const replace = (place: vscode.Range, text: string) => {
    const whole = document.getText();
    const { range, code: indented } = atRange(document, place, plainLineEnds(text));
    const [from, to] = [document.offsetAt(range.start), document.offsetAt(range.end)];
    return proposals.compare(document, plainLineEnds(whole.slice(0, from) + indented + whole.slice(to)));
  };
  const symbol = await symbolAt(document, selection.active);
  const body = code.replace(/\n$/, '');
  const choices: readonly (Choice | undefined)[] = [
    selection.isEmpty
      ? undefined
      : { label: vscode.l10n.t('Replace the selection'), apply: () => replace(selection, body) },
    symbol && {
      label: vscode.l10n.t('Replace {0}', symbol.name),
      description: vscode.l10n.t('lines {0}–{1}', symbol.range.start.line + 1, symbol.range.end.line + 1),
      apply: () => replace(wholeLines(document, symbol.range), body),
    },
    {
      label: vscode.l10n.t('Insert at the cursor'),
      description: vscode.l10n.t('line {0}', selection.active.line + 1),
      apply: () => replace(new vscode.Range(selection.active, selection.active), code),
    },
  ];
  return choices.filter((choice) => choice !== undefined);
}

/** The innermost function, class or other symbol with several lines at a position. */
async function symbolAt(
  document: vscode.TextDocument,
  at: vscode.Position,
): Promise<vscode.DocumentSymbol | undefined> {
  const found = await vscode.commands.executeCommand<readonly vscode.DocumentSymbol[] | undefined>(
    'vscode.executeDocumentSymbolProvider',
    document.uri,
  );
  const innermost = (symbols: readonly vscode.DocumentSymbol[]): vscode.DocumentSymbol | undefined => {
    const around = symbols.find(({ range }) => range.contains(at) && !range.isSingleLine);
    return around && (innermost(around.children ?? []) ?? around);
  };
  return innermost((found ?? []).filter(({ range }) => range !== undefined));
}

function wholeLines(document: vscode.TextDocument, { start, end }: vscode.Range): vscode.Range {
  return new vscode.Range(start.line, 0, end.line, document.lineAt(end.line).range.end.character);
}

/** Opens a new file, which is written when the user saves it. */
export async function newFile(code: string, name?: string, language = ''): Promise<void> {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  const path = name === undefined ? undefined : readPathLink(name)?.path;
  const inside = path !== undefined && !/^[/\\]|^[A-Za-z]:|(?:^|[/\\])\.\.(?:[/\\]|$)/.test(path);
  if (folder && inside) {
    const uri = vscode.Uri.joinPath(folder, path).with({ scheme: 'untitled' });
    const editor = await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri));
    await editor.edit((edit) => edit.insert(new vscode.Position(0, 0), code));
    return;
  }
  const known = (await vscode.languages.getLanguages()).includes(language);
  const document = await vscode.workspace.openTextDocument({ content: code, ...(known ? { language } : {}) });
  await vscode.window.showTextDocument(document);
}

/** Models write the path of a block into its first line. */
function splitPathComment(text: string): { readonly code: string; readonly path?: string } {
  const [first = '', ...rest] = text.split('\n');
  const path = /^(?:\/\/|#|--|<!--|\/\*)\s{0,9}([^\s*<>]{1,300}?)\s{0,9}(?:\*\/|-->)?\s{0,9}$/.exec(first)?.[1];
  if (path === undefined || !/[\w]\.\w{1,12}$/.test(path) || !readPathLink(path)) return { code: text };
  return { code: rest.join('\n'), path };
}

/** The panel has the focus when one of its buttons is pressed. */
function shownEditors(): readonly vscode.TextEditor[] {
  const { activeTextEditor, visibleTextEditors } = vscode.window;
  return [...new Set(activeTextEditor ? [activeTextEditor, ...visibleTextEditors] : visibleTextEditors)];
}

function shownDocuments(): readonly vscode.TextDocument[] {
  return [...new Set(shownEditors().map(({ document }) => document))];
}
