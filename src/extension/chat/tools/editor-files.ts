import * as vscode from 'vscode';
import { findRealPath } from '../../../base/real-path.ts';
import { withoutByteOrderMark } from '../../../base/text.ts';
import type { FileOperation, Files } from '../../../chat/checkpoints/files.ts';
import { lineDiff } from '../../../chat/tools/line-diff.ts';
import { findDocument } from '../../document-view.ts';
import { changeSaved, encodeChange, type FileText, savedText } from './file-text.ts';
import { type FoundFile, workspaceFile, workspaceRelativePath, writeFound } from './workspace-path.ts';

/** Larger files are not changed by tools, because a copy of each content is kept. */
const MAX_BYTES = 20 * 1024 * 1024;

type WriteOperation = Extract<FileOperation, { type: 'write' }>;

/** The files of the workspace as the editor shows them. */
export class EditorFiles implements Files {
  async read(path: string): Promise<Uint8Array | undefined> {
    const { uri } = await workspaceFile(path);
    const document = findDocument(uri.toString());
    if (document?.isDirty) return vscode.workspace.encode(document.getText(), { encoding: document.encoding });
    const stat = await statOf(uri);
    if (stat === undefined) return undefined;
    if (stat.type & vscode.FileType.Directory) throw new Error(`${path} is a folder.`);
    if (stat.size > MAX_BYTES) throw new Error(`${path} is larger than ${MAX_BYTES / 1024 / 1024} MB.`);
    return vscode.workspace.fs.readFile(uri);
  }

  /** Writes exactly these bytes, unless the file has unsaved changes: then only the text in the editor changes. */
  async apply(operations: readonly FileOperation[]): Promise<void> {
    for (const operation of operations) {
      if (operation.type === 'write') continue;
      const { uri } = await recordedFile(operation.path);
      if (operation.type === 'delete') await deleteFile(uri);
      else await moveFile(uri, (await recordedFile(operation.newPath)).uri);
    }
    const writes = operations.filter((operation) => operation.type === 'write');
    const known = await Promise.all(writes.map(async (write) => ({ write, text: await knownText(write) })));
    await writeTexts(known.flatMap(({ text }) => text ?? []));
    for (const { write, text } of known) {
      const file = await recordedFile(write.path);
      const { uri } = file;
      if (text === undefined || !(findDocument(uri.toString())?.isDirty || (await hasBytes(uri, write.content)))) {
        await writeFound(file, write.content, (await statOf(uri)) === undefined);
      }
    }
  }
}

/**
 * The file of a recorded change. Its path had no links.
 *
 * @throws Error if the path leads to another file now.
 */
async function recordedFile(path: string): Promise<FoundFile> {
  const file = await workspaceFile(path);
  if (file.relative !== path) throw new Error(`${path} is a link to ${file.relative} now. Nothing was written.`);
  return file;
}

/** The new text of a file. */
export interface NewText {
  readonly document: vscode.TextDocument;
  /** The text of the document that the new text was made from. */
  readonly before: string;
  readonly text: string;
}

/**
 * Replaces the changed lines of files as one undo step, and saves the files that had no unsaved changes. A file whose
 * bytes the editor can't keep is written on the disk. Returns the texts of files that were saved by the editor: its
 * formatter may have changed more.
 *
 * @throws Error if a document changes in the meantime, or a file can't be changed without damage.
 */
export async function writeTexts(changes: readonly NewText[]): Promise<ReadonlyMap<vscode.TextDocument, string>> {
  if (changes.length === 0) return new Map();
  const stale = changes.find(({ document, before }) => document.getText() !== before);
  if (stale) throw new Error(`${workspaceRelativePath(stale.document.uri)} has changed. Nothing was done.`);
  const byBytes: SavedChange[] = [];
  const shown: NewText[] = [];
  for (const change of changes) {
    const saved = await checkedChange(change);
    if (saved?.before.keepsBytes) byBytes.push(saved);
    else shown.push(change);
  }
  const saved = await writeShown(shown);
  for (const change of byBytes)
    await writeSaved(await recordedFile(workspaceRelativePath(change.document.uri)), change);
  return saved;
}

/**
 * Checks that a change keeps all other bytes of its file. Undefined for an editor with unsaved changes.
 *
 * @throws Error if it does not.
 */
export async function checkedChange({ document, before, text }: NewText): Promise<SavedChange | undefined> {
  const relative = workspaceRelativePath(document.uri);
  if (!(await statOf(document.uri))) return undefined;
  const saved = await savedText(document, relative);
  if (document.isDirty) {
    if (saved.keepsBytes) throw new Error(`${relative} has unsaved changes, and is not UTF-8. Nothing was changed.`);
    await encodeChange(relative, document.encoding, undefined, text);
    return undefined;
  }
  const after = saved.keepsBytes ? changeSaved(saved.text, before, text) : text;
  if (after === undefined) throw new Error(`${relative} has changed. Nothing was done.`);
  await encodeChange(relative, document.encoding, saved, after);
  return { document, before: saved, text: after };
}

