import type { ModelCost } from '../../config/settings/configured-model.ts';

/** The settings under `svc.completion.*`, as one snapshot. */
export interface CompletionSettings {
  readonly enabled: boolean;
  /** VS Code language id -> on or off; `*` is the default for those not named. */
  readonly languages: Readonly<Record<string, boolean>>;
  /** Where nothing is suggested. */
  readonly disabledGlobs: readonly string[];
  /** What is never sent, as the file or as context. */
  readonly exclude: readonly string[];
  readonly trigger: 'automatic' | 'manual';
  /** Lines of one suggestion at most. */
  readonly maxLines: number;
  /** Milliseconds that an automatic request waits at least. */
  readonly debounceFloor: number;
  readonly context: { readonly openTabs: boolean; readonly recentEdits: boolean; readonly imports: boolean };
  readonly speculation: 'off' | 'free' | 'on';
  /** USD an hour; 0: no limit. */
  readonly budgetPerHour: number;
}

export const DEFAULT_COMPLETION_SETTINGS: CompletionSettings = {
  enabled: true,
  languages: { '*': true, markdown: false, plaintext: false, scminput: false, 'git-commit': false },
  disabledGlobs: [],
  exclude: [],
  trigger: 'automatic',
  maxLines: 12,
  debounceFloor: 0,
  context: { openTabs: true, recentEdits: true, imports: true },
  speculation: 'free',
  budgetPerHour: 0,
};

/** The model that fills holes, as far as the engine needs to know it. */
export interface CompletionModel {
  /** `<provider_id>/<model_id>`. */
  readonly ref: string;
  /** Tokens, 0: unknown. */
  readonly contextTokens: number;
  /** USD per million tokens; absent: unknown, all zero: free. */
  readonly cost?: ModelCost;
}
