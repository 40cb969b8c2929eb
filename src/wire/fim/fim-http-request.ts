import { defined, type JsonObject } from '../../base/json.ts';
import { invalidRequest, msg, SvcError } from '../errors/svc-error.ts';
import { optionalBoolean, optionalNumber, requiredModel } from '../request-fields.ts';
import { type FimDialect, type FimRequest, MAX_FIM_TOKENS } from './fim-request.ts';
import { codestralPrefix, TEMPLATES } from './templates.ts';

/** The HTTP request for a code completion. `path` is appended to the FIM base URL. */
export interface FimHttpRequest {
  readonly path: string;
  readonly body: Record<string, unknown>;
  /** The framing of a streamed answer. */
  readonly framing: 'sse' | 'ndjson';
  /** Stop sequences beyond those that the request can have. The reader of the answer applies them. */
  readonly unsentStops: readonly string[];
}

/** The path of Ollama, which is not below the version of the API. */
export const OLLAMA_PATH = '/api/generate';

/** Maximum number of stop sequences in a request: OpenAI's limit. Providers refuse more with 400. */
const MAX_STOPS = 4;

/**
 * The request for a code completion in a dialect.
 *
 * @param ollama the server is Ollama, which gets a template in a request of its own.
 * @throws SvcError 400 if `maxTokens` is not from 1 to 1000 (spec 2.4), before anything is sent.
 */
export function writeFimRequest(
  dialect: FimDialect,
  fimRequest: FimRequest,
  stream: boolean,
  ollama = false,
): FimHttpRequest {
  checkMaxTokens(fimRequest.maxTokens);
  const template = TEMPLATES[dialect];
  // Those of the caller come first: they end an answer early. Models end a template by themselves.
  const stops = [...(fimRequest.stop ?? []), ...(template?.stop ?? [])];
  const stop = stops.length > 0 ? stops.slice(0, MAX_STOPS) : undefined;
  const server = ollama && template !== undefined ? 'ollama-generate' : dialect;
  const request = writeDialect(server, template?.write(fimRequest), fimRequest, stop, stream);
  return { ...request, unsentStops: stops.slice(MAX_STOPS) };
}

type DialectRequest = Omit<FimHttpRequest, 'unsentStops'>;

/** @param written the prompt of a template. */
function writeDialect(
  dialect: FimDialect,
  written: string | undefined,
  fimRequest: FimRequest,
  stop: readonly string[] | undefined,
  stream: boolean,
): DialectRequest {
  const { model, maxTokens: max_tokens, temperature, context = [] } = fimRequest;
  const prompt = written ?? fimRequest.prefix;
  const suffix = written !== undefined || fimRequest.suffix === '' ? undefined : fimRequest.suffix;
  const common = { model, prompt, suffix, max_tokens, temperature, stop, stream };
  switch (dialect) {
    case 'llamacpp-infill':
      return {
        path: '/infill',
        framing: 'sse',
        body: defined({
          input_prefix: prompt,
          input_suffix: fimRequest.suffix,
          input_extra: context.length === 0 ? undefined : context.map(({ path, text }) => ({ filename: path, text })),
          n_predict: max_tokens,
          temperature,
          stop,
          stream,
          cache_prompt: true,
        }),
      };
    case 'ollama-generate': {
      const options = defined({ num_predict: max_tokens, temperature, stop });
      const raw = written === undefined ? undefined : true;
      return {
        path: OLLAMA_PATH,
        framing: 'ndjson',
        body: defined({ model, prompt, suffix, raw, stream, options }),
      };
    }
    case 'inception':
      // Its schema has no temperature (source: litellm's test of the endpoint).
      return sse(defined({ model, prompt, suffix, max_tokens, stop, stream }));
    case 'mistral':
      return sse(defined({ ...common, prompt: codestralPrefix(fimRequest) }));
    case 'svc':
      return sse(defined(common));
    case 'chat':
      return {
        path: '/chat/completions',
        framing: 'sse',
        // Without stop sequences: an answer may begin with a fence, which the reader removes.
        body: defined({
          model,
          messages: chatMessages(fimRequest),
          max_tokens,
          temperature,
          stream,
          ...usageOption(stream),
        }),
      };
    default:
      return sse(defined({ ...common, ...usageOption(stream) }));
  }
}

const CHAT_TASK = 'Write the code that belongs at <CURSOR>. Answer with only that code, without the code around it.';

/** Context first and the code last, so that consecutive requests begin with the same text. */
function chatMessages({ prefix, suffix, context = [] }: FimRequest): readonly Record<string, string>[] {
  const files = context.map(({ path, text }) => `<file path="${path}">\n${text}\n</file>\n`).join('');
  const section = files === '' ? '' : `<context>\n${files}</context>\n`;
  return [
    { role: 'system', content: CHAT_TASK },
    { role: 'user', content: `${section}<code>\n${prefix}<CURSOR>${suffix}\n</code>` },
  ];
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
