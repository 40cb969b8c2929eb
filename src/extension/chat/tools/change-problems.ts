import * as vscode from 'vscode';
import { problemText } from '../attachments/problems.ts';

/** Time limit for the first report of a language extension. */
const FIRST_MS = 1000;
/** The same for a language without any report so far. */
const UNKNOWN_MS = 400;
/** A report is complete when no other follows for this time. */
const QUIET_MS = 250;
const MAX_PROBLEMS = 20;

/** Watches the problems of files that are about to change. */
export interface ChangeProblems extends vscode.Disposable {
  /**
   * Resolves with the new errors and warnings when the language extensions have reported, or the signal has fired;
   * empty: none. Ends the watch.
   */
  found(): Promise<string>;
}

export function problemsAfter(files: readonly vscode.Uri[], signal: AbortSignal): ChangeProblems {
  const before = new Set(files.flatMap((file) => relevant(file).map(problemKey)));
  const names = new Set(files.map(String));
  const watch = watchReports(names, signal);
  return {
    dispose: watch.dispose,
    found: async () => {
      if (files.length > 0 && !signal.aborted) await watch.settled(hasReports(files) ? FIRST_MS : UNKNOWN_MS);
      watch.dispose();
      const fresh = files.flatMap((file) =>
        relevant(file)
          .filter((problem) => !before.has(problemKey(problem)))
          .map((problem) => problemText(file, problem)),
      );
      const more = fresh.length > MAX_PROBLEMS ? `\n… ${fresh.length - MAX_PROBLEMS} more` : '';
      return fresh.slice(0, MAX_PROBLEMS).join('\n') + more;
    },
  };
}

function relevant(file: vscode.Uri): readonly vscode.Diagnostic[] {
  return vscode.languages.getDiagnostics(file).filter(({ severity }) => severity <= vscode.DiagnosticSeverity.Warning);
}

/** Without the position, because an edit moves the problems after it. */
function problemKey({ message, source, severity }: vscode.Diagnostic): string {
  return JSON.stringify([severity, source, message]);
}

/** Whether any file of the same kind has been checked by a language extension. */
function hasReports(files: readonly vscode.Uri[]): boolean {
  const kind = ({ path }: vscode.Uri) => /\.[^./]*$/.exec(path.slice(-40))?.[0];
  const kinds = new Set(files.map(kind));
  const checked = /^(?:javascript|typescript)/;
  const open = vscode.workspace.textDocuments.some(
    ({ uri, languageId }) => checked.test(languageId) && files.some((file) => file.toString() === uri.toString()),
  );
  return open || vscode.languages.getDiagnostics().some(([file]) => kinds.has(kind(file)));
}

function watchReports(names: ReadonlySet<string>, signal: AbortSignal) {
  let reported = false;
  let settle: (() => void) | undefined;
  let timer: NodeJS.Timeout | undefined;
  const wait = (ms: number) => {
    clearTimeout(timer);
    timer = setTimeout(() => settle?.(), ms);
  };
  const subscription = vscode.languages.onDidChangeDiagnostics(({ uris }) => {
    if (!uris.some((uri) => names.has(uri.toString()))) return;
    reported = true;
    if (settle) wait(QUIET_MS);
  });
  return {
    settled: (first: number) =>
      new Promise<void>((resolve) => {
        settle = resolve;
        signal.addEventListener('abort', () => resolve(), { once: true });
        wait(reported ? QUIET_MS : first);
      }),
    dispose: () => {
      clearTimeout(timer);
      subscription.dispose();
    },
  };
}
