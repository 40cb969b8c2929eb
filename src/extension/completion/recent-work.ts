import { setTimeout as sleep } from 'node:timers/promises';
import * as vscode from 'vscode';
import { upToFirst } from '../../base/text.ts';
import type { DocumentText, Position } from '../../completion/document/document-text.ts';
import type { Snippet } from '../../completion/prompt/context.ts';
import { failedCommand } from '../chat/attachments/terminal-text.ts';
import { findDocument, pathInFolder } from '../document-view.ts';
import { preferredFix } from './next-edit/quick-fix-source.ts';

/** Copied text is of use for so many milliseconds. */
const COPIED_MS = 300_000;
const COPIED_CHARACTERS = 1_500;
/** A statement over several lines may have a problem so many lines above the cursor. */
const STATEMENT_LINES = 3;
const MAX_PROBLEMS = 2;
const MESSAGE = 200;
const FIX_MS = 300;
const OUTPUT_LINES = 20;
const OUTPUT_CHARACTERS = 1_000;

/** The text that the user copied, and the problems at the cursor. */
export class RecentWork implements vscode.Disposable {
  readonly #watch: vscode.Disposable;
  #copied: { readonly uri: string; readonly time: number; readonly snippet: Snippet } | undefined;
  /** A fix was requested and there is no answer: a language server that hangs gets no more requests. */
  #asking = false;

  constructor() {
    // VS Code tells a provider of pastes the text that is copied in an editor. The clipboard, which has other text too, is not read.
    this.#watch = vscode.languages.registerDocumentPasteEditProvider(
      '*',
      { prepareDocumentPaste: (document, [range]) => this.#copy(document, range) },
      { copyMimeTypes: ['text/plain'], providedPasteEditKinds: [] },
    );
  }

  dispose(): void {
    this.#watch.dispose();
  }

  #copy(document: vscode.TextDocument, range: vscode.Range | undefined): void {
    const path = pathInFolder(document.uri);
    if (path === undefined || range === undefined) return;
    const text = document.getText(range).replaceAll('\r\n', '\n').slice(0, COPIED_CHARACTERS);
    const snippet: Snippet = { kind: 'copied', path, line: range.start.line, text, score: 1.6 };
    this.#copied = { uri: document.uri.toString(), time: Date.now(), snippet };
  }

  /** Text that was copied in another file. */
  copied(uri: string): readonly Snippet[] {
    const copied = this.#copied;
    return copied === undefined || copied.uri === uri || Date.now() - copied.time > COPIED_MS ? [] : [copied.snippet];
  }

  /** The problems of the statement at the cursor, with the text of the fix of the last one. */
  async problems({ uri, path }: DocumentText, { line }: Position): Promise<readonly Snippet[]> {
    const document = findDocument(uri);
    if (document === undefined || path === undefined) return [];
    const near = vscode.languages
      .getDiagnostics(document.uri)
      .filter(
        ({ severity, code, range }) =>
          severity <= vscode.DiagnosticSeverity.Warning &&
          range.start.line <= line &&
          range.end.line >= line - STATEMENT_LINES &&
          // TypeScript reports the half of a statement that is being typed as an error of syntax.
          !(typeof code === 'number' && code >= 1_000 && code < 2_000),
      )
      .slice(-MAX_PROBLEMS);
    const last = near.at(-1);
    if (last === undefined) return [];
    const messages = near.map(({ message }) => upToFirst(message, ['\n']).slice(0, MESSAGE));
    const text = [...messages, ...(await this.#fix(document, last))].join('\n');
    return [{ kind: 'problem', note: 'Problem', path, line: last.range.start.line, text, score: 3 }];
  }

  async #fix(document: vscode.TextDocument, problem: vscode.Diagnostic): Promise<readonly string[]> {
    if (this.#asking) return [];
    this.#asking = true;
    const asked = preferredFix(document, problem)
      .catch(() => undefined)
      .finally(() => {
        this.#asking = false;
      });
    const fix = await Promise.race([asked, sleep(FIX_MS, undefined)]);
    if (fix?.title.kind !== 'quick-fix') return [];
    return [`fix: ${fix.title.title}`, ...fix.replacements.map(({ text }) => text.trim().slice(0, MESSAGE))];
  }
}

/** The end of the output of the last command in a terminal, if it failed. */
export function failedOutput(): readonly Snippet[] {
  const failed = failedCommand();
  if (failed === undefined) return [];
  const end = failed.output.split('\n').slice(-OUTPUT_LINES).join('\n').slice(-OUTPUT_CHARACTERS);
  const text = `$ ${failed.command.slice(0, MESSAGE)}\n${end}`;
  return [{ kind: 'terminal', note: 'Failed', path: 'terminal', line: 0, text, score: 2.6 }];
}
