import * as vscode from 'vscode';
import { defined } from '../../../base/json.ts';
import { endOfText } from '../../../base/text-change.ts';
import type { FinishedEdit, NextEdit, NextEditSource } from '../../../completion/next-edit/next-edit.ts';
import { findDocument, pathInFolder, toChanges, toPosition } from '../../document-view.ts';

/** A language server that loads a project can report errors late: 15 seconds were seen. Later, a fix is a surprise. */
const LATE_MS = 30_000;
/** Some languages report syntax errors first, and others shortly after. */
const SETTLED_MS = 300;
/** Errors for which fixes are requested. */
const MAX_ERRORS = 3;
/** Requests for the fixes of an error, if VS Code cancels them. */
const MAX_TRIES = 5;

type Found = Omit<NextEdit, 'id' | 'following'>;

/** The errors of a document before its changes, without those of the changed lines. */
interface ErrorsBefore {
  readonly errors: ReadonlySet<string>;
  /** What a search has found after the changes. The next change begins anew. */
  found?: readonly Found[];
}

/** Preferred quick fixes of errors that the last edit caused, such as a missing import. */
export class QuickFixSource implements NextEditSource, vscode.Disposable {
  readonly origin = 'quick-fix';
  readonly #before = new Map<string, ErrorsBefore>();
  readonly #watch: vscode.Disposable;

  constructor() {
    this.#watch = vscode.Disposable.from(
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        const uri = document.uri.toString();
        const known = this.#before.get(uri);
        if (contentChanges.length === 0 || (known !== undefined && known.found === undefined)) return;
        // One whose fix was offered goes with the next key of the line, and its error has to be found again.
        const changed = toChanges(contentChanges).map(
          ({ start, text }) => [start.line, endOfText(start, text).line] as const,
        );
        const isChanged = (line: number) => changed.some(([first, last]) => line >= first && line <= last);
        const others = errorsOf(document).filter(({ range }) => !isChanged(range.start.line));
        this.#before.set(uri, { errors: new Set(others.map((error) => describe(document, error))) });
      }),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => this.#before.delete(uri.toString())),
    );
  }

  dispose(): void {
    this.#watch.dispose();
  }

  async find(edit: FinishedEdit, signal: AbortSignal): Promise<readonly Found[]> {
    const { uri } = edit.document;
    const document = findDocument(uri);
    const before = this.#before.get(uri);
    if (document === undefined || before === undefined) return [];
    // The cursor moved. A model is asked only after this.
    if (before.found !== undefined) return before.found;
    const { version } = document;
    const findCaused = () => errorsOf(document).filter((error) => isCaused(document, error, edit, before.errors));
    await reported(document.uri, () => findCaused().length > 0, signal);
    if (signal.aborted) return [];
    const caused = findCaused().slice(0, MAX_ERRORS);
    const found: Found[] = [];
    let failed = false;
    for (const error of caused) {
      const fix = await preferredFix(document, error).catch(() => {
        failed = true;
      });
      if (signal.aborted || document.version !== version) return [];
      if (fix && !found.some((each) => JSON.stringify(each) === JSON.stringify(fix))) found.push(fix);
    }
    if (!failed) before.found = found;
    return found;
  }
}

/** Without those of lines that were removed. */
function errorsOf({ uri, lineCount }: vscode.TextDocument): readonly vscode.Diagnostic[] {
  return vscode.languages
    .getDiagnostics(uri)
    .filter(({ severity, range }) => severity === vscode.DiagnosticSeverity.Error && range.start.line < lineCount);
}

/** The same before and after lines above were added. */
function describe(document: vscode.TextDocument, { message, range }: vscode.Diagnostic): string {
  return `${message}\n${document.lineAt(range.start.line).text.trim()}`;
}

function isCaused(
  document: vscode.TextDocument,
  error: vscode.Diagnostic,
  { line, after }: FinishedEdit,
  before: ReadonlySet<string>,
): boolean {
  const { start } = error.range;
  return start.line >= line && start.line < line + after.length && !before.has(describe(document, error));
}

/** Resolves when there is an error and no other one follows it, or it is too late for one. */
function reported(uri: vscode.Uri, isFound: () => boolean, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      watch.dispose();
      signal.removeEventListener('abort', done);
      resolve();
    };
    const wait = () => setTimeout(done, isFound() ? SETTLED_MS : LATE_MS);
    let timer = wait();
    const watch = vscode.languages.onDidChangeDiagnostics(({ uris }) => {
      if (!uris.some((each) => each.toString() === uri.toString())) return;
      clearTimeout(timer);
      timer = wait();
    });
    signal.addEventListener('abort', done, { once: true });
  });
}

/** The only preferred quick fix of an error. */
export async function preferredFix(
  document: vscode.TextDocument,
  error: vscode.Diagnostic,
): Promise<Found | undefined> {
  const actions = await quickFixes(document.uri, error.range);
  // The command does not return the diagnostics of an action.
  const preferred = actions.filter(({ isPreferred, edit }) => isPreferred === true && edit !== undefined);
  // Two preferred fixes are a choice that is left to the user.
  const [fix] = preferred;
  return fix?.edit === undefined || preferred.length > 1 ? undefined : toNextEdit(document, fix.title, fix.edit);
}

/** VS Code cancels the request whenever an extension registers a provider, and does not repeat it. */
async function quickFixes(uri: vscode.Uri, range: vscode.Range, tries = MAX_TRIES): Promise<vscode.CodeAction[]> {
  try {
    const { value } = vscode.CodeActionKind.QuickFix;
    return await vscode.commands.executeCommand('vscode.executeCodeActionProvider', uri, range, value, 10);
  } catch (thrown) {
    if (tries <= 1 || !(thrown instanceof Error) || thrown.name !== 'Canceled') throw thrown;
    return quickFixes(uri, range, tries - 1);
  }
}

/** Undefined: the fix changes another document, or does more than to replace text. */
function toNextEdit(document: vscode.TextDocument, title: string, edit: vscode.WorkspaceEdit): Found | undefined {
  const [entry, ...others] = edit.entries();
  if (entry === undefined || others.length > 0 || edit.size !== 1) return undefined;
  const [uri, edits] = entry;
  if (uri.toString() !== document.uri.toString() || edits.some((each) => 'snippet' in each)) return undefined;
  const path = pathInFolder(uri);
  const replacements = edits
    .map(({ range, newText }) => ({
      start: toPosition(range.start),
      end: toPosition(range.end),
      expected: document.getText(range).replaceAll('\r\n', '\n'),
      text: newText.replaceAll('\r\n', '\n'),
    }))
    .sort((a, b) => a.start.line - b.start.line || a.start.character - b.start.character);
  return {
    origin: 'quick-fix',
    uri: uri.toString(),
    ...defined({ path }),
    replacements,
    title: { kind: 'quick-fix', title },
  };
}
