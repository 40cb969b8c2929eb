import { ERROR_TYPES } from '../../wire/errors/svc-error.ts';

interface Operation {
  readonly summary: string;
  readonly tag: string;
  /** Required fields of the request with their schemas. */
  readonly request?: Readonly<Record<string, object>>;
  readonly optional?: Readonly<Record<string, object>>;
  /** No key is required. */
  readonly open?: true;
  readonly stream?: true;
  readonly multipart?: true;
}

const text = { type: 'string' };
const list = { type: 'array', items: { type: 'object' } };
const count = { type: 'integer', minimum: 1 };
const model = { type: 'string', description: '`<vendor>/<model_name>`, or `<vendor>/<model_name>:<variant>`.' };
const stream = { type: 'boolean', default: false };
const between = (minimum: number, maximum: number) => ({ type: 'number', minimum, maximum });

const POSTS: Readonly<Record<string, Operation>> = {
  '/chat/completions': {
    summary: 'Chat Completions',
    tag: 'inference',
    stream: true,
    request: { model, messages: list },
    optional: {
      stream,
      max_tokens: count,
      temperature: between(0, 2),
      top_p: between(0, 1),
      frequency_penalty: between(-2, 2),
      presence_penalty: between(-2, 2),
      stop: { oneOf: [text, { type: 'array', items: text }] },
      tools: list,
      tool_choice: {},
      response_format: { type: 'object' },
      seed: { type: 'integer' },
    },
  },
  '/responses': {
    summary: 'Responses, without state: `store`, `previous_response_id` and `conversation` are refused',
    tag: 'inference',
    stream: true,
    request: { model, input: { oneOf: [text, list] } },
    optional: { stream, instructions: text, max_output_tokens: count, tools: list },
  },
  '/messages': {
    summary: 'Messages',
    tag: 'inference',
    stream: true,
    request: { model, messages: list, max_tokens: count },
    optional: { stream, system: { oneOf: [text, list] }, temperature: between(0, 1), tools: list },
  },
  '/messages/count_tokens': {
    summary: 'Tokens of a Messages request: the upstream’s count if available, else an estimate',
    tag: 'inference',
    request: { model, messages: list },
  },
  '/responses/input_tokens': {
    summary: 'Tokens of a Responses request: the upstream’s count if available, else an estimate',
    tag: 'inference',
    request: { model },
    optional: { input: { oneOf: [text, list] }, instructions: text, tools: list },
  },
  '/responses/compact': {
    summary:
      'A shorter input in place of the input: compacted by the upstream if available, else summarized by the model',
    tag: 'inference',
    request: { model, input: { oneOf: [text, list] } },
    optional: { instructions: text },
  },
  '/embeddings': {
    summary: 'Embeddings',
    tag: 'inference',
    request: { model, input: { oneOf: [text, { type: 'array' }] } },
    optional: { dimensions: count, encoding_format: { enum: ['float', 'base64'] } },
  },
  '/audio/transcriptions': {
    summary: 'Transcription: multipart with `file`, or JSON with `input_audio`',
    tag: 'inference',
    multipart: true,
    request: { model },
    optional: {
      input_audio: { type: 'object', properties: { data: text, format: text } },
      language: text,
      prompt: text,
      response_format: text,
      temperature: between(0, 1),
    },
  },
  '/fim/completions': {
    summary: 'Code between a prefix and a suffix (Codestral and Mercury families)',
    tag: 'inference',
    stream: true,
    request: { model, prompt: text, max_tokens: { type: 'integer', minimum: 1, maximum: 1000 } },
    optional: { suffix: text, temperature: between(0, 2), stop: { type: 'array', items: text }, stream },
  },
  '/edit/completions': {
    summary: 'The next edit of a code region, in the form of Inception’s API (Mercury, Sweep and Zeta families)',
    tag: 'inference',
    stream: true,
    request: { model, messages: list },
    optional: { max_tokens: { type: 'integer', minimum: 1, maximum: 8192 }, stream },
  },
};

