import * as vscode from 'vscode';
import type { DeclaredAt, ProjectReader } from '../../completion/context/project-reader.ts';
import type { DocumentText, Position } from '../../completion/document/document-text.ts';
import { documentView, pathInFolder } from '../document-view.ts';

/** A language server that needs longer is not waited for. */
const ANSWER_MS = 1_500;
/** So many unanswered requests show that a language server hangs. It gets no more until it answers. */
const MAX_UNANSWERED = 6;
const MAX_BYTES = 400_000;
const FILES = 64;
const VISITED = 20;
const LANGUAGES: Readonly<Record<string, string>> = {
  ts: 'typescript',
  mts: 'typescript',
  cts: 'typescript',
  tsx: 'typescriptreact',
  js: 'javascript',
  mjs: 'javascript',
  cjs: 'javascript',
  jsx: 'javascriptreact',
  py: 'python',
  pyi: 'python',
  rs: 'rust',
  cs: 'csharp',
  kt: 'kotlin',
  h: 'c',
  cc: 'cpp',
  hpp: 'cpp',
  rb: 'ruby',
};

/** Reads the project with VS Code's providers and file system. Opens no documents, which would start language servers. */
export class EditorProjectReader implements ProjectReader, vscode.Disposable {
  readonly #excluded: (uri: string) => boolean;
  readonly #files = new Map<string, { readonly mtime: number; readonly text: DocumentText }>();
  /** Latest last. */
  readonly #visited = new Set<string>();
  readonly #watch: vscode.Disposable;
  #unanswered = 0;

  /** @param excluded true: the file must not be sent. */
  constructor(excluded: (uri: string) => boolean) {
    this.#excluded = excluded;
    const visit = (editor: vscode.TextEditor | undefined) => editor && this.#visit(editor.document.uri.toString());
    for (const { document } of vscode.window.visibleTextEditors) this.#visit(document.uri.toString());
    visit(vscode.window.activeTextEditor);
    this.#watch = vscode.window.onDidChangeActiveTextEditor(visit);
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
    const answer = vscode.commands
      .executeCommand<(vscode.Location | vscode.LocationLink)[]>(
        command,
        vscode.Uri.parse(uri),
        new vscode.Position(position.line, position.character),
      )
      .then(
        (places) => places ?? [],
        () => [],
      )
      .then((places) => {
        this.#unanswered -= 1;
        return places;
      });
    const places = await within(ANSWER_MS, answer);
    return (places ?? []).map((place) => {
      const [target, range] =
        'targetUri' in place
          ? [place.targetUri, place.targetSelectionRange ?? place.targetRange]
          : [place.uri, place.range];
      return { uri: target.toString(), line: range.start.line, character: range.start.character };
    });
  }

  async read(uri: string): Promise<DocumentText | undefined> {
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
      const file = { mtime, text: fileText(uri, path, text, mtime) };
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
    const open = vscode.workspace.textDocuments.map(({ uri }) => uri.toString());
    const uris = [...new Set([...[...this.#visited].reverse(), ...open.reverse()])].filter(
      (uri) => !/^(?:git|output|vscode-)/.test(uri),
    );
    const read = await Promise.all(uris.slice(0, VISITED).map((uri) => this.read(uri)));
    return read.filter((text) => text !== undefined);
  }

  #visit(uri: string): void {
    this.#visited.delete(uri);
    this.#visited.add(uri);
    const [oldest] = this.#visited;
    if (this.#visited.size > VISITED && oldest !== undefined) this.#visited.delete(oldest);
  }
}

function fileText(uri: string, path: string, text: string, version: number): DocumentText {
  const lines = text.split(/\r?\n/);
  const ending = /\.(\w+)$/.exec(path)?.[1] ?? '';
  return {
    uri,
    path,
    languageId: LANGUAGES[ending] ?? ending,
    version,
    eol: text.includes('\r\n') ? '\r\n' : '\n',
    lineCount: lines.length,
    lineAt: (line) => lines[line] ?? '',
  };
}

/** Undefined after the time. */
async function within<T>(ms: number, promise: Thenable<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