async function writeShown(changes: readonly NewText[]): Promise<ReadonlyMap<vscode.TextDocument, string>> {
  if (changes.length === 0) return new Map();
  const clean = changes.filter(({ document }) => !document.isDirty);
  const places = new Map(
    await Promise.all(clean.map(async ({ document }) => [document, await placeOf(document)] as const)),
  );
  const edit = new vscode.WorkspaceEdit();
  for (const { document, text } of changes) edit.set(document.uri, lineEdits(document, text));
  if (!(await vscode.workspace.applyEdit(edit))) {
    const names = changes.map(({ document }) => workspaceRelativePath(document.uri)).join(', ');
    throw new Error(`VS Code refused the change of ${names}. Nothing was changed.`);
  }
  for (const { document } of clean) {
    if ((await placeOf(document)) !== places.get(document))
      throw new Error(`${workspaceRelativePath(document.uri)} is another file now. The change was not saved.`);
    if (document.isDirty && !(await document.save()))
      throw new Error(`${workspaceRelativePath(document.uri)} was changed, but could not be saved.`);
  }
  return new Map(clean.map(({ document }) => [document, document.getText()]));
}

/** The real path of a file on the disk, which changes if a folder above it becomes a link. */
async function placeOf({ uri }: vscode.TextDocument): Promise<string | undefined> {
  return uri.scheme === 'file' ? findRealPath(uri.fsPath) : undefined;
}

/** The new text of a file on the disk. */
export interface SavedChange {
  readonly document: vscode.TextDocument;
  readonly before: FileText;
  readonly text: string;
}

/** Writes a text to the disk as it is. The editor reloads it. */
export async function writeSaved(file: FoundFile, { document, before, text }: SavedChange): Promise<void> {
  if (document.isDirty) throw new Error(`${workspaceRelativePath(document.uri)} has changed. Nothing was done.`);
  await writeFound(file, await encodeChange(file.relative, before.encoding, before, text), false);
}

/** Replaces only the lines that differ, so that cursors and folded ranges elsewhere stay. */
function lineEdits(document: vscode.TextDocument, text: string): vscode.TextEdit[] {
  const lineEnd = document.eol === vscode.EndOfLine.CRLF ? '\r\n' : '\n';
  const plain = (whole: string) => whole.replaceAll('\r\n', '\n');
  const last = document.lineAt(document.lineCount - 1).range.end;
  return lineDiff(plain(document.getText()), plain(text)).map(({ from, before, after }) => {
    const to = from + before.length;
    if (to < document.lineCount) {
      return vscode.TextEdit.replace(new vscode.Range(from, 0, to, 0), after.map((line) => line + lineEnd).join(''));
    }
    if (from === 0) return vscode.TextEdit.replace(new vscode.Range(document.positionAt(0), last), after.join(lineEnd));
    const start = document.lineAt(from - 1).range.end;
    return vscode.TextEdit.replace(new vscode.Range(start, last), after.map((line) => lineEnd + line).join(''));
  });
}

/** The text for a file that the editor can show; undefined for a new file, and for one that is no text. */
async function knownText({ path, content }: WriteOperation): Promise<NewText | undefined> {
  const { uri } = await recordedFile(path);
  // A document of a deleted file stays open for a while.
  const document = (await statOf(uri)) && (await textDocument(uri));
  if (document === undefined || content.includes(0)) return undefined;
  const text = withoutByteOrderMark(await vscode.workspace.decode(content, { encoding: document.encoding }));
  const change = { document, before: document.getText(), text };
  if (document.isDirty) return change;
  // Otherwise the bytes are written as they are.
  const saved = await checkedChange(change).catch(() => undefined);
  return saved && !saved.before.keepsBytes ? change : undefined;
}

async function hasBytes(uri: vscode.Uri, content: Uint8Array): Promise<boolean> {
  return Buffer.compare(await vscode.workspace.fs.readFile(uri), content) === 0;
}

/** @throws Error if the new path exists, or the file has unsaved changes. */
export async function moveFile(from: vscode.Uri, to: vscode.Uri): Promise<void> {
  if (findDocument(from.toString())?.isDirty)
    throw new Error(`${workspaceRelativePath(from)} has unsaved changes. It was not renamed.`);
  // Through `fs`: `WorkspaceEdit.renameFile` makes language extensions open dialogs about imports.
  await vscode.workspace.fs.rename(from, to, { overwrite: false });
}

/**
 * Deletes a file, to the trash where the system has one.
 *
 * @throws Error if the file has unsaved changes.
 */
export async function deleteFile(uri: vscode.Uri): Promise<'trash' | 'deleted'> {
  if (findDocument(uri.toString())?.isDirty)
    throw new Error(`${workspaceRelativePath(uri)} has unsaved changes. It was not deleted.`);
  try {
    await vscode.workspace.fs.delete(uri, { useTrash: true });
    return 'trash';
  } catch {
    // Remote file systems have no trash.
    await vscode.workspace.fs.delete(uri);
    return 'deleted';
  }
}

/** The document of a text file, also of one that is not open. */
export async function textDocument(uri: vscode.Uri): Promise<vscode.TextDocument | undefined> {
  return vscode.workspace.openTextDocument(uri).then(
    (document) => document,
    () => undefined,
  );
}

export async function statOf(uri: vscode.Uri): Promise<vscode.FileStat | undefined> {
  return vscode.workspace.fs.stat(uri).then(
    (stat) => stat,
    () => undefined,
  );
}
