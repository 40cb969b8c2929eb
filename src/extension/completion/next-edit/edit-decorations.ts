import * as vscode from 'vscode';
import { showUnseen } from '../../../chat/tools/visible-text.ts';
import type { EditLayout } from '../../../completion/next-edit/edit-layout.ts';

/** The note at the end of the cursor's line. */
export interface LabelNote {
  readonly line: number;
  readonly text: string;
  readonly hover: vscode.MarkdownString;
}

/** Everything that is drawn in one editor. */
export interface EditDrawing {
  /** Absent: the edit is in another document. */
  readonly layout?: EditLayout;
  /** False: only the marks in the gutter and the overview ruler. */
  readonly complete: boolean;
  readonly label?: LabelNote;
}

const color = (id: string) => new vscode.ThemeColor(id);

/** Draws an edit with decorations. No line moves, and no code is covered. */
export class EditDecorations implements vscode.Disposable {
  readonly #removed = vscode.window.createTextEditorDecorationType({
    backgroundColor: color('inlineEdit.originalChangedTextBackground'),
    textDecoration: 'line-through',
    rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
  });
  readonly #added = vscode.window.createTextEditorDecorationType({
    rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
    after: {
      backgroundColor: color('inlineEdit.modifiedChangedTextBackground'),
      color: color('editor.foreground'),
      border: '1px solid',
      borderColor: color('inlineEdit.modifiedBorder'),
    },
  });
  readonly #beside = vscode.window.createTextEditorDecorationType({
    rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
    after: {
      backgroundColor: color('inlineEdit.modifiedChangedTextBackground'),
      color: color('editor.foreground'),
    },
  });
  readonly #label = vscode.window.createTextEditorDecorationType({
    rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
    after: { margin: '0 0 0 3ch', color: color('editorGhostText.foreground'), fontStyle: 'italic' },
  });
  readonly #mark: vscode.TextEditorDecorationType;
  #editor: vscode.TextEditor | undefined;
  /** What is on screen: an equal drawing is not drawn again. */
  #drawn = '';

  constructor(media: vscode.Uri) {
    const icon = (theme: string) => ({ gutterIconPath: vscode.Uri.joinPath(media, `next-edit-${theme}.svg`) });
    this.#mark = vscode.window.createTextEditorDecorationType({
      light: icon('light'),
      dark: icon('dark'),
      gutterIconSize: 'contain',
      overviewRulerColor: color('inlineEdit.gutterIndicator.primaryBorder'),
      overviewRulerLane: vscode.OverviewRulerLane.Center,
    });
  }

  dispose(): void {
    for (const type of this.#types()) type.dispose();
  }

  draw(editor: vscode.TextEditor, drawing: EditDrawing): void {
    if (this.#editor !== editor) this.clear();
    this.#editor = editor;
    const key = JSON.stringify([editor.document.version, drawing]);
    if (key === this.#drawn) return;
    this.#drawn = key;
    const { layout, complete, label } = drawing;
    const shown = complete ? layout : undefined;
    editor.setDecorations(this.#removed, shown?.struck.map(toRange) ?? []);
    editor.setDecorations(
      this.#added,
      shown?.inline.map(({ at, text }) => attach(at, { contentText: toContent(text) })) ?? [],
    );
    editor.setDecorations(
      this.#beside,
      shown?.beside
        .filter(({ text }) => text !== '')
        .map(({ line, gap, text }) =>
          attach(lineEnd(editor, line), { contentText: toContent(text), margin: `0 0 0 ${gap}ch` }),
        ) ?? [],
    );
    editor.setDecorations(this.#label, label === undefined ? [] : [attachLabel(editor, label)]);
    editor.setDecorations(this.#mark, layout?.marked.map((line) => new vscode.Range(line, 0, line, 0)) ?? []);
  }

  clear(): void {
    this.#drawn = '';
    for (const type of this.#types()) this.#editor?.setDecorations(type, []);
    this.#editor = undefined;
  }

  #types(): readonly vscode.TextEditorDecorationType[] {
    return [this.#removed, this.#added, this.#beside, this.#label, this.#mark];
  }
}

interface Place {
  readonly line: number;
  readonly character: number;
}

function toRange({ start, end }: { readonly start: Place; readonly end: Place }): vscode.Range {
  return new vscode.Range(start.line, start.character, end.line, end.character);
}

function attach(at: Place, after: vscode.ThemableDecorationAttachmentRenderOptions): vscode.DecorationOptions {
  return { range: toRange({ start: at, end: at }), renderOptions: { after } };
}

function attachLabel(editor: vscode.TextEditor, { line, text, hover }: LabelNote): vscode.DecorationOptions {
  return { ...attach(lineEnd(editor, line), { contentText: toContent(text) }), hoverMessage: hover };
}

function lineEnd({ document }: vscode.TextEditor, line: number): Place {
  return document.lineAt(Math.min(line, document.lineCount - 1)).range.end;
}

/** Spaces at the start of an attachment are not shown. */
function toContent(text: string): string {
  return showUnseen(text).replaceAll(' ', '\u00a0');
}
