import type * as vscode from 'vscode';
import type { SavedPermissions } from '../../../chat/tools/tools.ts';

const KEY = 'svc.chat.allowedTools';

/** Tools that the user always allows in this workspace. */
export class StoredPermissions implements SavedPermissions {
  readonly #memory: vscode.Memento;

  constructor(memory: vscode.Memento) {
    this.#memory = memory;
  }

  has(key: string): boolean {
    return this.#memory.get<string[]>(KEY, []).includes(key);
  }

  add(key: string): void {
    const allowed = this.#memory.get<string[]>(KEY, []);
    if (!allowed.includes(key)) void this.#memory.update(KEY, [...allowed, key]);
  }
}
