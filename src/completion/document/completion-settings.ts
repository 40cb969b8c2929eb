import type { ModelCost } from '../../config/settings/configured-model.ts';
import type { ContextPlace } from '../../wire/fim/fim-request.ts';

/** A snapshot of the settings under `svc.completion.*`. */
export interface CompletionSettings {
  readonly enabled: boolean;
  /** VS Code language id -> on or off; `*` is the default for languages that are not listed. */
  readonly languages: Readonly<Record<string, boolean>>;
  /** Files without suggestions. */
  readonly disabledGlobs: readonly string[];
  /** Files that are never sent, neither as the document nor as context. */
  readonly exclude: readonly string[];
  /** `<provider_id>/<model_id>` of the model that is used while the other one fails; empty: none. */
  readonly fallbackModel: string;
  /** Language id -> `<provider_id>/<model_id>`. */
  readonly modelByLanguage: Readonly<Record<string, string>>;
  readonly trigger: 'automatic' | 'manual';
  /** Maximum number of lines of a suggestion. */
  readonly maxLines: number;
  /** Minimum delay of an automatic request in milliseconds. */
  readonly debounceFloor: number;
  /** The sources of context. */
  readonly context: Readonly<
    Record<'imports' | 'openTabs' | 'visited' | 'recentEdits' | 'copied' | 'problems' | 'terminal', boolean>
  >;
  readonly speculation: 'off' | 'free' | 'on';
  /** USD an hour; 0: no limit. */
  readonly budgetPerHour: number;
}

export const DEFAULT_COMPLETION_SETTINGS: CompletionSettings = {
  enabled: true,
  languages: { '*': true, markdown: false, plaintext: false, scminput: false, 'git-commit': false },
  disabledGlobs: [],
  exclude: [],
  fallbackModel: '',
  modelByLanguage: {},
  trigger: 'automatic',
  maxLines: 12,
  debounceFloor: 0,
  context: {
    imports: true,
    openTabs: true,
    visited: true,
    recentEdits: true,
    copied: true,
    problems: true,
    terminal: false,
  },
  speculation: 'free',
  budgetPerHour: 0,
};

/** The completion model, as far as the engine needs to know it. */
export interface CompletionModel {
  /** `<provider_id>/<model_id>`. */
  readonly ref: string;
  /** In tokens; 0: unknown. */
  readonly contextTokens: number;
  /** USD per million tokens; absent: unknown, all zero: free. */
  readonly cost?: ModelCost;
  /** Where its format has context. Absent: in the prefix, in comments. */
  readonly contextPlace?: ContextPlace;
  /** Gets the requests while those of this model fail. */
  readonly fallback?: CompletionModel;
  /** How many requests its server runs at a time. More would wait there. 0: a chat uses it. Absent: many. */
  readonly slots?: number;
  /** Its server loads it: requests would wait for that. */
  readonly loading?: true;
}
