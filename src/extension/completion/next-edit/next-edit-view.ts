import * as vscode from 'vscode';
import { DisposableStore } from '../../../base/disposable-store.ts';
import {
  editPosition,
  layOutEdit,
  nearestReplacement,
  textInsertedAt,
} from '../../../completion/next-edit/edit-layout.ts';
import type { NextEdit, NextEditEngine } from '../../../completion/next-edit/next-edit.ts';
import { documentView, findDocument, toRange } from '../../document-view.ts';
import { applyEdit, isCurrent } from './apply-edit.ts';
import type { EditDecorations } from './edit-decorations.ts';
import { describeEdit, type EditTarget, editLabel, secondKey } from './edit-label.ts';
import { TabKey } from './tab-key.ts';

export type ShowMode = 'eager' | 'subtle' | 'off';

export interface NextEditViewDeps {
  readonly engine: NextEditEngine;
  readonly decorations: EditDecorations;
  readonly mode: () => ShowMode;
  /** Makes VS Code request ghost text at the cursor again. */
  readonly refreshGhostText: () => void;
  readonly setContext: (key: 'svc.nextEdit.visible' | 'svc.nextEdit.armed', value: boolean) => void;
}

/** Tab is taken only after the edit was on screen for this time. */
const ARMED_AFTER_MS = 300;

/** The edit on screen. */
interface Presented {
  readonly edit: NextEdit;
  readonly editor: vscode.TextEditor;
  readonly target: EditTarget;
  /** VS Code shows it as ghost text. */
  readonly native: boolean;
  /** False: only the marks. */
  readonly complete: boolean;
}

/** Draws the current edit in the active editor, and handles its keys. */
export class NextEditView implements vscode.Disposable {
  readonly #deps: NextEditViewDeps;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.#changed.event;
  readonly #watch: DisposableStore;
  readonly #tabKey = new TabKey();
  #presented: Presented | undefined;
  /** What is drawn, and whether it has been on screen for long enough. */
  #seen: { readonly id: number; readonly uri: string; readonly target: EditTarget['kind']; long: boolean } | undefined;
  /** The edit that the user asked to see in the mode `subtle`. */
  #revealed: number | undefined;
  #nativeText: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  #applying = false;

