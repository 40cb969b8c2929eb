/** The error of a vendor that an account has no funds or that its limit for a long time is used up. */
interface AccountLimit {
  /**
   * `funds`: a person must add funds or raise a limit. `quota`: a quota of hours, a day or longer is used up, and it
   * renews by itself.
   */
  readonly kind: 'funds' | 'quota';
  /** Values of the error's `code` or `type`. */
  readonly codes?: readonly string[];
  /** Words of the message, whatever the status. */
  readonly words?: RegExp;
  /** Where the vendor's code or words are documented or reported. */
  readonly source: string;
}

/** Vendors use 400, 402, 403, 412 and 429 for these, so the words decide. A 402 is always a lack of funds. */
const ACCOUNT_LIMITS: readonly AccountLimit[] = [
  {
    kind: 'funds',
    codes: ['insufficient_quota', 'billing_not_active', 'billing_hard_limit_reached'],
    source: 'https://platform.openai.com/docs/guides/error-codes',
  },
  {
    kind: 'funds',
    codes: ['exceeded_current_quota_error'],
    source: 'https://platform.moonshot.ai/docs/api/chat#error-description',
  },
  { kind: 'funds', codes: ['billing_error'], source: 'https://docs.claude.com/en/api/errors' },
  {
    kind: 'funds',
    words: /your credit balance is too low/i,
    source: 'https://github.com/BerriAI/litellm/issues/37592',
  },
  {
    kind: 'funds',
    words: /reached your specified (?:\w{1,20} )?API usage limits/i,
    source: 'https://github.com/BerriAI/litellm/issues/37592 (Anthropic, 400)',
  },
  {
    kind: 'funds',
    words: /used all available credits or reached its monthly spending limit/i,
    source: 'https://github.com/continuedev/continue/issues/10373 (xAI, 403 and 429)',
  },
  {
    kind: 'funds',
    words: /is suspended, possibly due to reaching the monthly spending limit/i,
    source: 'https://github.com/amd/gaia/issues/3766 (Fireworks, 412)',
  },
  {
    kind: 'funds',
    codes: ['Arrearage'],
    source: 'https://www.alibabacloud.com/help/en/model-studio/error-code (400)',
  },
  {
    kind: 'funds',
    codes: ['1113'],
    words: /insufficient (?:account )?balance|account balance is (?:insufficient|not enough)/i,
    source: 'https://docs.z.ai/api-reference/api-code (429); https://api-docs.deepseek.com/quick_start/error_codes',
  },
  {
    kind: 'funds',
    words: /^this organization has been disabled/i,
    source: 'https://github.com/anthropics/claude-code/issues/8327 (Anthropic, 400)',
  },
  {
    kind: 'funds',
    codes: ['organization_restricted', 'blocked_api_access'],
    source: 'https://console.groq.com/docs/spend-limits (400)',
  },
  {
    kind: 'funds',
    codes: ['budget_exceeded'],
    words: /^budget has been exceeded|^exceededbudget:/i,
    source: 'https://docs.litellm.ai/docs/proxy/users (400 and 429)',
  },
  {
    kind: 'funds',
    codes: ['insufficient_user_quota', 'pre_consume_token_quota_failed'],
    words: /令牌额度已用尽|用户额度不足/,
    source: 'https://github.com/Alishahryar1/free-claude-code/issues/1543 (new-api and one-api, 403)',
  },
  {
    kind: 'funds',
    codes: ['AccountOverdueError', 'AllocationQuota.FreeTierOnly'],
    source:
      'https://www.volcengine.com/docs/82379/1299023; https://www.alibabacloud.com/help/en/model-studio/error-code (403)',
  },
  {
    kind: 'quota',
    codes: ['1308', '1310'],
    words: /usage limit reached for \d+ hour|weekly\/monthly limit exhausted/i,
    source: 'https://docs.z.ai/api-reference/api-code (429)',
  },
  {
    kind: 'quota',
    words: /reached your (?:hourly|daily|weekly|monthly|session) (?:usage|rate) limit/i,
    source: 'https://github.com/perminder-klair/subwave/issues/440 (Ollama, 429); github/copilot-cli/issues/2742',
  },
  {
    kind: 'quota',
    codes: ['usage_limit_reached'],
    source: 'https://github.com/openai/codex, codex-api (ChatGPT plans, 429 with resets_at)',
  },
  {
    kind: 'quota',
    words: /\bon (?:requests|tokens) per day\b|\b(?:requests|tokens) per day limit exceeded/i,
    source: 'https://console.groq.com/docs/rate-limits; https://inference-docs.cerebras.ai/support/rate-limits',
  },
  {
    kind: 'quota',
    words: /rate limit exceeded: free-models-per-day/i,
    source: 'https://github.com/cline/cline/issues/5301 (OpenRouter, 429)',
  },
  {
    kind: 'quota',
    words: /(?:Requests|Tokens?|Count|Model|Project|User)Per(?:Day|Week|Month)|\brequests per day per\b/i,
    source: 'https://github.com/google-gemini/gemini-cli/issues/8437 (Google, 429: quotaId)',
  },
];

/** The part of an error about the account. `texts`: the vendor's message and names of quotas. */
export function accountLimit(
  codes: readonly (string | undefined)[],
  texts: readonly string[],
): AccountLimit['kind'] | undefined {
  const found = ACCOUNT_LIMITS.find(
    (limit) =>
      limit.codes?.some((code) => codes.includes(code)) === true ||
      (limit.words !== undefined && texts.some((text) => limit.words?.test(text) === true)),
  );
  return found?.kind;
}
