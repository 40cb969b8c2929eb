import type * as vscode from 'vscode';

/** The state of a workspace, empty. VS Code gives none to a suite. */
export function createMemento(): vscode.Memento {
  const values = new Map<string, unknown>();
  return {
    keys: () => [...values.keys()],
    get: <T>(key: string, fallback?: T) => (values.get(key) ?? fallback) as T,
    update: async (key: string, value: unknown) => void values.set(key, value),
  };
}
