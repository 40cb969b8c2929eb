/** Error bodies as the vendors send them, by vendor and kind. */
export const CONTEXT_ERRORS: Readonly<Record<string, { status: number; body: unknown; limit?: string }>> = {
  openai: {
    status: 400,
    limit: '128000',
    body: {
      error: {
        message:
          "This model's maximum context length is 128000 tokens. However, your messages resulted in 130021 tokens. Please reduce the length of the messages.",
        type: 'invalid_request_error',
        param: 'messages',
        code: 'context_length_exceeded',
      },
    },
  },
  'openai responses': {
    status: 400,
    body: {
      error: {
        message: 'Your input exceeds the context window of this model. Please adjust your input and try again.',
        type: 'invalid_request_error',
        param: 'input',
        code: 'context_length_exceeded',
      },
    },
  },
  anthropic: {
    status: 400,
    limit: '200000',
    body: {
      type: 'error',
      error: { type: 'invalid_request_error', message: 'prompt is too long: 210353 tokens > 200000 maximum' },
    },
  },
  'anthropic with max_tokens': {
    status: 400,
    limit: '200000',
    body: {
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message:
          'input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000, decrease input length or `max_tokens` and try again',
      },
    },
  },
  mistral: {
    status: 400,
    limit: '32768',
    body: {
      object: 'error',
      message: 'Prompt contains 40123 tokens and 0 draft tokens, too large for model with 32768 maximum context length',
      type: 'invalid_request_prompt',
      code: '3051',
    },
  },
  'llama.cpp': {
    status: 400,
    limit: '4096',
    body: {
      error: {
        code: 400,
        message: 'request (5120 tokens) exceeds the available context size (4096 tokens), try increasing it',
        type: 'exceed_context_size_error',
        n_prompt_tokens: 5120,
        n_ctx: 4096,
      },
    },
  },
  vllm: {
    status: 400,
    limit: '8192',
    body: {
      object: 'error',
      message:
        "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens in the messages, Please reduce the length of the messages.",
      type: 'BadRequestError',
      param: null,
      code: 400,
    },
  },
  ollama: { status: 400, body: { error: 'the input length exceeds the context length' } },
  deepseek: {
    status: 400,
    limit: '131072',
    body: {
      error: {
        message: "This model's maximum context length is 131072 tokens. However, you requested 140000 tokens.",
        type: 'invalid_request_error',
        param: null,
        code: 'invalid_request_error',
      },
    },
  },
  openrouter: {
    status: 400,
    limit: '65536',
    body: {
      error: {
        message:
          "This endpoint's maximum context length is 65536 tokens. However, you requested about 70000 tokens (70000 of text input).",
        code: 400,
        metadata: { provider_name: null },
      },
    },
  },
  'openrouter wrapping anthropic': {
    status: 400,
    limit: '200000',
    body: {
      error: {
        message: 'Provider returned error',
        code: 400,
        metadata: {
          raw: '{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210353 tokens > 200000 maximum"}}',
          provider_name: 'Anthropic',
        },
      },
    },
  },
};

export const ERROR_BODIES = {
  openai: { error: { message: 'Nope.', type: 'some_error', param: 'messages', code: 'some_code' } },
  anthropic: { type: 'error', error: { type: 'api_error', message: 'Nope.' } },
  mistral: { object: 'error', message: 'Nope.', type: 'nope', param: null, code: '1000' },
  fastapi: { detail: [{ loc: ['body'], msg: 'Nope.', type: 'missing' }] },
  ollama: { error: 'Nope.' },
  google: [{ error: { code: 400, message: 'Nope.', status: 'INVALID_ARGUMENT' } }],
} as const;
