import { defined, type JsonObject } from '../../base/json.ts';
import { invalidRequest, msg, SvcError } from '../errors/svc-error.ts';
import { optionalBoolean, optionalNumber, requiredModel } from '../request-fields.ts';
import { type FimDialect, type FimRequest, MAX_FIM_TOKENS } from './fim-request.ts';

/** The HTTP request for a code completion. `path` is appended to the FIM base URL. */
export interface FimHttpRequest {
  readonly path: string;
  readonly body: Record<string, unknown>;
  /** The framing of a streamed answer. */
  readonly framing: 'sse' | 'ndjson';
  /** Stop sequences beyond those that the request can have. The reader of the answer applies them. */
  readonly unsentStops: readonly string[];
}

/** Maximum number of stop sequences in a request: OpenAI's limit. Providers refuse more with 400. */
const MAX_STOPS = 4;

interface Template {
  readonly write: (prefix: string, suffix: string) => string;
  readonly stop: readonly string[];
}

/**
 * Templates from the model cards. The stop sequences are the tokens with which the model ends or repeats a template.
 */
const TEMPLATES: Readonly<Partial<Record<FimDialect, Template>>> = {
  'template-qwen': {
    write: (prefix, suffix) => `<|fim_prefix|>${prefix}<|fim_suffix|>${suffix}<|fim_middle|>`,
    stop: ['<|endoftext|>', '<|fim_pad|>', '<|file_sep|>', '<|repo_name|>', '<|im_end|>'],
  },
  'template-codestral': {
    write: (prefix, suffix) => `[SUFFIX]${suffix}[PREFIX]${prefix}`,
    stop: ['[PREFIX]', '[SUFFIX]'],
  },
  'template-deepseek': {
    write: (prefix, suffix) => `<｜fim▁begin｜>${prefix}<｜fim▁hole｜>${suffix}<｜fim▁end｜>`,
    stop: ['<｜fim▁begin｜>', '<｜fim▁hole｜>', '<｜fim▁end｜>', '<｜end▁of▁sentence｜>'],
  },
  'template-starcoder': {
    write: (prefix, suffix) => `<fim_prefix>${prefix}<fim_suffix>${suffix}<fim_middle>`,
    stop: ['<|endoftext|>', '<file_sep>', '<fim_prefix>'],
  },
  'template-codellama': {
    write: (prefix, suffix) => `<PRE> ${prefix} <SUF>${suffix} <MID>`,
    stop: ['<EOT>', '<PRE>', '<SUF>', '<MID>'],
  },
  'template-codegemma': {
    write: (prefix, suffix) => `<|fim_prefix|>${prefix}<|fim_suffix|>${suffix}<|fim_middle|>`,
    stop: ['<|file_separator|>', '<|fim_prefix|>', '<|fim_suffix|>', '<end_of_turn>', '<eos>'],
  },
};

/**
 * The request for a code completion in a dialect.
 * @throws SvcError 400 if `maxTokens` is not from 1 to 1000 (spec 2.4), before anything is sent.
 */
export function writeFimRequest(dialect: FimDialect, fimRequest: FimRequest, stream: boolean): FimHttpRequest {
  checkMaxTokens(fimRequest.maxTokens);
  const template = TEMPLATES[dialect];
  // Those of the caller come first: they end an answer early. Models end a template by themselves.
  const stops = [...(fimRequest.stop ?? []), ...(template?.stop ?? [])];
  const stop = stops.length > 0 ? stops.slice(0, MAX_STOPS) : undefined;
  const request = template
    ? writeTemplate(template, fimRequest, stop, stream)
    : writeDialect(dialect, fimRequest, stop, stream);
  return { ...request, unsentStops: stops.slice(MAX_STOPS) };
}

type DialectRequest = Omit<FimHttpRequest, 'unsentStops'>;

