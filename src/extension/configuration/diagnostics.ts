import * as vscode from 'vscode';
import type { SettingsStore } from '../../config/load/store.ts';
import type { Diagnostic } from '../../config/settings/settings.ts';
import type { Models } from '../models/editor-models.ts';

const SEVERITIES: Record<Diagnostic['severity'], vscode.DiagnosticSeverity> = {
  error: vscode.DiagnosticSeverity.Error,
  warning: vscode.DiagnosticSeverity.Warning,
  information: vscode.DiagnosticSeverity.Information,
};

/** What is wrong with the configuration, shown in its files as soon as they are read, and when the catalog is compared. */
export function showConfigurationDiagnostics(
  store: SettingsStore,
  models: Models,
  log: vscode.LogOutputChannel,
): vscode.Disposable {
  const collection = vscode.languages.createDiagnosticCollection('svc');
  let logged = new Set<string>();
  /** Those of the last comparison stay until the next: at each save they would go and come back. */
  let compared: readonly Diagnostic[] = [];
  const show = (all: readonly Diagnostic[]) => {
    const files = Map.groupBy(all, ({ path }) => path);
    collection.clear();
    for (const [path, diagnostics] of files) {
      // A variable or an editor setting has no file to show it in: the log has it.
      if (isFile(path)) collection.set(vscode.Uri.file(path), diagnostics.map(asDiagnostic));
    }
    const lines = new Set(all.map(lineOf));
    for (const line of lines) if (!logged.has(line)) log.warn(line);
    logged = lines;
  };
  let disposed = false;
  const compare = async () => {
    // What it knows of vendors is not needed before there are models.
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
  );
}

function asDiagnostic({ severity, line, column, length, message, code, suggestion }: Diagnostic): vscode.Diagnostic {
  const start = new vscode.Position(line - 1, column - 1);
  const shown = new vscode.Diagnostic(
    new vscode.Range(start, start.translate(0, length)),
    message,
    SEVERITIES[severity],
  );
  shown.source = 'svc';
  // The code carries what a quick fix writes: VS Code hands diagnostics back, and nothing else.
  shown.code = suggestion === undefined ? code : `${code}:${suggestion}`;
  return shown;
}

function lineOf({ severity, path, line, column, key, message }: Diagnostic): string {
  return `${severity}: ${path}:${line}:${column}: ${key === '' ? '' : `${key}: `}${message}`;
}

function isFile(path: string): boolean {
  return /^(?:\/|[a-z]:[\\/])/i.test(path);
}