  constructor(deps: NextEditViewDeps) {
    this.#deps = deps;
    const update = () => this.update();
    this.#watch = new DisposableStore();
    this.#watch.add(
      this.#tabKey,
      deps.engine.onDidChange(update),
      vscode.window.onDidChangeTextEditorVisibleRanges(
        ({ textEditor }) => textEditor === vscode.window.activeTextEditor && update(),
      ),
    );
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#seen = undefined;
    this.#watch.dispose();
    this.#changed.dispose();
  }

  /** The edit in a sentence; undefined: there is none. */
  get description(): string | undefined {
    return this.#presented && describeEdit(this.#presented.target, this.#presented.edit);
  }

  get edit(): NextEdit | undefined {
    return this.#presented?.edit;
  }

  /** The text to show as ghost text at a position. */
  ghostText(document: vscode.TextDocument, position: vscode.Position): string | undefined {
    const { current } = this.#deps.engine;
    const editor = vscode.window.activeTextEditor;
    if (current === undefined || editor?.document !== document || this.#deps.mode() !== 'eager') return undefined;
    return nativeText(current, document, position);
  }

  /** Draws the current edit. Called after each change of the document and each move of the cursor. */
  update(): void {
    if (this.#applying) return;
    const before = this.#presented;
    this.#presented = this.#present();
    const { setContext } = this.#deps;
    // The key is released before a new edit is drawn.
    this.#arm();
    const presented = this.#presented;
    // Its commands exist when the edit is seen.
    setContext('svc.nextEdit.visible', presented !== undefined && !presented.native);
    if (presented === undefined || presented.native) this.#deps.decorations.clear();
    else this.#draw(presented);
    if (presented?.complete && this.#seen === undefined) void this.#see(presented);
    this.#refreshNative(presented);
    if (before?.edit !== presented?.edit || before?.target.kind !== presented?.target.kind) this.#changed.fire();
  }

  /** Tab. It has its usual effect if the edit was not on screen long enough or has gone, or in leading white space. */
  async tab(): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    if (this.#isArmed() && (await this.go())) return;
    if (editor !== undefined) await this.#tabKey.press(editor);
  }

  /** Shows, jumps to or accepts the edit. Returns false if there is none. */
  async go(): Promise<boolean> {
    this.update();
    const presented = this.#presented;
    if (presented === undefined) return false;
    if (presented.native) await vscode.commands.executeCommand('editor.action.inlineSuggest.commit');
    else if (!presented.complete) this.#reveal(presented.edit);
    else if (presented.target.kind === 'here') await this.#accept(presented);
    else await this.#jump(presented.edit);
    return true;
  }

  reject(): void {
    this.#deps.engine.rejected(this.#deps.engine.current);
  }

  /** True if the ghost text on screen is an edit. */
  get native(): boolean {
    return this.#presented?.native === true;
  }

  #present(): Presented | undefined {
    const { engine, mode } = this.#deps;
    const editor = vscode.window.activeTextEditor;
    const edit = engine.current;
    const show = mode();
    if (editor === undefined || edit === undefined || show === 'off') return undefined;
    const open = findDocument(edit.uri);
    if (open !== undefined && !isCurrent(open, edit)) return undefined;
    const target = findTarget(editor, edit);
    const complete = show === 'eager' || this.#revealed === edit.id;
    const native = complete && nativeText(edit, editor.document, editor.selection.active) !== undefined;
    return { edit, editor, target, native, complete };
  }

  #draw({ edit, editor, target, complete }: Presented): void {
    const { active } = editor.selection;
    const { document } = editor;
    const tabSize = typeof editor.options.tabSize === 'number' ? editor.options.tabSize : 4;
    const here = document.uri.toString() === edit.uri;
    const layout = here ? layOutEdit(edit, documentView(document), active, tabSize) : undefined;
    const key = isIndenting(editor) ? secondKey() : 'Tab';
    const text = editLabel(key, target, edit, layout);
    const label = { line: active.line, text, hover: hoverText(describeEdit(target, edit)) };
    this.#deps.decorations.draw(editor, { complete, ...(layout ? { layout } : {}), ...(complete ? { label } : {}) });
  }

  /** VS Code requests ghost text again after each key. It has to be told about everything else. */
  #refreshNative(presented: Presented | undefined): void {
    const text = presented?.native
      ? nativeText(presented.edit, presented.editor.document, presented.editor.selection.active)
      : undefined;
    const before = this.#nativeText;
    this.#nativeText = text;
    if (text !== undefined && !(before?.endsWith(text) ?? false)) this.#deps.refreshGhostText();
  }

  #isArmed(): boolean {
    const presented = this.#presented;
    if (presented === undefined || presented.native || !presented.complete) return false;
    const { editor, edit } = presented;
    if (editor !== vscode.window.activeTextEditor || this.#deps.engine.current?.id !== edit.id) return false;
    if (editor.selections.length !== 1 || !editor.selection.isEmpty || isIndenting(editor)) return false;
    return this.#seen?.long === true && isOnScreen(presented);
  }

  #arm(): void {
    const presented = this.#presented;
    if (presented === undefined || !presented.complete || !this.#isSeen(presented)) {
      clearTimeout(this.#timer);
      this.#seen = undefined;
    }
    this.#deps.setContext('svc.nextEdit.armed', this.#isArmed());
  }

  /** The timer decides, not a clock: a timer may come before the clock shows its time. */
  async #see({ edit, editor, target }: Presented): Promise<void> {
    const seen = { id: edit.id, uri: editor.document.uri.toString(), target: target.kind, long: false };
    this.#seen = seen;
    await drawn();
    if (this.#seen !== seen) return;
    this.#timer = setTimeout(() => {
      seen.long = true;
      this.#arm();
    }, ARMED_AFTER_MS);
  }

  #isSeen({ edit, editor, target }: Presented): boolean {
    const seen = this.#seen;
    return seen?.id === edit.id && seen.uri === editor.document.uri.toString() && seen.target === target.kind;
  }

  #reveal({ id }: NextEdit): void {
    this.#revealed = id;
    this.update();
  }

  async #jump(edit: NextEdit): Promise<void> {
    const uri = vscode.Uri.parse(edit.uri);
    const editor = vscode.window.activeTextEditor;
    const document = await vscode.workspace.openTextDocument(uri);
    const from = editor?.document === document ? editor.selection.active.line : 0;
    const nearest = nearestReplacement(edit, from);
    const place = nearest === undefined ? edit : { ...edit, replacements: [nearest] };
    const { line, character } = editPosition(place, documentView(document));
    const selection = new vscode.Range(line, character, line, character);
    this.#revealed = edit.id;
    if (editor?.document === document) {
      editor.selection = new vscode.Selection(selection.start, selection.end);
      editor.revealRange(selection, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
    } else await vscode.window.showTextDocument(document, { preview: true, selection });
  }

  async #accept({ edit, editor }: Presented): Promise<void> {
    const { engine } = this.#deps;
    const { active } = editor.selection;
    if (!isCurrent(editor.document, edit)) return;
    this.#applying = true;
    engine.accepted(edit);
    const applied = await applyEdit(editor, edit).finally(() => {
      this.#applying = false;
    });
    const [only, ...others] = edit.replacements;
    const inside = only && active.line >= only.start.line && active.line <= only.end.line;
    if (applied && only && inside && others.length === 0) {
      const offset = editor.document.offsetAt(toRange(only).start);
      const eol = editor.document.eol === vscode.EndOfLine.CRLF ? '\r\n' : '\n';
      const end = editor.document.positionAt(offset + only.text.replaceAll('\n', eol).length);
      editor.selection = new vscode.Selection(end, end);
    }
    this.update();
  }
}

