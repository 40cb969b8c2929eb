import * as vscode from 'vscode';
import * as z from 'zod';
import { EFFECTS, type Effect, type RuleTexts } from '../../../chat/permissions/permission-rules.ts';
import type { SavedRules } from '../../../chat/tools/tools.ts';

const SETTING = 'permissions';

const texts = z.array(z.string()).catch([]);
const schema = z.object({ allow: texts.default([]), ask: texts.default([]), deny: texts.default([]) });

/**
 * The rules in `svc.chat.permissions` of the user or the remote machine. Its scope in `package.json` is `machine`, so
 * VS Code ignores it in a workspace, which must not allow anything.
 */
export class StoredRules implements SavedRules {
  readonly #onError: (error: unknown) => void;
  #writing: Promise<void> = Promise.resolve();

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  rules(): RuleTexts {
    const inspected = vscode.workspace.getConfiguration('svc.chat').inspect<unknown>(SETTING);
    const parsed = schema.safeParse(inspected?.globalValue);
    return parsed.success ? parsed.data : schema.parse({});
  }

  allow(rules: readonly string[]): void {
    void this.#change('allow', (known) => [...new Set([...known, ...rules])]);
  }

  remove(effect: Effect, rule: string): Promise<void> {
    return this.#change(effect, (known) => known.filter((one) => one !== rule));
  }

  add(effect: Effect, rule: string): Promise<void> {
    return this.#change(effect, (known) => [...new Set([...known, rule])]);
  }

  #change(effect: Effect, change: (rules: readonly string[]) => readonly string[]): Promise<void> {
    this.#writing = this.#writing.then(async () => {
      const rules = { ...this.rules(), [effect]: change(this.rules()[effect]) };
      const filled = EFFECTS.filter((one) => rules[one].length > 0).map((one) => [one, rules[one]]);
      const value = filled.length === 0 ? undefined : Object.fromEntries(filled);
      await vscode.workspace.getConfiguration('svc.chat').update(SETTING, value, vscode.ConfigurationTarget.Global);
    });
    this.#writing = this.#writing.catch(this.#onError);
    return this.#writing;
  }
}
