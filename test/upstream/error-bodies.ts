/** Accounts without funds that are not reported with status 402. */
export const PAYMENT_ERRORS: Readonly<Record<string, { status: number; body: unknown }>> = {
  'OpenAI, insufficient_quota': {
    status: 429,
    body: {
      error: {
        message: 'You exceeded your current quota, please check your plan and billing details.',
        type: 'insufficient_quota',
        param: null,
        code: 'insufficient_quota',
      },
    },
  },
  'OpenAI, billing_not_active': {
    status: 429,
    body: {
      error: {
        message: 'Your account is not active, please check your billing details on our website.',
        type: 'billing_not_active',
        param: null,
        code: 'billing_not_active',
      },
    },
  },
  'OpenAI, billing_hard_limit_reached': {
    status: 400,
    body: {
      error: {
        message: 'Billing hard limit has been reached',
        type: 'invalid_request_error',
        param: null,
        code: 'billing_hard_limit_reached',
      },
    },
  },
  'Anthropic, invalid_request_error': {
    status: 400,
    body: {
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message:
          'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.',
      },
    },
  },
  'Anthropic, billing_error': {
    status: 200,
    body: { type: 'error', error: { type: 'billing_error', message: 'There is an issue with your billing.' } },
  },
  'Moonshot, exceeded_current_quota_error': {
    status: 429,
    body: {
      error: {
        message: 'Your account is suspended, please check your plan and billing details',
        type: 'exceeded_current_quota_error',
      },
    },
  },
};

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
