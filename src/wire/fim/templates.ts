import type { ContextFile, FimDialect, FimRequest } from './fim-request.ts';

/** The parts of a prompt. `context` and `path` are absent in formats without a place for them. */
type Parts = Pick<FimRequest, 'prefix' | 'suffix' | 'context' | 'path'>;

interface Template {
  readonly write: (parts: Parts) => string;
  /** The tokens with which the model ends or repeats a template. */
  readonly stop: readonly string[];
}

/** The name of the repository where a format wants one. It is the same for all, so that nothing is told. */
const REPOSITORY = 'project';
const UNTITLED = 'untitled';

/** Formats with the prefix first. */
const prefixFirst =
  (before: string, between: string, after: string) =>
  ({ prefix, suffix }: Parts): string =>
    `${before}${prefix}${between}${suffix}${after}`;

/** Each file after a line with its path, then the path of the document. */
function headed(mark: string, { context = [], path }: Parts): string {
  if (path === undefined && context.length === 0) return '';
  const files = context.map((file: ContextFile) => `${mark}${file.path}\n${file.text}\n`);
  return `${files.join('')}${mark}${path ?? UNTITLED}\n`;
}

/** After the name of the repository. */
function inRepository(name: string, mark: string, parts: Parts): string {
  const files = headed(mark, parts);
  return files === '' ? '' : name + files;
}

const PLAIN_TOKENS = prefixFirst('<fim_prefix>', '<fim_suffix>', '<fim_middle>');
const PIPE_TOKENS = prefixFirst('<|fim_prefix|>', '<|fim_suffix|>', '<|fim_middle|>');

/** The prompt of Codestral before the cursor, also for the API of Mistral (source: Continue, from Mistral). */
export function codestralPrefix(parts: Parts): string {
  return `${headed('+++++ ', parts)}${parts.prefix}`;
}

/** Each one from the model's card or paper. */
export const TEMPLATES: Readonly<Partial<Record<FimDialect, Template>>> = {
  // QwenLM/Qwen2.5-Coder, README, "Repository Level Code Completion" and its repolevel-fim example.
  'template-qwen': {
    write: (parts) => inRepository(`<|repo_name|>${REPOSITORY}\n`, '<|file_sep|>', parts) + PIPE_TOKENS(parts),
    stop: ['<|endoftext|>', '<|file_sep|>', '<|fim_pad|>', '<|repo_name|>', '<|im_end|>'],
  },
  // mistral-common, `encode_fim`.
  'template-codestral': {
    write: (parts) => `[SUFFIX]${parts.suffix}[PREFIX]${codestralPrefix(parts)}`,
    stop: ['[PREFIX]', '[SUFFIX]', '\n+++++ '],
  },
  // deepseek-ai/DeepSeek-Coder, README, "Code Insertion".
  'template-deepseek': {
    write: prefixFirst('<｜fim▁begin｜>', '<｜fim▁hole｜>', '<｜fim▁end｜>'),
    stop: ['<｜fim▁begin｜>', '<｜fim▁hole｜>', '<｜fim▁end｜>', '<｜end▁of▁sentence｜>'],
  },
  // bigcode/starcoder, model card. Stable Code and Granite Code have the same tokens.
  'template-starcoder': { write: PLAIN_TOKENS, stop: ['<|endoftext|>', '<file_sep>', '<fim_prefix>'] },
  // arXiv 2402.19173, section 5.1: the path of the document is inside of the prefix.
  'template-starcoder2': {
    write: (parts) => {
      const { context = [], path, prefix } = parts;
      if (path === undefined && context.length === 0) return PLAIN_TOKENS(parts);
      const files = context.map((file) => `<file_sep>${file.path}\n${file.text}`).join('\n');
      const own = PLAIN_TOKENS({ ...parts, prefix: `${path ?? UNTITLED}\n${prefix}` });
      return `<repo_name>${REPOSITORY}${files}<file_sep>${own}`;
    },
    stop: ['<|endoftext|>', '<file_sep>', '<fim_prefix>', '<repo_name>'],
  },
  // facebookresearch/codellama, `infilling_prompt_tokens`.
  'template-codellama': {
    write: prefixFirst('<PRE> ', ' <SUF>', ' <MID>'),
    stop: ['<EOT>', '<PRE>', '<SUF>', '<MID>'],
  },
  // ai.google.dev/gemma/docs/codegemma/prompt-structure.
  'template-codegemma': {
    write: PIPE_TOKENS,
    stop: ['<|file_separator|>', '<|fim_prefix|>', '<|fim_suffix|>', '<end_of_turn>', '<eos>'],
  },
  // arXiv 2506.03524 (the suffix first); files as in zed-industries/zed, `zeta_prompt::seed_coder`.
  'template-seed-coder': {
    write: (parts) =>
      `<[fim-suffix]>${parts.suffix}<[fim-prefix]>${headed('<filename>', parts)}${parts.prefix}<[fim-middle]>`,
    stop: ['<[end▁of▁sentence]>', '<[fim-suffix]>', '<[fim-prefix]>', '<filename>'],
  },
  // JetBrains/Mellum-4b-base, model card, "additional files as context"; Mellum2-12B-A2.5B-Base has the same tokens.
  'template-mellum': {
    write: (parts) =>
      `${headed('<filename>', parts)}<fim_suffix>${parts.suffix}<fim_prefix>${parts.prefix}<fim_middle>`,
    stop: ['<|endoftext|>', '<filename>', '<fim_suffix>', '<fim_prefix>', '<|im_end|>'],
  },
  // ibm-granite, tokenizer of Granite 3.3 and 4: `<|reponame|>`, `<|filename|>`; prompt guide, "FIM".
  'template-granite': {
    write: (parts) => inRepository(`<|reponame|>${REPOSITORY}\n`, '<|filename|>', parts) + PIPE_TOKENS(parts),
    stop: ['<|end_of_text|>', '<|filename|>', '<|fim_prefix|>', '<|reponame|>'],
  },
  // ggml-org/llama.cpp, `llama-vocab.cpp`: the FIM tokens of GLM-4.5; zed-industries/zed, `fim.rs`.
  'template-glm': {
    write: prefixFirst('<|code_prefix|>', '<|code_suffix|>', '<|code_middle|>'),
    stop: ['<|endoftext|>', '<|user|>', '<|code_prefix|>', '<|code_suffix|>'],
  },
};
