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
  'Anthropic, spend limit': {
    status: 400,
    body: {
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message: 'You have reached your specified API usage limits. You will regain access on 2999-12-01 at 00:00 UTC.',
      },
    },
  },
  'Anthropic, spend limit of a workspace': {
    status: 400,
    body: {
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message: 'You have reached your specified workspace API usage limits. You will regain access on 2999-12-01.',
      },
    },
  },
  'xAI, used-up credits': {
    status: 403,
    body: {
      code: 'The caller does not have permission to execute the specified operation',
      error:
        'Your team 1 has either used all available credits or reached its monthly spending limit. To continue making API requests, please purchase more credits or raise your spending limit.',
    },
  },
  'Fireworks, suspended': {
    status: 412,
    body: {
      error: {
        message:
          'Account a is suspended, possibly due to reaching the monthly spending limit or failure to pay past invoices. Please go to https://fireworks.ai/account/billing for more information.',
        code: 'PRECONDITION_FAILED',
        type: 'error',
      },
    },
  },
  'Anthropic, a disabled organization': {
    status: 400,
    body: {
      type: 'error',
      error: { type: 'invalid_request_error', message: 'This organization has been disabled.' },
    },
  },
  'Groq, a spend limit': {
    status: 400,
    body: { error: { message: 'API access is blocked.', type: 'invalid_request_error', code: 'blocked_api_access' } },
  },
  'LiteLLM, a budget': {
    status: 400,
    body: {
      error: {
        message: 'Budget has been exceeded! Current cost: 1.2, Max budget: 1.0',
        type: 'budget_exceeded',
        code: '400',
      },
    },
  },
  'new-api, a user without quota': {
    status: 403,
    body: { error: { message: '用户额度不足', type: 'new_api_error', code: 'insufficient_user_quota' } },
  },
  'one-api, a token without quota': {
    status: 403,
    body: { error: { message: '该令牌额度已用尽', type: 'one_api_error' } },
  },
  'Volcengine, an overdue account': {
    status: 403,
    body: { error: { message: 'Your account has an overdue balance.', code: 'AccountOverdueError' } },
  },
  'Alibaba, Arrearage': {
    status: 400,
    body: {
      error: {
        message: 'Access denied, please make sure your account is in good standing.',
        type: 'Arrearage',
        code: 'Arrearage',
      },
    },
  },
  'Z.ai, 1113': {
    status: 429,
    body: { error: { code: '1113', message: 'Insufficient balance or no resource package. Please recharge.' } },
  },
};

