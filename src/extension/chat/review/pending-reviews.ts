import * as vscode from 'vscode';
import { hunkAfter, hunkAt, hunkBefore, type PendingHunk, PendingText } from '../../../chat/review/pending-text.ts';
import type { KeptTexts } from '../../kept-texts.ts';
import { writeTexts } from '../tools/editor-files.ts';
import { workspaceRelativePath } from '../tools/workspace-path.ts';
import { type ComparedFile, viewFiles } from './compared-files.ts';
import { ReviewDrawing } from './review-drawing.ts';

/** Receives the result of a review. */
export interface ReviewOwner {
  /** No change of the file is pending. `rejected`: its text is the one before the changes. */
  settled(rejected: boolean): void | Promise<void>;
  /** Asks the model to change the text further. */
  followUp?(): Promise<void>;
}

interface Review {
  readonly uri: vscode.Uri;
  readonly before: string;
  /** Several, if a change of the user's selection follows changes by tools. */
  readonly owners: readonly ReviewOwner[];
  /** Absent until the file is shown in an editor. */
  pending?: PendingText;
}

/**
 * Context keys of the commands and keys in package.json. Paths, because a remote window has another address for a file
 * than the extension.
 */
const PATHS = 'svc.review.paths';
const AT_HUNK = 'svc.review.atHunk';

/** Files with changes that are not accepted yet. Draws them in each editor, and accepts or rejects them. */
export class PendingReviews implements vscode.CodeLensProvider, vscode.Disposable {
  readonly #reviews = new Map<string, Review>();
  readonly #texts: KeptTexts;
  readonly #drawing = new ReviewDrawing();
  readonly #lenses = new vscode.EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.#lenses.event;
  readonly #lifetime: vscode.Disposable;
  #provider: vscode.Disposable | undefined;
  /** Number of changes by tools that are being made. Their edits are not edits of the user. */
  #writing = 0;

