import * as vscode from 'vscode';
import type { DeclaredAt, ProjectReader } from '../../completion/context/project-reader.ts';
import type { DocumentText, Position } from '../../completion/document/document-text.ts';
import { documentView, pathInFolder } from '../document-view.ts';

/** So many unanswered requests show that a language server hangs. It gets no more until it answers. */
const MAX_UNANSWERED = 6;
const MAX_BYTES = 400_000;
const FILES = 64;
const VISITED = 20;

/** Reads the project with VS Code's providers and file system. Opens no documents, which would start language servers. */
export class EditorProjectReader implements ProjectReader, vscode.Disposable {
  readonly #excluded: (uri: string) => boolean;
  readonly #files = new Map<string, { readonly mtime: number; readonly text: DocumentText }>();
  /** Address -> language, latest last. */
  readonly #visited = new Map<string, string>();
  readonly #watch: vscode.Disposable;
  #unanswered = 0;

  /** @param excluded true: the file must not be sent. */
  constructor(excluded: (uri: string) => boolean) {
    this.#excluded = excluded;
    const visit = (editor: vscode.TextEditor | undefined) => editor && this.#visit(editor.document);
    for (const document of vscode.workspace.textDocuments) this.#visit(document);
    visit(vscode.window.activeTextEditor);
    this.#watch = vscode.Disposable.from(
      vscode.window.onDidChangeActiveTextEditor(visit),
      vscode.workspace.onDidOpenTextDocument((document) => this.#visit(document)),
    );
  }

  dispose(): void {
    this.#watch.dispose();
  }

  now(): number {
    return Date.now();
  }

  async declarations(uri: string, position: Position, of: 'name' | 'type'): Promise<readonly DeclaredAt[]> {
    if (this.#unanswered >= MAX_UNANSWERED) return [];
    this.#unanswered += 1;
    const command = of === 'name' ? 'vscode.executeDefinitionProvider' : 'vscode.executeTypeDefinitionProvider';
    let places: (vscode.Location | vscode.LocationLink)[] = [];
    try {
      const at = new vscode.Position(position.line, position.character);
      places = (await vscode.commands.executeCommand<typeof places>(command, vscode.Uri.parse(uri), at)) ?? [];
    } catch {
      // The provider failed, which is not shown: the user did not ask for it.
    }
    this.#unanswered -= 1;
    return places.map((place) => {
      const [target, range] =
        'targetUri' in place
          ? [place.targetUri, place.targetSelectionRange ?? place.targetRange]
          : [place.uri, place.range];
      return { uri: target.toString(), line: range.start.line, character: range.start.character };
    });
  }

  async read(uri: string, languageId: string): Promise<DocumentText | undefined> {
    const open = vscode.workspace.textDocuments.find((each) => each.uri.toString() === uri);
    const target = open?.uri ?? vscode.Uri.parse(uri);
    const path = pathInFolder(target);
    if (path === undefined || /(?:^|\/)node_modules\//.test(path) || this.#excluded(uri)) return undefined;
    if (open !== undefined) return documentView(open);
    try {
      const { mtime, size, type } = await vscode.workspace.fs.stat(target);
      if (type !== vscode.FileType.File || size > MAX_BYTES) return undefined;
      const known = this.#files.get(uri);
      if (known?.mtime === mtime) return known.text;
      const text = new TextDecoder().decode(await vscode.workspace.fs.readFile(target));
      const file = { mtime, text: fileText({ uri, path, languageId, version: mtime }, text) };
      this.#files.delete(uri);
      this.#files.set(uri, file);
      const [oldest] = this.#files.keys();
      if (this.#files.size > FILES && oldest !== undefined) this.#files.delete(oldest);
      return file.text;
    } catch {
      return undefined;
    }
  }

  async visited(): Promise<readonly DocumentText[]> {
    const read = await Promise.all([...this.#visited].map(([uri, languageId]) => this.read(uri, languageId)));
    return read.filter((text) => text !== undefined).reverse();
  }

  #visit({ uri, languageId }: vscode.TextDocument): void {
    if (uri.scheme === 'output' || uri.scheme === 'git') return;
    const key = uri.toString();
    this.#visited.delete(key);
    this.#visited.set(key, languageId);
    const [oldest] = this.#visited.keys();
    if (this.#visited.size > VISITED && oldest !== undefined) this.#visited.delete(oldest);
  }
}

function fileText(file: Pick<DocumentText, 'uri' | 'path' | 'languageId' | 'version'>, text: string): DocumentText {
  const lines = text.split(/\r?\n/);
  return { ...file, eol: '\n', lineCount: lines.length, lineAt: (line) => lines[line] ?? '' };
}