function writeDialect(
  dialect: FimDialect,
  fimRequest: FimRequest,
  stop: readonly string[] | undefined,
  stream: boolean,
): DialectRequest {
  const { model, prefix: prompt, maxTokens: max_tokens, temperature } = fimRequest;
  const suffix = fimRequest.suffix === '' ? undefined : fimRequest.suffix;
  switch (dialect) {
    case 'llamacpp-infill':
      return {
        path: '/infill',
        framing: 'sse',
        body: defined({
          input_prefix: prompt,
          input_suffix: fimRequest.suffix,
          n_predict: max_tokens,
          temperature,
          stop,
          stream,
          cache_prompt: true,
        }),
      };
    case 'ollama-generate': {
      const options = defined({ num_predict: max_tokens, temperature, stop });
      return { path: '/api/generate', framing: 'ndjson', body: defined({ model, prompt, suffix, stream, options }) };
    }
    case 'inception':
      // Its schema has no temperature (source: litellm's test of the endpoint).
      return sse(defined({ model, prompt, suffix, max_tokens, stop, stream }));
    case 'deepseek':
      return sse(
        defined({
          model,
          prompt,
          suffix,
          max_tokens,
          temperature,
          stop,
          stream,
          ...usageOption(stream),
        }),
      );
    case 'openai-completions':
      return sse(defined({ model, prompt, suffix, max_tokens, temperature, stop, stream, ...usageOption(stream) }));
    default:
      return sse(defined({ model, prompt, suffix, max_tokens, temperature, stop, stream }));
  }
}

function writeTemplate(
  template: Template,
  fimRequest: FimRequest,
  stop: readonly string[] | undefined,
  stream: boolean,
): DialectRequest {
  return sse(
    defined({
      model: fimRequest.model,
      prompt: template.write(fimRequest.prefix, fimRequest.suffix),
      max_tokens: fimRequest.maxTokens,
      temperature: fimRequest.temperature,
      stop,
      stream,
      ...usageOption(stream),
    }),
  );
}

function sse(body: Record<string, unknown>): DialectRequest {
  return { path: '/completions', body, framing: 'sse' };
}

function usageOption(stream: boolean): { stream_options?: { include_usage: true } } {
  return stream ? { stream_options: { include_usage: true } } : {};
}

function checkMaxTokens(value: unknown): number {
  if (value === undefined || value === null) {
    throw invalidRequest('max_tokens', `\`max_tokens\` is required for code completion, at most ${MAX_FIM_TOKENS}.`);
  }
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 1 || value > MAX_FIM_TOKENS) {
    throw invalidRequest(
      'max_tokens',
      `\`max_tokens\` must be a whole number from 1 to ${MAX_FIM_TOKENS}, not ${value}.`,
    );
  }
  return value;
}

/** Reads `POST {fim_url}/completions` (spec 2.4). @throws SvcError 400 that names the field. */
export function readFimRequest(body: JsonObject): { readonly fimRequest: FimRequest; readonly stream: boolean } {
  const model = requiredModel(body);
  if (typeof body.prompt !== 'string') throw invalidRequest('prompt', '`prompt` is required and must be a string.');
  if (body.suffix !== undefined && body.suffix !== null && typeof body.suffix !== 'string') {
    throw invalidRequest('suffix', '`suffix` must be a string.');
  }
  const maxTokens = checkMaxTokens(body.max_tokens);
  const fimRequest = defined({
    model,
    prefix: body.prompt,
    suffix: body.suffix ?? '',
    maxTokens,
    temperature: optionalNumber(body, 'temperature', 0, 2),
    stop: readStop(body.stop),
  });
  return { fimRequest, stream: optionalBoolean(body, 'stream') ?? false };
}

function readStop(value: unknown): readonly string[] | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return [value];
  if (Array.isArray(value) && value.every((stop) => typeof stop === 'string')) return value;
  throw invalidRequest('stop', '`stop` must be a list of strings.');
}

/**
 * The model family: Codestral (Mistral) or Mercury (Inception), the two families of the gateway's FIM endpoint (spec
 * 4.2.6).
 */
export function fimFamily(modelId: string): 'mistral' | 'inception' | undefined {
  const name = modelId.slice(modelId.lastIndexOf('/') + 1).toLowerCase();
  if (name.startsWith('codestral') && !name.startsWith('codestral-embed')) return 'mistral';
  return name.startsWith('mercury') ? 'inception' : undefined;
}

/** 400: the model's family does not support code completion. */
export function unsupportedFimModel(model: string): SvcError {
  return new SvcError({
    errorType: 'unsupported_fim_model',
    message: msg("{0} can't complete code. Use a Codestral (Mistral) or Mercury (Inception) model.", model),
    param: 'model',
  });
}
