import * as vscode from 'vscode';
import type { SettingsStore } from '../../config/load/store.ts';
import type { Diagnostic } from '../../config/settings/settings.ts';
import type { Models } from '../models/editor-models.ts';
import { CONFIGURATION_FILES } from './input.ts';

const SEVERITIES: Record<Diagnostic['severity'], vscode.DiagnosticSeverity> = {
  error: vscode.DiagnosticSeverity.Error,
  warning: vscode.DiagnosticSeverity.Warning,
  information: vscode.DiagnosticSeverity.Information,
};

/** Shows problems of the configuration in its files, after they are read and after comparison with the catalog. */
export function showConfigurationDiagnostics(
  store: SettingsStore,
  models: Models,
  log: vscode.LogOutputChannel,
): vscode.Disposable {
  const collection = vscode.languages.createDiagnosticCollection('svc');
  let logged = new Set<string>();
  /** Kept until the next comparison, so that these problems do not flicker on each save. */
  let compared: readonly Diagnostic[] = [];
  let shown: readonly Diagnostic[] = [];
  const show = (all: readonly Diagnostic[]) => {
    shown = all;
    const files = Map.groupBy(all, ({ path }) => path);
    collection.clear();
    for (const [path, diagnostics] of files) {
      // An environment variable or a VS Code setting has no file: the problem is only logged.
      if (isFile(path)) collection.set(vscode.Uri.file(path), diagnostics.filter(isOurs(path)).map(asDiagnostic));
    }
    const lines = new Set(all.map(formatLine));
    for (const line of lines) if (!logged.has(line)) log.warn(line);
    logged = lines;
  };
  let disposed = false;
  const compare = async () => {
    // Loaded late, because its vendor data is not needed before there are models.
    const { registryDiagnostics } = await import('../../catalog/registry/registry-diagnostics.ts');
    const { settings, registry, catalog } = models;
    if (disposed || settings === undefined || registry === undefined) return;
    compared = registryDiagnostics(settings, registry, catalog);
    show([...settings.diagnostics, ...compared]);
  };
  return vscode.Disposable.from(
    new vscode.Disposable(() => {
      disposed = true;
    }),
    collection,
    store.onChange(({ diagnostics }) => show([...diagnostics, ...compared])),
    models.onDidChange(() => void compare()),
    vscode.workspace.onDidOpenTextDocument((opened) => concerns(opened) && show(shown)),
    vscode.workspace.onDidCloseTextDocument((closed) => concerns(closed) && show(shown)),
  );
}

/** Problems that VS Code's own JSON support reports in open documents. */
const REPORTED_BY_EDITOR: ReadonlySet<string> = new Set(['syntax', 'duplicate-key']);

/** Whether the extension reports a problem of this file itself. Each problem is shown once. */
function isOurs(path: string): (diagnostic: Diagnostic) => boolean {
  const open = vscode.workspace.textDocuments.find(({ uri }) => uri.scheme === 'file' && uri.fsPath === path);
  const validated = open !== undefined && isValidated(open);
  return ({ code }) => !(validated && REPORTED_BY_EDITOR.has(code));
}

function isValidated({ languageId }: vscode.TextDocument): boolean {
  const json = languageId === 'json' || languageId === 'jsonc';
  const present = vscode.extensions.getExtension('vscode.json-language-features') !== undefined;
  return json && present && vscode.workspace.getConfiguration('json').get('validate.enable', true);
}

function concerns(document: vscode.TextDocument): boolean {
  return vscode.languages.match(CONFIGURATION_FILES, document) > 0;
}

function asDiagnostic({ severity, line, column, length, message, code, suggestion }: Diagnostic): vscode.Diagnostic {
  const start = new vscode.Position(line - 1, column - 1);
  const shown = new vscode.Diagnostic(
    new vscode.Range(start, start.translate(0, length)),
    message,
    SEVERITIES[severity],
  );
  shown.source = 'svc';
  // The code contains the replacement for the quick fix, because VS Code passes only diagnostics to it.
  shown.code = suggestion === undefined ? code : `${code}:${suggestion}`;
  return shown;
}

function formatLine({ severity, path, line, column, key, message }: Diagnostic): string {
  return `${severity}: ${path}:${line}:${column}: ${key === '' ? '' : `${key}: `}${message}`;
}

function isFile(path: string): boolean {
  return /^(?:\/|[a-z]:[\\/])/i.test(path);
}