/** Quotas of hours, a day or longer that are used up, and the milliseconds until they renew if the vendor names them. */
export const QUOTA_ERRORS: Readonly<Record<string, { status: number; body: unknown; waitMs?: number }>> = {
  'Ollama, week': {
    status: 429,
    body: { error: "you've reached your weekly usage limit, please upgrade to continue" },
  },
  'Google, day': {
    status: 429,
    waitMs: 34_075,
    body: [
      {
        error: {
          code: 429,
          message:
            'You exceeded your current quota, please check your plan and billing details.\nPlease retry in 34.074824224s.',
          status: 'RESOURCE_EXHAUSTED',
          details: [
            {
              '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
              violations: [
                {
                  quotaMetric: 'generativelanguage.googleapis.com/generate_content_free_tier_requests',
                  quotaId: 'GenerateRequestsPerDayPerProjectPerModel-FreeTier',
                },
              ],
            },
            { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.074824224s' },
          ],
        },
      },
    ],
  },
  'Groq, tokens of a day': {
    status: 429,
    waitMs: 5_055_000,
    body: {
      error: {
        message:
          'Rate limit reached for model `m` in organization `org_1` service tier `on_demand` on tokens per day (TPD): Limit 100000, Used 99900, Requested 5950. Please try again in 1h24m15s. Need more tokens? Upgrade to Dev Tier.',
        type: 'tokens',
        code: 'rate_limit_exceeded',
      },
    },
  },
  'OpenRouter, free models': {
    status: 429,
    body: {
      error: { message: 'Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 requests', code: 429 },
    },
  },
  'ChatGPT, plan': {
    status: 429,
    waitMs: 7_200_000,
    body: {
      error: { type: 'usage_limit_reached', message: 'The usage limit has been reached', resets_in_seconds: 7200 },
    },
  },
  'Z.ai, 5 hours': {
    status: 429,
    body: {
      error: { code: '1308', message: 'Usage limit reached for 5 hour. Your limit will reset at 2999-01-05 12:00:00' },
    },
  },
};

/** Error bodies that name a wait, and the wait in milliseconds; undefined: it names none. */
export const NAMED_WAITS: readonly (readonly [what: string, body: unknown, waitMs: number | undefined])[] = [
  [
    'OpenAI',
    {
      error: {
        message:
          'Rate limit reached for m on requests per min (RPM): Limit 3, Used 3, Requested 1. Please try again in 7.66s. Visit https://platform.openai.com/account/rate-limits to learn more.',
      },
    },
    7_660,
  ],
  ['OpenAI, milliseconds', { error: { message: 'Rate limit reached. Please try again in 28ms.' } }, 28],
  ['OpenAI, minutes', { error: { message: 'Rate limit reached. Please try again in 6m0s.' } }, 360_000],
  ['hours', { error: { message: 'Please try again in 1h2m3.5s.' } }, 3_723_500],
  ['days', { message: 'Try again in 2 days and 3 hours' }, 183_600_000],
  ['Google, text', [{ error: { code: 429, message: 'Quota exceeded. Please retry in 34.07s.' } }], 34_070],
  [
    'Google, RetryInfo',
    {
      error: {
        code: 429,
        message: 'Slow.',
        details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '41s' }],
      },
    },
    41_000,
  ],
  [
    'Azure',
    { error: { code: '429', message: 'Requests have exceeded the token rate limit. Please retry after 26 seconds.' } },
    26_000,
  ],
  ['retry_after', { error: { message: 'Slow.', retry_after: 12.5 } }, 12_500],
  ['retry_after beside the error', { error: 'Slow.', retry_after: '30' }, 30_000],
  ['retry_after with a unit', { error: { message: 'Slow.', retry_after: '2m' } }, 120_000],
  ['retry_after_ms', { error: { message: 'Slow.', metadata: { retry_after_ms: 1500 } } }, 1_500],
  [
    'OpenRouter around Google',
    {
      error: {
        message: 'Provider returned error',
        code: 429,
        metadata: {
          raw: '{"error":{"code":429,"message":"Slow.","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"9s"}]}}',
        },
      },
    },
    9_000,
  ],
  ['minutes in words', { error: { message: 'Too many requests. Please wait 5 minutes before retrying.' } }, 300_000],
  ['31 days at most', { error: { message: 'Slow.', retry_after: 1e12 } }, 2_678_400_000],
  ['no wait', { error: { message: 'Please try again later. Limit 10 s, used 20.' } }, undefined],
  ['a wait of nothing', { error: { message: 'Please try again in 0s.' } }, undefined],
  ['another number', { error: { message: 'Retry 3 times at most; 20 messages are allowed.' } }, undefined],
  ['a negative wait', { error: { message: 'Slow.', retry_after: -3 } }, undefined],
  ['a time without a zone', { error: { message: 'Your limit will reset at 2999-01-05 12:00:00' } }, undefined],
  ['a date that is over', { error: { message: 'You will regain access on 2020-12-01 at 00:00 UTC.' } }, undefined],
];

/** Error bodies as the vendors send them, by vendor and kind. */
export const CONTEXT_ERRORS: Readonly<Record<string, { status: number; body: unknown; limit?: string }>> = {
  'lm studio, kept tokens': {
    status: 400,
    limit: '4096',
    body: {
      error:
        'The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 10247 >= n_ctx: 4096). Try to load the model with a larger context length, or provide a shorter input.',
    },
  },
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
