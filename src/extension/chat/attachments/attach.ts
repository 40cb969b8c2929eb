import { Buffer } from 'node:buffer';
import * as vscode from 'vscode';
import { ownEntry } from '../../../base/json.ts';
import { type Attachment, MAX_MEDIA_BYTES, mediaAttachment, textAttachment } from '../../../chat/attachment.ts';
import { showInformation, showWarning } from '../../foreign-text.ts';
import { mayAttach } from '../attach-approval.ts';
import { workspaceRelativePath } from '../tools/workspace-path.ts';
import { gitDiff } from './git.ts';
import { problemsText } from './problems.ts';
import { terminalText } from './terminal-text.ts';

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  pdf: 'application/pdf',
};
const MAX_FILE_BYTES = 2 * 1024 * 1024;
const MAX_FOLDER_ENTRIES = 500;

/** Attachments with a fixed name, used as `@name`. */
export type Named = 'selection' | 'problems' | 'terminal' | 'diff';

/** Creates attachments from the editor and the workspace. */
export class Attach {
  readonly #newId: () => string;

  constructor(newId: () => string) {
    this.#newId = newId;
  }

  /** Creates a named attachment. Shows a message if it would be empty. */
  async named(name: Named): Promise<readonly Attachment[]> {
    const found = await this[name]();
    // If an editor is open, the user has just declined to attach its file.
    const refusedFile = name === 'selection' && vscode.window.visibleTextEditors.length > 0;
    if (found.length === 0 && !refusedFile) void showInformation(describeMissing(name));
    return found;
  }

  /** The selection of the last active editor, or its whole file; none if no editor is open. */
  async selection(
    editor = vscode.window.activeTextEditor ?? vscode.window.visibleTextEditors[0],
  ): Promise<readonly Attachment[]> {
    if (!editor || !(await mayAttach(editor.document.uri))) return [];
    const { document, selection } = editor;
    return [selection.isEmpty ? this.document(document) : this.range(document, selection)];
  }

  document(document: vscode.TextDocument): Attachment {
    const path = workspaceRelativePath(document.uri);
    const { languageId: language } = document;
    return textAttachment({
      id: this.#newId(),
      kind: 'file',
      label: baseName(path),
      detail: path,
      language,
      text: document.getText(),
    });
  }

  range(document: vscode.TextDocument, range: vscode.Range): Attachment {
    const path = workspaceRelativePath(document.uri);
    const lines = selectedLines(range);
    return textAttachment({
      id: this.#newId(),
      kind: 'selection',
      label: `${baseName(path)}:${lines}`,
      detail: `${path}:${lines}`,
      language: document.languageId,
      text: document.getText(range),
    });
  }

