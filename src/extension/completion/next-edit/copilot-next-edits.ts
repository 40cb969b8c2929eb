import * as vscode from 'vscode';
import { showInformation } from '../../foreign-text.ts';
import { isCompetitorActive } from '../../setup/competing-extensions.ts';
import type { CommandItem } from '../../setup/setup-menu.ts';

const COPILOT_SETTING = 'github.copilot.nextEditSuggestions.enabled';

/** Whether Copilot shows next edits too. Both would draw over each other and use the same key. */
export class CopilotNextEdits implements vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.#changed.event;
  readonly #watch: vscode.Disposable;
  #active = false;

  constructor() {
    const check = () => void this.#check();
    this.#watch = vscode.Disposable.from(
      vscode.extensions.onDidChange(check),
      vscode.authentication.onDidChangeSessions(check),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration('github.copilot') || event.affectsConfiguration('chat.disableAIFeatures'))
          check();
      }),
    );
    check();
  }

  dispose(): void {
    this.#watch.dispose();
    this.#changed.dispose();
  }

  get active(): boolean {
    return this.#active;
  }

  async #check(): Promise<void> {
    const on = vscode.workspace.getConfiguration().get(COPILOT_SETTING) === true;
    const active = on && (await isCompetitorActive(['github.copilot', 'github.copilot-chat']));
    if (active === this.#active) return;
    this.#active = active;
    this.#changed.fire();
  }
}

/** The entry of the status menu, with both remedies. */
export function copilotItem(): CommandItem {
  const { t } = vscode.l10n;
  return {
    label: `$(warning) ${t('Copilot shows next edits too…')}`,
    detail: t('Svc shows none until Copilot’s are off, because both use the same key.'),
    run: async () => {
      const copilot = t('Turn Off Copilot’s Next Edits');
      const own = t('Turn Off Svc’s Next Edits');
      const text = t('Copilot and Svc both show next edits. Turn off those of one.');
      const chosen = await showInformation(text, copilot, own);
      const configuration = vscode.workspace.getConfiguration();
      const off = vscode.ConfigurationTarget.Global;
      if (chosen === copilot) await configuration.update(COPILOT_SETTING, false, off);
      if (chosen === own) await configuration.update('svc.nextEdit.show', 'off', off);
    },
  };
}
