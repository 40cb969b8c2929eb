import * as vscode from 'vscode';
import { type CompletionSettings, DEFAULT_COMPLETION_SETTINGS } from '../../completion/document/completion-settings.ts';

const SECTION = 'svc.completion';

/** A snapshot of the settings under `svc.completion.*`, updated when they change. */
export class CompletionSettingsSource implements vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #watch: vscode.Disposable;
  readonly onDidChange = this.#changed.event;
  #current = read();

  constructor() {
    this.#watch = vscode.workspace.onDidChangeConfiguration((event) => {
      if (!event.affectsConfiguration(SECTION)) return;
      this.#current = read();
      this.#changed.fire();
    });
  }

  dispose(): void {
    this.#watch.dispose();
    this.#changed.dispose();
  }

  get current(): CompletionSettings {
    return this.#current;
  }
}

function read(): CompletionSettings {
  const configuration = vscode.workspace.getConfiguration(SECTION);
  const value = <K extends keyof CompletionSettings>(key: K): CompletionSettings[K] =>
    configuration.get<CompletionSettings[K]>(key, DEFAULT_COMPLETION_SETTINGS[key]);
  return {
    enabled: value('enabled'),
    languages: { ...DEFAULT_COMPLETION_SETTINGS.languages, ...value('languages') },
    disabledGlobs: value('disabledGlobs'),
    exclude: value('exclude'),
    fallbackModel: value('fallbackModel'),
    modelByLanguage: value('modelByLanguage'),
    trigger: value('trigger'),
    maxLines: value('maxLines'),
    debounceFloor: value('debounceFloor'),
    context: { ...DEFAULT_COMPLETION_SETTINGS.context, ...value('context') },
    speculation: value('speculation'),
    budgetPerHour: value('budgetPerHour'),
  };
}