  /** Attaches a file or a folder; none if it is too large or not a text, an image or a PDF. */
  async uri(uri: vscode.Uri): Promise<Attachment[]> {
    const { type, size } = await vscode.workspace.fs.stat(uri);
    if (type & vscode.FileType.Directory) return [await this.folder(uri)];
    if (!(await mayAttach(uri))) return [];
    const path = workspaceRelativePath(uri);
    const label = baseName(path);
    const mediaType = ownEntry(MEDIA_TYPES, label.slice(label.lastIndexOf('.') + 1).toLowerCase());
    if (size > (mediaType ? MAX_MEDIA_BYTES : MAX_FILE_BYTES)) {
      refused(label, 'too-large');
      return [];
    }
    if (mediaType === undefined) {
      const document = await vscode.workspace.openTextDocument(uri).then(
        (opened) => opened,
        () => undefined,
      );
      if (document) return [this.document(document)];
      void showWarning(vscode.l10n.t('{0} is not a text file.', label));
      return [];
    }
    const bytes = await vscode.workspace.fs.readFile(uri);
    return one(mediaAttachment(this.#newId(), label, mediaType, Buffer.from(bytes).toString('base64')));
  }

  /** Attaches dropped files and folders. Reports each item that cannot be read, and keeps the others. */
  async dropped(uris: readonly string[]): Promise<readonly Attachment[]> {
    const attached = uris.map(async (text) => {
      try {
        const uri = vscode.Uri.parse(text, true);
        // Undefined for schemes without a file system, such as those of web pages.
        if (vscode.workspace.fs.isWritableFileSystem(uri.scheme) !== undefined) return await this.uri(uri);
      } catch {
        // Not a URI, or the file does not exist: both are reported.
      }
      refused(text, 'kind');
      return [];
    });
    return (await Promise.all(attached)).flat();
  }

  async folder(uri: vscode.Uri): Promise<Attachment> {
    const path = workspaceRelativePath(uri);
    const files = await vscode.workspace.findFiles(
      new vscode.RelativePattern(uri, '**/*'),
      undefined,
      MAX_FOLDER_ENTRIES,
    );
    const text = files.map(workspaceRelativePath).sort().join('\n');
    return textAttachment({ id: this.#newId(), kind: 'folder', label: `${baseName(path)}/`, detail: path, text });
  }

  problems(): Attachment[] {
    const text = problemsText();
    return text === ''
      ? []
      : [textAttachment({ id: this.#newId(), kind: 'problems', label: vscode.l10n.t('Problems'), text })];
  }

  async terminal(): Promise<Attachment[]> {
    const text = await terminalText();
    return text === ''
      ? []
      : [textAttachment({ id: this.#newId(), kind: 'terminal', label: vscode.l10n.t('Terminal'), text })];
  }

  async diff(): Promise<Attachment[]> {
    const text = await gitDiff();
    return text === ''
      ? []
      : [
          textAttachment({
            id: this.#newId(),
            kind: 'diff',
            label: vscode.l10n.t('Git diff'),
            language: 'diff',
            text,
          }),
        ];
  }

  async symbol(uri: vscode.Uri, range: vscode.Range, name: string): Promise<Attachment[]> {
    if (!(await mayAttach(uri))) return [];
    const document = await vscode.workspace.openTextDocument(uri);
    const whole = await wholeSymbol(document, range);
    return [{ ...this.range(document, whole), kind: 'symbol', label: name }];
  }
}

/** Reports that a dropped or pasted item cannot be attached. */
export function refused(name: string, why: 'too-large' | 'kind'): void {
  const text =
    why === 'too-large'
      ? vscode.l10n.t('{0} is too large to attach.', name)
      : vscode.l10n.t('{0} can’t be attached here. Drop images, PDFs or files from the Explorer.', name);
  void showWarning(text);
}

function describeMissing(name: Named): string {
  switch (name) {
    case 'selection':
      return vscode.l10n.t('Open a file first.');
    case 'problems':
      return vscode.l10n.t('There are no problems to attach.');
    case 'terminal':
      return vscode.l10n.t('No terminal output is available. Run a command in a terminal with shell integration.');
    case 'diff':
      return vscode.workspace.isTrusted
        ? vscode.l10n.t('There are no changes in Git to attach.')
        : vscode.l10n.t('Changes in Git are read once you trust the workspace.');
  }
}

/** Workspace symbols have only the range of the name. Document symbols have the range of the definition. */
async function wholeSymbol(document: vscode.TextDocument, range: vscode.Range): Promise<vscode.Range> {
  const symbols = await vscode.commands.executeCommand<vscode.DocumentSymbol[] | undefined>(
    'vscode.executeDocumentSymbolProvider',
    document.uri,
  );
  const search = (list: readonly vscode.DocumentSymbol[]): vscode.Range | undefined => {
    for (const symbol of list) {
      if (!symbol.range?.contains(range)) continue;
      return search(symbol.children) ?? symbol.range;
    }
    return undefined;
  };
  return search(symbols ?? []) ?? range;
}

function one(attachment: Attachment | undefined): Attachment[] {
  return attachment ? [attachment] : [];
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1) || path;
}

/** The first and the last line with selected text. Whole lines end at the start of the line after them. */
export function selectedLines({ start, end }: vscode.Range): string {
  const last = end.character === 0 && end.line > start.line ? end.line : end.line + 1;
  return `${start.line + 1}-${last}`;
}