const GETS: Readonly<Record<string, Operation>> = {
  '/': { summary: 'The path of this document; for clients that check the base URL', tag: 'operation', open: true },
  '/models': {
    summary:
      'Models, in Anthropic’s form for clients that send `anthropic-version`; with `X-Organization-Id`, only the models that its policy allows',
    tag: 'catalog',
    open: true,
  },
  '/models/{id}': { summary: 'One model; the slash in its id may be encoded', tag: 'catalog', open: true },
  '/providers': { summary: 'Providers', tag: 'catalog', open: true },
  '/embedding-models': { summary: 'Embedding models', tag: 'catalog', open: true },
  '/transcription-models': { summary: 'Transcription models', tag: 'catalog', open: true },
  '/healthz': { summary: 'Reports whether the process runs', tag: 'operation', open: true },
  '/proof': {
    summary: 'Proves to the window of VS Code that started the gateway which process listens; 404 for all others',
    tag: 'operation',
    open: true,
  },
  '/readyz': { summary: 'Reports whether the gateway accepts requests', tag: 'operation', open: true },
  '/metrics': { summary: 'Prometheus metrics; a key is required for requests from another machine', tag: 'operation' },
  '/openapi.json': { summary: 'This document', tag: 'operation', open: true },
};

/**
 * The API as OpenAPI 3.1. Each path also exists with the prefix `/v1` (spec 9), except those of the admin API.
 *
 * @param adminPaths the paths of the admin API.
 */
export function openApi(adminPaths: Readonly<Record<string, object>>): Record<string, unknown> {
  const paths: Record<string, unknown> = {};
  for (const [path, operation] of Object.entries(POSTS)) paths[path] = { post: describe(path, operation) };
  for (const [path, operation] of Object.entries(GETS)) paths[path] = { get: describe(path, operation) };
  Object.assign(paths, adminPaths);
  return {
    openapi: '3.1.0',
    info: { title: 'Svc gateway', version: '1' },
    servers: [{ url: '/' }, { url: '/v1' }],
    security: [{ bearer: [] }, { key: [] }],
    paths,
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        key: { type: 'apiKey', in: 'header', name: 'x-api-key' },
        session: { type: 'apiKey', in: 'header', name: 'cookie', description: 'Also needs `X-Session-Secret`.' },
      },
      schemas: { Error: ERROR },
    },
  };
}

export const ERROR_ANSWER = {
  description: 'An error; docs/errors.md lists them.',
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
};

const ERROR = {
  type: 'object',
  required: ['error', 'error_type', 'message'],
  properties: {
    error: {
      type: 'object',
      properties: { message: text, type: text, code: text, param: { type: ['string', 'null'] } },
    },
    error_type: { enum: ERROR_TYPES },
    message: text,
  },
};

function describe(path: string, operation: Operation): Record<string, unknown> {
  const { summary, tag, request, optional, open, multipart } = operation;
  const schema = { type: 'object', required: Object.keys(request ?? {}), properties: { ...request, ...optional } };
  const content = { 'application/json': { schema }, ...(multipart ? { 'multipart/form-data': { schema } } : {}) };
  const id = { name: 'id', in: 'path', required: true, schema: text };
  const organization = { name: 'X-Organization-Id', in: 'header', required: false, schema: text };
  const json = { schema: { type: 'object' } };
  return {
    summary,
    tags: [tag],
    ...(open ? { security: [] } : {}),
    parameters: [...(path.includes('{id}') ? [id] : []), ...(tag === 'operation' ? [] : [organization])],
    ...(request ? { requestBody: { required: true, content } } : {}),
    responses: {
      200: {
        description: 'The answer.',
        content: { 'application/json': json, ...(operation.stream ? { 'text/event-stream': { schema: text } } : {}) },
      },
      default: ERROR_ANSWER,
    },
  };
}