  constructor(texts: KeptTexts) {
    this.#texts = texts;
    this.#lifetime = vscode.Disposable.from(
      this.#drawing,
      this.#lenses,
      vscode.window.onDidChangeVisibleTextEditors(() => this.#refresh()),
      vscode.window.onDidChangeActiveTextEditor(() => this.#updateContext()),
      vscode.window.onDidChangeTextEditorSelection(() => this.#updateContext()),
      vscode.workspace.onDidChangeTextDocument((event) => this.#follow(event)),
    );
  }

  dispose(): void {
    this.#provider?.dispose();
    this.#lifetime.dispose();
  }

  /** The files with pending changes. */
  get files(): readonly vscode.Uri[] {
    return [...this.#reviews.values()].map(({ uri }) => uri);
  }

  has(uri: vscode.Uri): boolean {
    return this.#reviews.has(uri.toString());
  }

  /** Starts the review of a file, or adds to it. @param before its text before the changes. */
  add(uri: vscode.Uri, before: string, owner: ReviewOwner): void {
    const known = this.#reviews.get(uri.toString());
    const owners = [...(known?.owners ?? []).filter((each) => each !== owner), owner];
    const review: Review = known ? { ...known, owners } : { uri, before, owners };
    this.#reviews.set(uri.toString(), review);
    this.#refresh();
    if (review.pending?.hunks.length === 0) void this.#settle(review, true);
  }

  /** Ends the review of a file without a decision. */
  remove(uri: vscode.Uri): void {
    if (this.#reviews.delete(uri.toString())) this.#refresh();
  }

  /** Call before and after a tool changes files. */
  setWriting(writing: boolean): void {
    this.#writing = Math.max(0, this.#writing + (writing ? 1 : -1));
  }

  /** Makes changes that are not edits of the user. */
  async whileWriting<T>(work: () => Promise<T>): Promise<T> {
    this.setWriting(true);
    try {
      return await work();
    } finally {
      this.setWriting(false);
    }
  }

  /** @param uri absent: the file in the active editor. @param start of the hunk; absent: the one at the cursor. */
  async acceptHunk(uri: unknown, start: unknown): Promise<void> {
    const found = this.#find(uri, start);
    if (!found?.hunk) return;
    found.pending.accept(found.hunk);
    await this.#afterDecision(found.review, typeof start !== 'number');
  }

  async rejectHunk(uri: unknown, start: unknown): Promise<void> {
    const found = this.#find(uri, start);
    if (!found?.hunk) return;
    await this.#takeBack(found.document, found.pending, [found.hunk]);
    await this.#afterDecision(found.review, typeof start !== 'number');
  }

  async acceptFile(uri: unknown): Promise<void> {
    const review = this.#review(uri);
    if (review) await this.#settle(review, false);
  }

  async rejectFile(uri: unknown): Promise<void> {
    const review = this.#review(uri);
    if (!review) return;
    const document = await vscode.workspace.openTextDocument(review.uri);
    const pending = review.pending ?? new PendingText(review.before, document.getText());
    await this.#takeBack(document, pending, pending.hunks);
    await this.#settle(review, sameText(document.getText(), review.before));
  }

  /** Whether the cursor is in a change that the model can change further. */
  canFollowUp({ document, selection }: vscode.TextEditor): boolean {
    const review = this.#reviews.get(document.uri.toString());
    const hunk = review?.pending && hunkAt(review.pending.hunks, selection.active.line);
    return hunk !== undefined && findFollowUp(review) !== undefined;
  }

  /** Shows a file with the cursor in the first hunk at or after the line. */
  async show(document: vscode.TextDocument, line: number): Promise<void> {
    const hunks = this.#reviews.get(document.uri.toString())?.pending?.hunks ?? [];
    const hunk = hunkAt(hunks, line) ?? hunkAfter(hunks, line) ?? hunks[0];
    const at = new vscode.Position(Math.min(hunk?.start ?? line, document.lineCount - 1), 0);
    // In one step: a cursor that is moved when the file is shown can move after the user has moved it.
    await vscode.window.showTextDocument(document, { selection: new vscode.Range(at, at) });
  }

  /** Compares the file with its text before the changes that are still pending. */
  async viewDiff(uri: unknown): Promise<void> {
    const review = this.#review(uri);
    if (!review) return;
    const before = this.#texts.keep(review.uri, review.pending?.accepted ?? review.before);
    const title = vscode.l10n.t('{0} (pending changes)', workspaceRelativePath(review.uri));
    await vscode.commands.executeCommand('vscode.diff', before, review.uri, title);
  }

  /** Compares all files with pending changes in one editor. */
  async viewAll(): Promise<void> {
    const files = [...this.#reviews.values()].map(({ uri, before, pending }): ComparedFile => {
      return [uri, this.#texts.keep(uri, pending?.accepted ?? before), uri];
    });
    if (files.length > 0) await viewFiles(vscode.l10n.t('Pending changes'), files);
  }

  async followUp(uri: unknown): Promise<void> {
    await findFollowUp(this.#review(uri))?.followUp?.();
  }

  /** Moves the cursor to the next or previous hunk, after the last one to that of the next file. */
  async move(direction: 1 | -1): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    const review = editor && this.#reviews.get(editor.document.uri.toString());
    const hunks = review?.pending?.hunks ?? [];
    const line = editor?.selection.active.line ?? 0;
    const next = direction === 1 ? hunkAfter(hunks, line) : hunkBefore(hunks, line);
    if (editor && next) return reveal(editor, next);
    const files = this.files;
    const at = review ? files.findIndex((uri) => uri.toString() === review.uri.toString()) : -1;
    const uri = files[(at + direction + files.length) % files.length];
    if (!uri) return;
    const shown = await vscode.window.showTextDocument(uri);
    const others = this.#reviews.get(uri.toString())?.pending?.hunks ?? [];
    const target = direction === 1 ? others[0] : others.at(-1);
    if (target) reveal(shown, target);
  }

  provideCodeLenses({ uri }: vscode.TextDocument): vscode.CodeLens[] {
    const review = this.#reviews.get(uri.toString());
    return (review?.pending?.hunks ?? []).flatMap((hunk) => hunkLenses(hunk, uri, findFollowUp(review) !== undefined));
  }

  async #afterDecision(review: Review, moves: boolean): Promise<void> {
    const left = review.pending?.hunks ?? [];
    if (left.length === 0) return this.#settle(review, sameText(review.pending?.accepted ?? '', review.before));
    this.#refresh();
    const editor = vscode.window.activeTextEditor;
    if (!moves || editor?.document.uri.toString() !== review.uri.toString()) return;
    const next = left.find(({ start }) => start >= editor.selection.active.line) ?? left[0];
    if (next) reveal(editor, next);
  }

  async #settle(review: Review, rejected: boolean): Promise<void> {
    // A review that was settled meanwhile is not settled again.
    if (!this.#reviews.delete(review.uri.toString())) return;
    this.#refresh();
    for (const owner of review.owners) await owner.settled(rejected);
  }

  async #takeBack(document: vscode.TextDocument, pending: PendingText, hunks: readonly PendingHunk[]): Promise<void> {
    const text = pending.withoutHunks(document.getText(), hunks);
    await this.whileWriting(() => writeTexts([{ document, before: document.getText(), text }]));
    pending.update(document.getText());
  }

  #review(uri: unknown): Review | undefined {
    const wanted = uri instanceof vscode.Uri ? uri : vscode.window.activeTextEditor?.document.uri;
    return wanted && this.#reviews.get(wanted.toString());
  }

  #find(uri: unknown, start: unknown) {
    const review = this.#review(uri);
    const editor = vscode.window.visibleTextEditors.find(
      ({ document }) => document.uri.toString() === review?.uri.toString(),
    );
    const pending = review?.pending;
    if (!review || !editor || !pending) return undefined;
    const line = typeof start === 'number' ? start : editor.selection.active.line;
    return { review, pending, document: editor.document, hunk: hunkAt(pending.hunks, line) };
  }

  #follow({ document, contentChanges }: vscode.TextDocumentChangeEvent): void {
    const review = this.#reviews.get(document.uri.toString());
    if (!review?.pending || contentChanges.length === 0) return;
    if (this.#writing === 0) {
      review.pending.follow(contentChanges.map(({ range, text }) => ({ start: range.start, end: range.end, text })));
    }
    review.pending.update(document.getText());
    // The user undid the change.
    if (review.pending.hunks.length === 0 && this.#writing === 0) {
      void this.#settle(review, sameText(document.getText(), review.before));
    } else this.#refresh();
  }

