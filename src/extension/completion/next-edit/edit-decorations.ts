import * as vscode from 'vscode';
import type { Position } from '../../../base/text-change.ts';
import { showUnseen } from '../../../chat/tools/visible-text.ts';
import type { EditLayout } from '../../../completion/next-edit/edit-layout.ts';
import { toRange } from '../../document-view.ts';

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

/** The editor uses the end of the line instead. */
const BEHIND_ANY_LINE = 2 ** 30;

/** Draws an edit with decorations. No line moves, and no code is covered. */
export class EditDecorations implements vscode.Disposable {
  readonly #media: vscode.Uri;
  readonly #watch: vscode.Disposable;
  #types: DecorationTypes;
  #editor: vscode.TextEditor | undefined;
  /** The drawing on screen: an equal one is not drawn again. */
  #drawn = '';
  #last: EditDrawing | undefined;

  constructor(media: vscode.Uri) {
    this.#media = media;
    this.#types = createTypes(media, vscode.window.activeColorTheme);
    this.#watch = vscode.window.onDidChangeActiveColorTheme((theme) => this.#changeTheme(theme));
  }

  dispose(): void {
    this.#watch.dispose();
    for (const type of Object.values(this.#types)) type.dispose();
  }

  #changeTheme(theme: vscode.ColorTheme): void {
    const [editor, last] = [this.#editor, this.#last];
    for (const type of Object.values(this.#types)) type.dispose();
    this.#types = createTypes(this.#media, theme);
    this.#drawn = '';
    if (editor && last) this.draw(editor, last);
  }

  draw(editor: vscode.TextEditor, drawing: EditDrawing): void {
    if (this.#editor !== editor) this.clear();
    this.#editor = editor;
    const key = JSON.stringify([editor.document.version, drawing]);
    if (key === this.#drawn) return;
    this.#drawn = key;
    this.#last = drawing;
    const { layout, complete, label } = drawing;
    const shown = complete ? layout : undefined;
    editor.setDecorations(this.#types.removed, shown?.struck.map(toRange) ?? []);
    editor.setDecorations(
      this.#types.added,
      shown?.inline.map(({ at, text }) => attach(at, { contentText: toContent(text) })) ?? [],
    );
    editor.setDecorations(
      this.#types.beside,
      shown?.beside
        .filter(({ text }) => text !== '')
        .map(({ line, gap, text }) =>
          attach(lineEnd(line), { contentText: toContent(text), margin: `0 0 0 ${gap}ch` }),
        ) ?? [],
    );
    editor.setDecorations(this.#types.label, label === undefined ? [] : [attachLabel(label)]);
    editor.setDecorations(this.#types.mark, layout?.marked.map((line) => new vscode.Range(line, 0, line, 0)) ?? []);
  }

  clear(): void {
    this.#drawn = '';
    for (const type of Object.values(this.#types)) this.#editor?.setDecorations(type, []);
    this.#editor = undefined;
    this.#last = undefined;
  }
}

type DecorationTypes = ReturnType<typeof createTypes>;

/** High contrast themes have no colours for changes, and a colour that a theme does not have is transparent. */
function createTypes(media: vscode.Uri, { kind }: vscode.ColorTheme) {
  const contrast = kind === vscode.ColorThemeKind.HighContrast || kind === vscode.ColorThemeKind.HighContrastLight;
  const added = {
    backgroundColor: color('inlineEdit.modifiedChangedTextBackground'),
    color: color('editor.foreground'),
  };
  const create = (options: vscode.DecorationRenderOptions) =>
    vscode.window.createTextEditorDecorationType({
      rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
      ...options,
    });
  const border = { border: '1px solid', borderColor: color(contrast ? 'contrastBorder' : 'inlineEdit.modifiedBorder') };
  const icon = (theme: string) => ({ gutterIconPath: vscode.Uri.joinPath(media, `next-edit-${theme}.svg`) });
  return {
    removed: create({
      backgroundColor: color('inlineEdit.originalChangedTextBackground'),
      textDecoration: 'line-through',
      ...(contrast ? { outline: '1px dashed', outlineColor: color('contrastBorder') } : {}),
    }),
    added: create({ after: { ...added, ...border } }),
    beside: create({ after: { ...added, ...(contrast ? border : {}) } }),
    label: create({ after: { margin: '0 0 0 3ch', color: color('editorCodeLens.foreground'), fontStyle: 'italic' } }),
    mark: create({
      light: icon('light'),
      dark: icon('dark'),
      gutterIconSize: 'contain',
      overviewRulerColor: color('inlineEdit.gutterIndicator.primaryBorder'),
      overviewRulerLane: vscode.OverviewRulerLane.Center,
    }),
  };
}

function attach(at: Position, after: vscode.ThemableDecorationAttachmentRenderOptions): vscode.DecorationOptions {
  return { range: toRange({ start: at, end: at }), renderOptions: { after } };
}

function attachLabel({ line, text, hover }: LabelNote): vscode.DecorationOptions {
  return { ...attach(lineEnd(line), { contentText: toContent(text) }), hoverMessage: hover };
}

/** Where the line ends in the editor, which may have newer text than the document that is known here. */
function lineEnd(line: number): Position {
  return { line, character: BEHIND_ANY_LINE };
}

/** Spaces at the start of an attachment are not shown. */
function toContent(text: string): string {
  return showUnseen(text).replaceAll(' ', '\u00a0');
}
