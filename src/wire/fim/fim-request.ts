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
  /** Pieces of other files. Written by the formats with a place for them, see `contextPlace`. */
  readonly context?: readonly ContextFile[];
  /** Path of the document, for the same formats. */
  readonly path?: string;
}

/** A piece of another file. */
export interface ContextFile {
  /** Relative to the workspace. */
  readonly path: string;
  readonly text: string;
}

/**
 * Where context belongs in a request: into the prefix, in comments; into `context`; or into `context` with the path of
 * the document in `path`.
 */
export type ContextPlace = 'prefix' | 'context' | 'context-and-path';

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
  'template-starcoder2',
  'template-codellama',
  'template-codegemma',
  'template-seed-coder',
  'template-mellum',
  'template-granite',
  'template-glm',
  'chat',
] as const;

export type FimDialect = (typeof FIM_DIALECTS)[number];

/** The dialects with a place for files and the path of the document. */
const WITH_FILES = /^mistral$|^template-(?:qwen|codestral|starcoder2|seed-coder|mellum|granite)$/;

export function contextPlace(dialect: FimDialect | undefined): ContextPlace {
  if (WITH_FILES.test(dialect ?? '')) return 'context-and-path';
  return dialect === 'llamacpp-infill' || dialect === 'chat' ? 'context' : 'prefix';
}
