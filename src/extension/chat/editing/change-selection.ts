import * as vscode from 'vscode';
import { indentCode } from '../../../chat/review/indent-code.ts';
import type { Converse, SessionModel } from '../../../chat/session/session-deps.ts';
import { codeOfAnswer, hasFence } from '../../../wire/answer-content.ts';
import { asSvcError } from '../../../wire/errors/svc-error.ts';
import { errorText } from '../../error-text.ts';
import { showError, showInformation, showWarning } from '../../foreign-text.ts';
import { mayAttach } from '../attach-approval.ts';
import type { PendingReviews, ReviewOwner } from '../review/pending-reviews.ts';
import { askModel } from './ask-model.ts';
import type { ChangeProgress } from './change-progress.ts';
import { fromLineStart, leadOf } from './code-range.ts';

export interface ChangeSelectionDeps {
  readonly reviews: PendingReviews;
  readonly progress: ChangeProgress;
  readonly converse: Converse;
  readonly model: () => SessionModel | undefined;
}

const SYSTEM = `You edit code. You receive a file with the part to change between <selection> and \
</selection>, and an instruction. Answer with only the new text of the selection: no explanation, no Markdown \
fence, the same indentation. Later instructions change your last answer.`;

/** The text around the selection that is sent with it. */
const CHARACTERS_BEFORE = 20_000;
const CHARACTERS_AFTER = 40_000;
/** Characters of an answer without code that a notification shows. */
const SHOWN = 1_000;

/** Changes the selection as instructed. The result is drawn in the editor, where the user accepts or rejects it. */
export async function changeSelection(deps: ChangeSelectionDeps): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (!editor) {
    void showInformation(vscode.l10n.t('Open a file first.'));
    return;
  }
  const { document, selection } = editor;
  // In a part that was just changed, the instruction continues the change.
  if (deps.reviews.canFollowUp(editor)) return deps.reviews.followUp(document.uri);
  if (!deps.model()) return void (await vscode.commands.executeCommand('svc.model.pick'));
  const range = selectedRange(document, selection);
  const title = vscode.l10n.t('Change the selection');
  const instruction = await askInstruction(title, vscode.l10n.t('What should be changed?'));
  if (instruction && (await mayAttach(document.uri)))
    await new SelectionChange(deps, document, range).change(instruction);
}

/** A changed part of a document, which the user reviews or changes further. */
class SelectionChange implements ReviewOwner {
  readonly #deps: ChangeSelectionDeps;
  readonly #document: vscode.TextDocument;
  /** The whole text before the first instruction. */
  readonly #before: string;
  readonly #clean: boolean;
  /** The part as it is now. */
  #part: { readonly start: number; readonly text: string };
  /** Texts of the user and answers of the model in turn. */
  #texts: readonly string[] = [];

  constructor(deps: ChangeSelectionDeps, document: vscode.TextDocument, range: vscode.Range) {
    this.#deps = deps;
    this.#document = document;
    this.#before = document.getText();
    this.#clean = !document.isDirty;
    this.#part = { start: document.offsetAt(range.start), text: document.getText(range) };
  }

  async change(instruction: string): Promise<void> {
    const { model, converse, progress, reviews } = this.#deps;
    const document = this.#document;
    const chosen = model();
    const start = this.#findPart();
    if (!chosen || start === undefined) return this.#warnChanged();
    const range = new vscode.Range(document.positionAt(start), document.positionAt(start + this.#part.text.length));
    const texts = [...this.#texts, this.#texts.length === 0 ? this.#firstText(instruction) : `Change: ${instruction}`];
    const { version } = document;
    const answer = await progress.show(document, range, (signal) =>
      askModel(converse, chosen, { system: SYSTEM, texts }, signal),
    );
    if (answer === undefined) return;
    if (document.version !== version) return this.#warnChanged();
    const code = codeOfAnswer(answer, this.#part.text);
    if (code === undefined) return showAnswer(answer);
    const text = this.#indented(code, range.start, hasFence(answer));
    await this.#replace(start, range, text);
    this.#texts = [...texts, text];
    reviews.add(document.uri, this.#before, this);
    await reviews.show(document, document.positionAt(start).line);
  }

  async followUp(): Promise<void> {
    const title = vscode.l10n.t('Change the selection further');
    const instruction = await askInstruction(title, vscode.l10n.t('What should be different?'));
    if (!instruction) return;
    try {
      await this.change(instruction);
    } catch (thrown) {
      void showError(errorText(asSvcError(thrown)));
    }
  }

  async settled(): Promise<void> {
    if (this.#clean && this.#document.isDirty) await this.#document.save();
  }

  #firstText(instruction: string): string {
    const { start, text } = this.#part;
    const end = start + text.length;
    const before = this.#before;
    const marked = `${before.slice(0, start)}<selection>${text}</selection>${before.slice(end)}`;
    // In a long file, send only the text near the selection.
    const near = marked.slice(Math.max(0, start - CHARACTERS_BEFORE), end + CHARACTERS_AFTER);
    return `${this.#document.languageId} file:\n${near}\n\nChange: ${instruction}`;
  }

  /** An answer that only moves the lines is meant so. In the middle of a line, code goes on with it. */
  #indented(code: string, start: vscode.Position, fenced: boolean): string {
    const before = this.#part.text;
    const words = (text: string) => text.split('\n').map((line) => line.trim());
    if (start.character > 0 || words(code).join('\n') === words(before).join('\n')) return code;
    return indentCode(code, leadOf(before), !fenced);
  }

  /** The offset of the part, which moves when the user edits the text before it. */
  #findPart(): number | undefined {
    const { start, text } = this.#part;
    const whole = this.#document.getText();
    if (whole.startsWith(text, start)) return start;
    const found = whole.indexOf(text);
    return text === '' || found === -1 || whole.includes(text, found + 1) ? undefined : found;
  }

  async #replace(start: number, range: vscode.Range, text: string): Promise<void> {
    const { reviews } = this.#deps;
    const length = this.#document.getText().length;
    const edit = new vscode.WorkspaceEdit();
    edit.replace(this.#document.uri, range, text);
    await reviews.whileWriting(async () => vscode.workspace.applyEdit(edit));
    // The editor changes line ends of the answer to those of the document.
    const whole = this.#document.getText();
    const end = start + this.#part.text.length + whole.length - length;
    this.#part = { start, text: whole.slice(start, end) };
  }

  #warnChanged(): void {
    void showWarning(vscode.l10n.t('The file was changed meanwhile. Try again.'));
  }
}

/** Shows an answer without code, which changes nothing. */
function showAnswer(answer: string): void {
  const text = answer.trim().slice(0, SHOWN);
  void showInformation(vscode.l10n.t('Nothing was changed, because the answer has no code of its own: {0}', text));
}

/** The selection without its last line end, so that the answer does not need to have it. */
function selectedRange(document: vscode.TextDocument, { isEmpty, start, end }: vscode.Selection): vscode.Range {
  if (isEmpty) return document.lineAt(start.line).range;
  const endsAtLineStart = end.character === 0 && end.line > start.line;
  const range = new vscode.Range(start, endsAtLineStart ? document.lineAt(end.line - 1).range.end : end);
  return fromLineStart(document, range);
}

async function askInstruction(title: string, prompt: string): Promise<string | undefined> {
  return (await vscode.window.showInputBox({ title, prompt, ignoreFocusOut: true }))?.trim();
}
