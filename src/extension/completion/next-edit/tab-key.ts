import { setTimeout as delay } from 'node:timers/promises';
import * as vscode from 'vscode';
import { SerialQueue } from '../../../base/concurrency.ts';
import {
  comparePositions,
  lastFirst,
  movePosition,
  type Position,
  type TextChange,
} from '../../../base/text-change.ts';
import { displayWidth } from '../../../completion/next-edit/text-width.ts';
import { toChanges, toPosition } from '../../document-view.ts';

/** How often an indentation is tried while the user types, and the time between two tries. */
const MOST_TRIES = 100;
const RETRY_MS = 10;

/** A place in a document that stays with its text while the document changes. */
interface Place {
  readonly document: vscode.TextDocument;
  position: Position;
}

/**
 * The effect of Tab without a next edit. The key was pressed a moment ago, and the user may have typed since: VS Code's
 * own command `tab` would indent where the cursor is by then.
 */
export class TabKey implements vscode.Disposable {
  readonly #places = new Set<Place>();
  readonly #changes = vscode.workspace.onDidChangeTextDocument((event) => this.#move(event));
  /** The indentation that is being inserted. Places at its start come after it; they come before the text that the user types. */
  #inserting: { readonly place: Place; readonly text: string } | undefined;
  readonly #queue = new SerialQueue();

  dispose(): void {
    this.#changes.dispose();
  }

  /** Called when the key arrives: the cursor is where it was when the key was pressed. */
  press(editor: vscode.TextEditor): Promise<void> {
    const { document, selection } = editor;
    if (editor.selections.length > 1 || !selection.isEmpty || isShallow(editor)) return tab();
    const place = { document, position: toPosition(selection.active) };
    this.#places.add(place);
    return (
      this.#queue
        .run(() => this.#indent(editor, place))
        // The editor was closed.
        .catch(() => undefined)
        .finally(() => this.#places.delete(place))
    );
  }

  /** VS Code refuses an edit of an older version of the document: the user typed meanwhile. */
  async #indent(editor: vscode.TextEditor, place: Place): Promise<void> {
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      if (await this.#insert(editor, place)) return;
      await delay(RETRY_MS);
    }
  }

  async #insert(editor: vscode.TextEditor, place: Place): Promise<boolean> {
    const position = new vscode.Position(place.position.line, place.position.character);
    const text = indentationAt(editor, position);
    this.#inserting = { place, text };
    try {
      return await editor.edit((builder) => builder.insert(position, text));
    } finally {
      this.#inserting = undefined;
    }
  }

  #isOwn({ start, end, text }: TextChange): boolean {
    const inserting = this.#inserting;
    if (text !== inserting?.text || comparePositions(start, end) !== 0) return false;
    return comparePositions(start, inserting.place.position) === 0;
  }

  #move({ document, contentChanges }: vscode.TextDocumentChangeEvent): void {
    for (const change of lastFirst(toChanges(contentChanges))) {
      const own = this.#isOwn(change);
      for (const place of this.#places)
        if (place.document === document) place.position = movePosition(place.position, change, !own);
    }
  }
}

async function tab(): Promise<void> {
  await vscode.commands.executeCommand('tab');
}

/** True in a blank line with less white space than the line above has: VS Code knows how deep the language indents it. */
function isShallow({ document, selection: { active } }: vscode.TextEditor): boolean {
  const { text, isEmptyOrWhitespace } = document.lineAt(active.line);
  if (!isEmptyOrWhitespace) return false;
  const config = vscode.workspace.getConfiguration('editor', document);
  if (['none', 'keep'].includes(config.get('autoIndent', 'full'))) return false;
  for (let line = active.line - 1; line >= 0; line -= 1) {
    const above = document.lineAt(line);
    if (!above.isEmptyOrWhitespace) return above.firstNonWhitespaceCharacterIndex > text.length;
  }
  return false;
}

/** White space up to the next tab stop. */
function indentationAt({ options, document }: vscode.TextEditor, { line, character }: vscode.Position): string {
  if (options.insertSpaces !== true) return '\t';
  const width = displayWidth(document.lineAt(line).text.slice(0, character), Number(options.tabSize));
  const step = Number(options.indentSize);
  return ' '.repeat(step - (width % step));
}
