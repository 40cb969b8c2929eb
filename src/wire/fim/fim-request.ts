/** Code before and after a cursor, and how much may be written between (spec 2.4). */
export interface FimRequest {
  /** The model as the upstream is told. */
  readonly model: string;
  readonly prefix: string;
  readonly suffix: string;
  /** 1 to 1000; see `MAX_FIM_TOKENS`. */
  readonly maxTokens: number;
  readonly temperature?: number;
  readonly stop?: readonly string[];
}

/** The most that a FIM request may ask for (spec 2.4, 8). */
export const MAX_FIM_TOKENS = 1000;

/** How an upstream wants a hole written (wire/fim.ts). */
export const FIM_DIALECTS = [
  'svc',
  'mistral',
  'inception',
  'deepseek',
  'llamacpp-infill',
  'ollama-generate',
  'openai-completions',
  'template-qwen',
  'template-codestral',
  'template-deepseek',
  'template-starcoder',
  'template-codellama',
  'template-codegemma',
] as const;

export type FimDialect = (typeof FIM_DIALECTS)[number];
