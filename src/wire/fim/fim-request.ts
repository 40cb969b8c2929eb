/** The code before and after the cursor, and the limits of the completion between them (spec 2.4). */
export interface FimRequest {
  /** The model id in upstream requests. */
  readonly model: string;
  readonly prefix: string;
  readonly suffix: string;
  /** 1 to 1000; see `MAX_FIM_TOKENS`. */
  readonly maxTokens: number;
  readonly temperature?: number;
  readonly stop?: readonly string[];
}

/** Maximum of `maxTokens` in a FIM request (spec 2.4, 8). */
export const MAX_FIM_TOKENS = 1000;

/** The request formats for code completion (fim-http-request.ts). */
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
