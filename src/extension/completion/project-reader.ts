import * as vscode from 'vscode';
import type { ExpectedAt } from '../../completion/context/code-names.ts';
import { HangingRequests } from '../../completion/context/hanging-requests.ts';
import { isLibrary, readSignature, withoutDefaults } from '../../completion/context/library-signature.ts';
import type { DeclaredAt, ProjectReader } from '../../completion/context/project-reader.ts';
import type { DocumentText, Position } from '../../completion/document/document-text.ts';
import { documentView, findDocument, pathInFolder } from '../document-view.ts';

const MAX_BYTES = 400_000;
/** Members of a value. */
const MAX_MEMBERS = 40;
/** Proposals that are no members. */
const NO_MEMBERS = new Set([
  vscode.CompletionItemKind.Text,
  vscode.CompletionItemKind.Keyword,
  vscode.CompletionItemKind.Snippet,
]);
const PROPERTIES = new Set([vscode.CompletionItemKind.Field, vscode.CompletionItemKind.Property]);
const FILES = 128;
/** Milliseconds for which a file is not looked at again: VS Code's window is asked for it, and may be busy. */
const FRESH_MS = 5_000;
const VISITED = 20;

interface SeenFile {
  /** `undefined`: there is none, or it is no context. */
  readonly text: Promise<DocumentText | undefined>;
  /** Milliseconds, as `now`. Infinity: it is being read. */
  until: number;
}

/** Reads the project with VS Code's providers and file system. Opens no documents, which would start language servers. */
export class EditorProjectReader implements ProjectReader, vscode.Disposable {
  readonly #excluded: (uri: string) => boolean;
  readonly #files = new Map<string, SeenFile>();
  /** Address -> language, latest last. */
  readonly #visited = new Map<string, string>();
  readonly #watch: vscode.Disposable;
  readonly #requests = new HangingRequests();

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

  #ask<T>(command: string, uri: string, { line, character }: Position, ...more: unknown[]): Promise<T | undefined> {
    const of = [vscode.Uri.parse(uri), new vscode.Position(line, character), ...more];
    const language = findDocument(uri)?.languageId;
    return this.#requests.ask(`${command} ${language}`, () =>
      vscode.commands.executeCommand<T>(`vscode.execute${command}Provider`, ...of),
    );
  }

  async declarations(uri: string, position: Position, of: 'name' | 'type'): Promise<readonly DeclaredAt[] | undefined> {
    const command = of === 'name' ? 'Definition' : 'TypeDefinition';
    const places = await this.#ask<(vscode.Location | vscode.LocationLink)[]>(command, uri, position);
    return places?.map((place) => {
      const [target, range] =
        'targetUri' in place
          ? [place.targetUri, place.targetSelectionRange ?? place.targetRange]
          : [place.uri, place.range];
      const library = isLibrary(target, pathInFolder(target));
      return { uri: target.toString(), line: range.start.line, character: range.start.character, library };
    });
  }

  async signature(uri: string, position: Position): Promise<string | undefined> {
    const hovers = await this.#ask<vscode.Hover[]>('Hover', uri, position);
    const texts = (hovers ?? []).flatMap(({ contents }) => contents);
    const markdown = texts.map((each) => (typeof each === 'string' ? each : each.value)).join('\n');
    return readSignature(markdown, uri);
  }

  async expected(
    uri: string,
    position: Position,
    { member, property, argument }: ExpectedAt,
  ): Promise<readonly string[]> {
    if (member !== undefined) {
      const after = { line: position.line, character: member };
      const members = await this.#proposed(uri, after, '.', (kind) => !NO_MEMBERS.has(kind));
      if (members.length > 0) return [`members: ${members.join(', ')}`];
    }
    const [properties, help] = await Promise.all([
      property ? this.#proposed(uri, position, undefined, (kind) => PROPERTIES.has(kind)) : [],
      argument ? this.#ask<vscode.SignatureHelp>('SignatureHelp', uri, position) : undefined,
    ]);
    const label = help?.signatures[help.activeSignature]?.label;
    return [
      ...(properties.length > 0 ? [`properties: ${properties.join(', ')}`] : []),
      ...(label === undefined ? [] : [withoutDefaults(label, uri)]),
    ];
  }

  async #proposed(
    uri: string,
    position: Position,
    typed: string | undefined,
    isWanted: (kind: vscode.CompletionItemKind) => boolean,
  ): Promise<readonly string[]> {
    const list = await this.#ask<vscode.CompletionList>('CompletionItem', uri, position, typed, 0);
    const names = (list?.items ?? []).flatMap(({ kind, label }) =>
      kind === undefined || !isWanted(kind) ? [] : [typeof label === 'string' ? label : label.label],
    );
    return names.slice(0, MAX_MEMBERS);
  }

  async read(uri: string, languageId: string): Promise<DocumentText | undefined> {
    const open = findDocument(uri);
    const target = open?.uri ?? vscode.Uri.parse(uri);
    const path = pathInFolder(target);
    if (path === undefined || isLibrary(target, path) || this.#excluded(uri)) return undefined;
    if (open !== undefined) return documentView(open);
    const known = this.#files.get(uri);
    if (known !== undefined && this.now() < known.until) return known.text;
    const seen: SeenFile = {
      text: readText(target, { path, languageId }, known?.text),
      until: Number.POSITIVE_INFINITY,
    };
    this.#files.delete(uri);
    this.#files.set(uri, seen);
    const [oldest] = this.#files.keys();
    if (this.#files.size > FILES && oldest !== undefined) this.#files.delete(oldest);
    const text = await seen.text;
    seen.until = this.now() + FRESH_MS;
    return text;
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

async function readText(
  uri: vscode.Uri,
  { path, languageId }: { readonly path: string; readonly languageId: string },
  before: SeenFile['text'] | undefined,
): Promise<DocumentText | undefined> {
  try {
    const { mtime, size, type } = await vscode.workspace.fs.stat(uri);
    if (type !== vscode.FileType.File || size > MAX_BYTES) return undefined;
    const known = await before;
    if (known?.version === mtime) return known;
    const text = new TextDecoder().decode(await vscode.workspace.fs.readFile(uri));
    return fileText({ uri: uri.toString(), path, languageId, version: mtime }, text);
  } catch {
    return undefined;
  }
}

function fileText(file: Pick<DocumentText, 'uri' | 'path' | 'languageId' | 'version'>, text: string): DocumentText {
  const lines = text.split(/\r?\n/);
  return { ...file, eol: '\n', lineCount: lines.length, lineAt: (line) => lines[line] ?? '' };
}
