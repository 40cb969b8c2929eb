import * as vscode from 'vscode';
import { mayShow, workspaceRelativePath } from '../tools/workspace-path.ts';

const SEVERITIES = ['error', 'warning', 'information', 'hint'];
const MAX_PROBLEMS = 200;

/** The problems in VS Code, one per line, most severe first; of one file or of all. */
export function problemsText(uri?: vscode.Uri): string {
  return problemRows(uri ? [[uri, vscode.languages.getDiagnostics(uri)]] : vscode.languages.getDiagnostics());
}

/** All problems, for a model: messages quote the text of their file. */
export async function allProblems(mayRead: ((path: string) => boolean) | undefined): Promise<string> {
  const all = await Promise.all(
    vscode.languages
      .getDiagnostics()
      .map(async ([uri, problems]) => ({ uri, problems, shown: await mayShow(uri, mayRead) })),
  );
  return problemRows(all.flatMap(({ uri, problems, shown }) => (shown ? [[uri, problems] as const] : [])));
}

function problemRows(all: readonly (readonly [vscode.Uri, readonly vscode.Diagnostic[]])[]): string {
  const rows = all.flatMap(([file, problems]) => problems.map((problem) => ({ file, problem })));
  rows.sort((a, b) => a.problem.severity - b.problem.severity);
  return rows
    .slice(0, MAX_PROBLEMS)
    .map(({ file, problem }) => problemText(file, problem))
    .join('\n');
}

export function problemText(file: vscode.Uri, { severity, range, message, source }: vscode.Diagnostic): string {
  const place = `${workspaceRelativePath(file)}:${range.start.line + 1}:${range.start.character + 1}`;
  return `${place}: ${SEVERITIES[severity]}: ${message}${source === undefined ? '' : ` (${source})`}`;
}