  #refresh(): void {
    for (const editor of vscode.window.visibleTextEditors) {
      const review = this.#reviews.get(editor.document.uri.toString());
      if (review) review.pending ??= new PendingText(review.before, editor.document.getText());
      if (review?.pending && !inDiffEditor(editor)) this.#drawing.draw(editor, review.pending.hunks);
      else this.#drawing.clear(editor);
    }
    if (this.#reviews.size > 0) this.#provider ??= vscode.languages.registerCodeLensProvider({ scheme: '*' }, this);
    else {
      this.#provider?.dispose();
      this.#provider = undefined;
    }
    this.#lenses.fire();
    const paths = this.files.map(({ fsPath }) => fsPath);
    void vscode.commands.executeCommand('setContext', PATHS, paths.length > 0 ? paths : undefined);
    this.#updateContext();
  }

  #updateContext(): void {
    const editor = vscode.window.activeTextEditor;
    const pending = editor && this.#reviews.get(editor.document.uri.toString())?.pending;
    const at = pending !== undefined && hunkAt(pending.hunks, editor?.selection.active.line ?? 0) !== undefined;
    void vscode.commands.executeCommand('setContext', AT_HUNK, at);
  }
}

function findFollowUp(review: Review | undefined): ReviewOwner | undefined {
  return review?.owners.findLast(({ followUp }) => followUp !== undefined);
}

function hunkLenses({ start, added, removed }: PendingHunk, uri: vscode.Uri, followUp: boolean): vscode.CodeLens[] {
  const range = new vscode.Range(start, 0, start, 0);
  const lens = (title: string, command: string, ...more: readonly unknown[]) =>
    new vscode.CodeLens(range, { title, command, arguments: [uri, ...more] });
  return [
    lens(`$(check) ${vscode.l10n.t('Accept')}`, 'svc.review.acceptHunk', start),
    lens(`$(close) ${vscode.l10n.t('Reject')}`, 'svc.review.rejectHunk', start),
    ...(followUp ? [lens(`$(sparkle) ${vscode.l10n.t('Change Further…')}`, 'svc.review.followUp')] : []),
    lens(`+${added.length} −${removed.length}`, 'svc.review.viewDiff'),
  ];
}

function reveal(editor: vscode.TextEditor, { start }: PendingHunk): void {
  const at = new vscode.Position(Math.min(start, editor.document.lineCount - 1), 0);
  editor.selection = new vscode.Selection(at, at);
  editor.revealRange(new vscode.Range(at, at), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
}

/** The diff editor draws the changes itself. */
function inDiffEditor({ document, viewColumn }: vscode.TextEditor): boolean {
  const group = vscode.window.tabGroups.all.find((each) => each.viewColumn === viewColumn);
  const input = group?.activeTab?.input;
  return !(input instanceof vscode.TabInputText && input.uri.toString() === document.uri.toString());
}

function sameText(a: string, b: string): boolean {
  return a.replaceAll('\r\n', '\n') === b.replaceAll('\r\n', '\n');
}
