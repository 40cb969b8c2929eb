import * as vscode from 'vscode';
import type { PendingHunk } from '../../../chat/review/pending-text.ts';
import { showUnseen } from '../../../chat/tools/visible-text.ts';

/** Removed lines beside a changed line are cut to this length. The hover shows them completely. */
const MAX_LINE = 120;
const MAX_HOVER = 4000;

/** Draws pending hunks: added lines with their background, removed lines as text at the ends of lines. */
export class ReviewDrawing implements vscode.Disposable {
  readonly #added = vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new vscode.ThemeColor('diffEditor.insertedLineBackground'),
    borderColor: new vscode.ThemeColor('diffEditor.insertedTextBorder'),
    overviewRulerColor: new vscode.ThemeColor('editorOverviewRuler.addedForeground'),
    overviewRulerLane: vscode.OverviewRulerLane.Left,
  });
  readonly #removed = vscode.window.createTextEditorDecorationType({
    overviewRulerColor: new vscode.ThemeColor('editorOverviewRuler.deletedForeground'),
    overviewRulerLane: vscode.OverviewRulerLane.Left,
    after: {
      margin: '0 0 0 3ch',
      color: new vscode.ThemeColor('editorGhostText.foreground'),
      backgroundColor: new vscode.ThemeColor('diffEditor.removedLineBackground'),
    },
  });

  dispose(): void {
    this.#added.dispose();
    this.#removed.dispose();
  }

  draw(editor: vscode.TextEditor, hunks: readonly PendingHunk[]): void {
    const { document } = editor;
    const added = hunks
      .filter((hunk) => hunk.added.length > 0)
      .map((hunk) => ({ range: lineRange(document, hunk), hoverMessage: hover(document, hunk) }));
    editor.setDecorations(this.#added, added);
    editor.setDecorations(
      this.#removed,
      hunks.flatMap((hunk) => removedNotes(document, hunk)),
    );
  }

  clear(editor: vscode.TextEditor): void {
    editor.setDecorations(this.#added, []);
    editor.setDecorations(this.#removed, []);
  }
}

function lineRange(document: vscode.TextDocument, { start, added }: PendingHunk): vscode.Range {
  return document.validateRange(new vscode.Range(start, 0, start + Math.max(1, added.length) - 1, Number.MAX_VALUE));
}

/** Each removed line is beside the line that replaces it; those left over are counted beside the last one. */
function removedNotes(document: vscode.TextDocument, hunk: PendingHunk): vscode.DecorationOptions[] {
  const { removed, added, start } = hunk;
  if (removed.length === 0) return [];
  const rows = Math.max(1, Math.min(added.length, removed.length));
  // Lines without a replacement are shown at the end of the line before them.
  const first = added.length === 0 ? Math.max(0, start - 1) : start;
  return Array.from({ length: rows }, (_, row) => {
    const more = row === rows - 1 ? removed.length - rows : 0;
    const end = document.lineAt(Math.min(first + row, document.lineCount - 1)).range.end;
    const contentText = removedText(removed[row] ?? '', more);
    return {
      range: new vscode.Range(end, end),
      hoverMessage: hover(document, hunk),
      renderOptions: { after: { contentText } },
    };
  });
}

function removedText(line: string, more: number): string {
  const shown = showUnseen(line.trim()).slice(0, MAX_LINE);
  const rest = more === 0 ? '' : more === 1 ? vscode.l10n.t(' (+1 line)') : vscode.l10n.t(' (+{0} lines)', more);
  return `− ${shown}${rest}`;
}

function hover({ languageId }: vscode.TextDocument, { removed }: PendingHunk): vscode.MarkdownString {
  const text = new vscode.MarkdownString();
  if (removed.length === 0) return text;
  text.appendMarkdown(`${vscode.l10n.t('Removed:')}\n`);
  text.appendCodeblock(showUnseen(removed.join('\n')).slice(0, MAX_HOVER), languageId);
  return text;
}
