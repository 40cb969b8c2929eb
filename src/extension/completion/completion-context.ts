import * as vscode from 'vscode';
import { ProjectDeclarations } from '../../completion/context/project-declarations.ts';
import type { ProjectReader } from '../../completion/context/project-reader.ts';
import { type DocumentText, readLines, textBefore } from '../../completion/document/document-text.ts';
import { isRelatedLanguage } from '../../completion/document/languages.ts';
import { type ContextSource, SimilarSnippets, type Snippet } from '../../completion/prompt/context.ts';
import type { Suggester } from '../../completion/suggester.ts';
import { documentView, pathInFolder, toPosition } from '../document-view.ts';
import { failedOutput, type RecentWork } from './recent-work.ts';

const FILES = 20;
const SNIPPETS = 4;
/** Pieces of other files with a lower similarity are not sent. */
const MIN_SIMILARITY = 0.05;
/** Number of characters before the caret that are compared with other files. */
const NEAR = 1200;
/** Files whose cursor counts as visited, the lines on each side of it, and the characters of each. */
const PLACES = 3;
const PLACE_LINES = 8;
const PLACE_WIDTH = 200;
const CELLS = 12;
const CELL_CHARACTERS = 2_000;

/** A cursor that does not move for so long rests. */
const REST_MS = 150;
/** After a change of another file. */
const CHANGED_MS = 400;
/** After a document was shown: its project may be loading, and its language then knows more. */
const LOADING_MS = [0, 1_000, 4_000, 12_000];

/** Collects context from the editor, of the kinds that the setting allows. */
export class EditorContext {
  readonly #reader: ProjectReader;
  readonly #declarations: ProjectDeclarations;
  readonly #similar = new SimilarSnippets(FILES);
  readonly #work: RecentWork;
  #recentEdits: (uri: string, line: number) => readonly Snippet[] = () => [];
  /** Address -> language and line of the cursor, latest last. */
  readonly #places = new Map<string, { readonly languageId: string; readonly line: number }>();

  constructor(reader: ProjectReader, work: RecentWork) {
    this.#reader = reader;
    this.#work = work;
    this.#declarations = new ProjectDeclarations(reader);
  }

  readonly source: ContextSource = async ({ document, position }, wanted, signal, report) => {
    const near = textBefore(document, position, NEAR);
    const recent = wanted.recentEdits ? this.#recentEdits(document.uri, position.line) : [];
    const here = [
      ...otherCells(document.uri),
      ...recent.map((snippet) => ({ ...snippet, score: 1.4 })),
      ...(wanted.copied ? this.#work.copied(document.uri) : []),
      ...(wanted.terminal ? failedOutput() : []),
    ];
    // Context in memory is there for the first request, however long the rest takes.
    report(here);
    const problems = wanted.problems ? this.#work.problems(document, position) : [];
    const known = [
      ...here,
      ...(wanted.openTabs ? await this.#visitedFiles(document.uri, document.languageId, near) : []),
      ...(wanted.visited ? await this.#visitedPlaces(document) : []),
    ];
    if (!wanted.imports) return [...known, ...(await problems)];
    const found = await this.#declarations.find({ document, position }, signal, (snippets) =>
      report([...snippets, ...known]),
    );
    return [...found, ...known, ...(await problems)];
  };

  /** Gathers context ahead of requests. @param recentEdits see `NextEdits.recentEdits`. */
  follow(suggester: Suggester, recentEdits: (uri: string, line: number) => readonly Snippet[]): vscode.Disposable {
    this.#recentEdits = recentEdits;
    let timers: NodeJS.Timeout[] = [];
    const active = () => vscode.window.activeTextEditor;
    const prepare = () => {
      const editor = active();
      if (editor) suggester.prepare(documentView(editor.document), toPosition(editor.selection.active));
    };
    const after = (delays: readonly number[]) => {
      for (const timer of timers) clearTimeout(timer);
      timers = delays.map((delay) => setTimeout(prepare, delay));
    };
    after(LOADING_MS);
    return vscode.Disposable.from(
      vscode.window.onDidChangeActiveTextEditor(() => after(LOADING_MS)),
      vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => {
        if (textEditor !== active()) return;
        after([REST_MS]);
        this.#visit(textEditor);
      }),
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (contentChanges.length === 0 || document === active()?.document || document.uri.scheme === 'output') return;
        this.#declarations.clear();
        after([CHANGED_MS]);
      }),
      { dispose: () => after([]) },
    );
  }

  #visit({ document: { uri, languageId }, selection }: vscode.TextEditor): void {
    const key = uri.toString();
    this.#places.delete(key);
    this.#places.set(key, { languageId, line: selection.active.line });
    const [oldest] = this.#places.keys();
    if (this.#places.size > PLACES && oldest !== undefined) this.#places.delete(oldest);
  }

  /** The lines around the cursor in the files where the user was before. */
  async #visitedPlaces({ uri, languageId }: DocumentText): Promise<Snippet[]> {
    const others = [...this.#places].reverse().filter(([other]) => other !== uri);
    const found = await Promise.all(
      others.map(async ([other, place]): Promise<Snippet[]> => {
        const document = await this.#reader.read(other, place.languageId);
        if (document?.path === undefined || !isRelatedLanguage(languageId, document.languageId)) return [];
        const line = Math.max(0, place.line - PLACE_LINES);
        const end = Math.min(document.lineCount, place.line + PLACE_LINES + 1);
        const text = readLines(document, line, end).map((each) => each.slice(0, PLACE_WIDTH));
        return [{ kind: 'visited', path: document.path, line, text: text.join('\n'), score: 0.9 }];
      }),
    );
    return found.flat();
  }

  async #visitedFiles(uri: string, languageId: string, near: string): Promise<Snippet[]> {
    const files = await this.#reader.visited();
    const others = files.filter((other) => other.uri !== uri && isRelatedLanguage(languageId, other.languageId));
    return this.#similar
      .find(others, near)
      .filter(({ score }) => score >= MIN_SIMILARITY)
      .sort((a, b) => b.score - a.score)
      .slice(0, SNIPPETS)
      .flatMap(({ document: { path }, line, text, score }) =>
        path === undefined ? [] : [{ kind: 'open-tab' as const, path, line, text, score: 0.5 + 4 * score }],
      );
  }
}

/** The cells before this one: their definitions are available here, and text often says what comes next. */
function otherCells(uri: string): Snippet[] {
  const notebook = vscode.workspace.notebookDocuments.find((each) =>
    each.getCells().some((cell) => cell.document.uri.toString() === uri),
  );
  if (!notebook) return [];
  const cells = notebook.getCells();
  const here = cells.findIndex((cell) => cell.document.uri.toString() === uri);
  const path = pathInFolder(notebook.uri);
  if (path === undefined) return [];
  return cells.slice(Math.max(0, here - CELLS), here).map((cell) => ({
    kind: 'cell' as const,
    path,
    line: cell.index,
    text: cell.document.getText().slice(0, CELL_CHARACTERS),
    languageId: cell.document.languageId,
    // The nearest ones, if there is no room for all.
    score: 10 + cell.index / 1_000,
  }));
}
