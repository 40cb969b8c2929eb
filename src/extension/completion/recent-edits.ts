import * as vscode from 'vscode';
import type { Snippet } from '../../completion/prompt/context.ts';
import { pathInFolder } from '../document-view.ts';

const KEPT = 12;
const SENT = 4;
/** Number of lines around an edit that are sent. */
const AROUND = 4;

interface Edit {
  readonly uri: string;
  readonly line: number;
}

/** The positions of recent edits in all files. The next edit is often related. */
export class RecentEdits implements vscode.Disposable {
  #edits: readonly Edit[] = [];
  readonly #watch: vscode.Disposable;

  constructor() {
    this.#watch = vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
      const line = contentChanges[0]?.range.start.line;
      if (line === undefined || document.uri.scheme !== 'file') return;
      const uri = document.uri.toString();
      const elsewhere = this.#edits.filter((edit) => edit.uri !== uri || Math.abs(edit.line - line) > AROUND * 2);
      this.#edits = [{ uri, line }, ...elsewhere].slice(0, KEPT);
    });
  }

  dispose(): void {
    this.#watch.dispose();
  }

  /** The text around recent edits in other files. The current file is sent anyway. */
  around(uri: string): Snippet[] {
    return this.#edits
      .filter((edit) => edit.uri !== uri)
      .slice(0, SENT)
      .flatMap((edit) => createSnippet(edit) ?? []);
  }
}

function createSnippet({ uri, line }: Edit): Snippet | undefined {
  const document = vscode.workspace.textDocuments.find((each) => each.uri.toString() === uri);
  const path = document && pathInFolder(document.uri);
  if (!document || path === undefined) return undefined;
  const from = Math.max(0, line - AROUND);
  const to = Math.min(document.lineCount - 1, line + AROUND);
  const lines: string[] = [];
  for (let at = from; at <= to; at += 1) lines.push(document.lineAt(at).text.slice(0, 400));
  return { kind: 'recent-edit', path, line: from, text: lines.join('\n') };
}