/**
 * Resolves when VS Code has drawn what was sent to it before: its window may be busy. It draws in the frame after it has
 * handled a message, so a second message is answered after that frame.
 */
async function drawn(): Promise<void> {
  await askWindow();
  await askWindow();
}

/** A command without an effect: the window answers messages in their order. */
function askWindow(): Thenable<void> {
  return vscode.commands.executeCommand('setContext', 'svc.nextEdit.drawn', true);
}

/** The text to show as ghost text. Text after the cursor in its line is moved, so only one line is shown there. */
function nativeText(edit: NextEdit, document: vscode.TextDocument, position: vscode.Position): string | undefined {
  if (document.uri.toString() !== edit.uri) return undefined;
  if (!vscode.workspace.getConfiguration('editor', document).get('inlineSuggest.enabled', true)) return undefined;
  const text = textInsertedAt(edit, position);
  const atEnd = document.lineAt(position.line).range.end.isEqual(position);
  return text === undefined || (text.includes('\n') && !atEnd) ? undefined : text;
}

function findTarget(editor: vscode.TextEditor, edit: NextEdit): EditTarget {
  const { document, selection, visibleRanges } = editor;
  const { line } = selection.active;
  const nearest = nearestReplacement(edit, line);
  const first = nearest?.start.line ?? 0;
  if (document.uri.toString() !== edit.uri) {
    const path = edit.path ?? vscode.Uri.parse(edit.uri).path;
    return { kind: 'file', path, line: edit.replacements[0]?.start.line ?? 0 };
  }
  const visible = edit.replacements.every((each) => visibleRanges.some((range) => range.contains(toRange(each))));
  const at = nearest !== undefined && line >= nearest.start.line && line <= nearest.end.line;
  return visible || at ? { kind: 'here' } : { kind: 'line', line: first };
}

/** True if the label or the whole edit is in the visible part of the editor. */
function isOnScreen({ editor, target }: Presented): boolean {
  const { selection, visibleRanges } = editor;
  return target.kind === 'here' || visibleRanges.some((range) => range.contains(selection.active));
}

/** True in leading white space, where Tab indents. */
function isIndenting({ document, selection: { active } }: vscode.TextEditor): boolean {
  return document.lineAt(active.line).text.slice(0, active.character).trim() === '';
}

function hoverText(description: string): vscode.MarkdownString {
  const text = new vscode.MarkdownString();
  text.isTrusted = { enabledCommands: ['svc.nextEdit.read', 'svc.nextEdit.go', 'svc.nextEdit.reject'] };
  text.appendText(description);
  const { t } = vscode.l10n;
  text.appendMarkdown(
    `\n\n[${t('Show the diff')}](command:svc.nextEdit.read) · [${t('Accept')}](command:svc.nextEdit.go) · [${t('Reject')}](command:svc.nextEdit.reject)`,
  );
  return text;
}
