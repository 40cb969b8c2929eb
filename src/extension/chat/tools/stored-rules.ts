import * as vscode from 'vscode';
import { SerialQueue } from '../../../base/concurrency.ts';
import { EFFECTS, type Effect, type RuleTexts } from '../../../chat/permissions/permission-rules.ts';
import { readRuleSetting, unreadableRestrictions } from '../../../chat/permissions/rule-syntax.ts';
import type { AllowedDefinition, SavedRules } from '../../../chat/tools/tools.ts';
import { showWarning } from '../../foreign-text.ts';

const SETTING = 'permissions';

/** The place in the state of the workspace, which no file of the workspace can change. */
const IN_WORKSPACE = 'svc.permissions';

/** The definitions of tools that rules of this workspace allow, the newest last. */
const DEFINITIONS = 'svc.toolDefinitions';
const MAX_DEFINITIONS = 100;

/**
 * The rules in `svc.chat.permissions` of the user or the remote machine, and those that answers made for this
 * workspace: the same words may run another program in the next one. The scope of the setting in `package.json` is
 * `machine`, so VS Code ignores it in a workspace, which must not allow anything.
 */
export class StoredRules implements SavedRules {
  readonly #onError: (error: unknown) => void;
  readonly #workspace: vscode.Memento;
  #reported = '';
  readonly #writes = new SerialQueue();

  /** @param workspace the state of the workspace. */
  constructor(onError: (error: unknown) => void, workspace: vscode.Memento) {
    this.#onError = onError;
    this.#workspace = workspace;
  }

  rules(): RuleTexts {
    const everywhere = this.everywhere();
    return { ...everywhere, allow: [...new Set([...everywhere.allow, ...this.inWorkspace()])] };
  }

  /** Permissions for this workspace only. */
  inWorkspace(): readonly string[] {
    return readRuleSetting({ allow: this.#workspace.get<unknown>(IN_WORKSPACE) }).allow;
  }

  /** The rules of the setting. */
  everywhere(): RuleTexts {
    const inspected = vscode.workspace.getConfiguration('svc.chat').inspect<unknown>(SETTING);
    const rules = readRuleSetting(inspected?.globalValue);
    this.#report(unreadableRestrictions(rules).join(', '));
    return rules;
  }

  /** Once for each mistake. */
  #report(unreadable: string): void {
    if (unreadable === this.#reported) return;
    this.#reported = unreadable;
    if (unreadable === '') return;
    const message = vscode.l10n.t(
      'A rule of “svc.chat.permissions” that asks or denies can’t be read: {0}. Until you correct it, each call of a tool is asked.',
      unreadable.slice(0, 200),
    );
    const manage = vscode.l10n.t('Manage Permissions');
    const shown = showWarning(message, manage).then(async (chosen) => {
      if (chosen === manage) await vscode.commands.executeCommand('svc.chat.managePermissions');
    });
    void Promise.resolve(shown).catch(this.#onError);
  }

  allow(rules: readonly string[], definition?: AllowedDefinition): void {
    void this.#changeInWorkspace((known) => [...new Set([...known, ...rules])]);
    if (definition === undefined) return;
    const others = this.#definitions().filter(({ identity }) => identity !== definition.identity);
    const kept = [...others, definition].slice(-MAX_DEFINITIONS);
    void this.#write(async () => this.#workspace.update(DEFINITIONS, kept));
  }

  definition(identity: string): string | undefined {
    return this.#definitions().find((each) => each.identity === identity)?.text;
  }

  #definitions(): readonly AllowedDefinition[] {
    return this.#workspace.get<readonly AllowedDefinition[]>(DEFINITIONS, []);
  }

  removeInWorkspace(rule: string): Promise<void> {
    return this.#changeInWorkspace((known) => known.filter((one) => one !== rule));
  }

  remove(effect: Effect, rule: string): Promise<void> {
    return this.#change(effect, (known) => known.filter((one) => one !== rule));
  }

  add(effect: Effect, rule: string): Promise<void> {
    return this.#change(effect, (known) => [...new Set([...known, rule])]);
  }

  #changeInWorkspace(change: (rules: readonly string[]) => readonly string[]): Promise<void> {
    return this.#write(async () => this.#workspace.update(IN_WORKSPACE, change(this.inWorkspace())));
  }

  #change(effect: Effect, change: (rules: readonly string[]) => readonly string[]): Promise<void> {
    return this.#write(async () => {
      const known = this.everywhere();
      const rules = { ...known, [effect]: change(known[effect]) };
      const filled = EFFECTS.filter((one) => rules[one].length > 0).map((one) => [one, rules[one]]);
      const value = filled.length === 0 ? undefined : Object.fromEntries(filled);
      await vscode.workspace.getConfiguration('svc.chat').update(SETTING, value, vscode.ConfigurationTarget.Global);
    });
  }

  #write(work: () => Promise<void>): Promise<void> {
    return this.#writes.run(work).catch(this.#onError);
  }
}
