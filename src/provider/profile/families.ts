import { ownEntry } from '../../base/json.ts';
import { isLocalHost } from '../../base/public-address.ts';
import { ADAPTIVE_SINCE, BOUND_SINCE, claudeFamily, claudeVersion } from '../../wire/messages/claude-version.ts';
import { ANTHROPIC_IDS, MISTRAL_IDS } from '../../wire/tools/tool-call-repair.ts';
import { type ModelIdentity, type Profile, row, servedBy } from './rules.ts';

/** The last part of an id: `openai/gpt-5` is `gpt-5`. */
const named = (id: string, family: RegExp): boolean => family.test(id.slice(id.lastIndexOf('/') + 1));

/** OpenAI's reasoning models. */
const OPENAI_REASONING = /^(?:o[1-9](?:-|$)|gpt-(?:5|6)(?!.*-chat))/i;

/** Whether the Claude model is one of a family, of this version in tenths or a later one. */
function isClaude(id: string, since: Readonly<Record<string, number>>): boolean {
  const first = ownEntry(since, claudeFamily(id) ?? '');
  return first !== undefined && (claudeVersion(id) ?? 0) >= first;
}

/** Claude models that always think. */
const ALWAYS_THINKING = { fable: 50, mythos: 50, opus: 55 };
/** Claude models that refuse a tool choice that demands a call. */
const CHOOSING = { fable: 51, mythos: 51, opus: 55, sonnet: 55 };

/** Whether the server may send the model's text as it is, with its reasoning. */
function isUnparsed({ format, kind }: ModelIdentity['endpoint']): boolean {
  return format === 'chat-completions' && UNPARSED.includes(kind);
}

const UNPARSED = ['openai-compatible', 'ollama', 'lmstudio', 'llamacpp', 'vllm'];

/** Model families, whoever serves them. */
export const FAMILY_PROFILES: readonly Profile[] = [
  {
    name: 'Claude 4.5 and earlier',
    covers: ({ endpoint, id }) =>
      endpoint.format === 'messages' && (claudeVersion(id) ?? ADAPTIVE_SINCE) < ADAPTIVE_SINCE,
    rows: [
      row(
        'thinking',
        'budget',
        'adaptive thinking becomes thinking with a budget, and the effort is left out unless the catalog lists efforts',
        'mnfst/llm-gateway#1928, askalf/dario#273 ("adaptive thinking is not supported on this model")',
      ),
    ],
  },
  {
    name: 'Claude 4.6 and later',
    covers: ({ endpoint, id }) => endpoint.format === 'messages' && (claudeVersion(id) ?? 0) >= ADAPTIVE_SINCE,
    rows: [
      row(
        'prefill',
        'refused',
        'a conversation that ends with the assistant gets the user message “Continue.”',
        'Kilo-Org/kilocode#8260 ("does not support assistant message prefill")',
      ),
    ],
  },
  {
    name: 'Claude 4.7 and later',
    covers: ({ endpoint, id }) => endpoint.format === 'messages' && (claudeVersion(id) ?? 0) > ADAPTIVE_SINCE,
    rows: [
      row(
        'thinking',
        'adaptive',
        'thinking with a budget becomes adaptive thinking with an effort',
        'elizaOS/eliza#16149, tontinton/maki#331 ("`thinking.type.enabled` is not supported for this model")',
      ),
      row(
        'refused',
        ['temperature', 'top_p', 'top_k'],
        'no `temperature`, `top_p` and `top_k`',
        'Anthropic, "Migrating to Claude Opus 4.7" (sampling parameters)',
      ),
    ],
  },
  {
    name: 'Claude 4.8 and later',
    covers: ({ endpoint, id }) => endpoint.format === 'messages' && (claudeVersion(id) ?? 0) >= 48,
    rows: [
      row(
        'systemMessages',
        'anywhere',
        'a system message within the messages of a forwarded request stays there',
        'Anthropic, "Mid-conversation system messages"; anomalyco/opencode#43180',
      ),
    ],
  },
  {
    name: 'Claude Opus 5 and Haiku 5.5',
    covers: ({ endpoint, id }) => endpoint.format === 'messages' && isClaude(id, { opus: 50, haiku: 55 }),
    rows: [
      row(
        'thinkingOff',
        'up-to-high',
        'without thinking, an effort above `high` becomes `high`',
        'Anthropic, "Migrating to Claude Opus 5"; elgorro/aiquila#410',
      ),
    ],
  },
  {
    name: 'Claude Sonnet 5.5 and later',
    covers: ({ endpoint, id }) => endpoint.format === 'messages' && isClaude(id, { sonnet: 55 }),
    rows: [
      row(
        'thinkingOff',
        'between-tools',
        'thinking is turned off by the type `between_tools`',
        'Anthropic, "What’s new in Claude Sonnet 5.5" (up-front thinking)',
      ),
    ],
  },
  {
    name: 'Claude Fable 5, Mythos 5, Opus 5.5 and later (Messages)',
    covers: ({ endpoint, id }) => endpoint.format === 'messages' && isClaude(id, ALWAYS_THINKING),
    rows: [
      row(
        'thinkingOff',
        'lowest-effort',
        'in place of no thinking, the lowest effort',
        'Anthropic, "What’s new in Claude Opus 5.5" ("`thinking.type.disabled` is not supported for this model"); stdapi-ai/stdapi.ai#284',
      ),
    ],
  },
  {
    name: 'Claude Fable 5.1, Mythos 5.1, Opus 5.5, Sonnet 5.5 and later',
    covers: ({ endpoint, id }) =>
      (endpoint.format === 'messages' || endpoint.format === 'chat-completions') && isClaude(id, CHOOSING),
    rows: [
      row(
        'requiredChoice',
        'auto',
        'a tool choice that demands a call becomes `auto`; of a translated request, only a named tool remains',
        'Anthropic, "What’s new in Claude Opus 5.5" ("`tool_choice`: type `tool` and `any` are not supported for this model"); UKGovernmentBEIS/inspect_ai#5176',
      ),
    ],
  },
  {
    name: 'Claude 5.1 and later (Messages)',
    covers: ({ endpoint, id }) => endpoint.format === 'messages' && (claudeVersion(id) ?? 0) >= BOUND_SINCE,
    rows: [
      row(
        'narration',
        'thinking',
        'a translated request with tools requests the text of thinking: it has what the model writes between calls',
        'Anthropic, "What’s new in Claude Opus 5.5" (text between tool calls); anthropics/claude-code#74558',
      ),
    ],
  },
  {
    name: 'Other models than Claude (Messages)',
    covers: (model) =>
      model.endpoint.format === 'messages' &&
      !/claude/i.test(model.id) &&
      !servedBy(model, ['anthropic'], ['anthropic.com']),
    rows: [
      row(
        'cacheLifetimes',
        'refused',
        '`cache_control` without `ttl`',
        'BerriAI/litellm#39355 ("`cache_control.ttl: 1h` is not supported")',
      ),
    ],
  },
  {
    name: 'Claude (Chat Completions)',
    covers: ({ endpoint, id }) => endpoint.format === 'chat-completions' && named(id, /claude/i),
    rows: [
      row(
        'ids',
        ANTHROPIC_IDS,
        'ids of calls: letters, digits, `_` and `-`, different over the whole conversation',
        'openclaw/openclaw#12277, maximhq/bifrost#5097 ("String should match pattern")',
      ),
      row(
        'blankText',
        'refused',
        'blank texts and messages without content are left out',
        'anomalyco/opencode#31259 ("text content blocks must contain non-whitespace text")',
      ),
      row('cacheMarks', 'kept', '`cache_control` on parts', 'HolmesGPT/holmesgpt#1684, BerriAI/litellm#33687'),
    ],
  },
  {
    name: 'Claude Fable 5, Mythos 5, Opus 5.5 and later (Chat Completions)',
    covers: ({ endpoint, id }) => endpoint.format === 'chat-completions' && isClaude(id, ALWAYS_THINKING),
    rows: [
      row(
        'efforts',
        ['low', 'medium', 'high', 'xhigh', 'max'],
        'efforts `low` to `max`, unless the catalog lists others: thinking can’t be turned off',
        'openrouter.ai, "Opus 5.5" ("Turning thinking off … is rejected"); Anthropic, "Effort"',
      ),
    ],
  },
  {
    name: 'Mistral’s models (Chat Completions)',
    covers: ({ endpoint, id }) =>
      endpoint.format === 'chat-completions' &&
      named(id, /^(?:mistral|ministral|codestral|devstral|magistral|mixtral|pixtral)/i),
    rows: [
      row(
        'ids',
        MISTRAL_IDS,
        'ids of calls: nine letters and digits',
        'openclaw/openclaw#47714 (OpenRouter), mistral-common (vLLM)',
      ),
      row(
        'userAfterResults',
        'refused',
        'the message “Done.” of the assistant between results of tools and a user message',
        "NousResearch/hermes-agent#20154, RooCodeInc/Roo-Code#10684 (\"Unexpected role 'user' after role 'tool'\")",
      ),
      row(
        'systemMessages',
        'first-not-after-results',
        'one system message at the start; one after a tool result is moved there',
        'NousResearch/hermes-agent#20154',
      ),
    ],
  },
  {
    name: 'OpenAI’s reasoning models',
    covers: ({ endpoint, id }) =>
      (endpoint.kind === 'openai' || endpoint.kind === 'azure') && named(id, OPENAI_REASONING),
    rows: [
      row(
        'refused',
        ['top_k', 'frequency_penalty', 'presence_penalty', 'stop', 'logit_bias'],
        'no penalties, `stop`, `logit_bias`, `top_k`',
        'OpenAI, "Reasoning models" ("Unsupported parameter: \'stop\' is not supported with this model")',
      ),
      row(
        'sampling',
        'without-reasoning',
        '`temperature`, `top_p` and `logprobs` only without reasoning',
        'OpenAI, "Using GPT-5.2" ("GPT-5.2 parameter compatibility")',
      ),
    ],
  },
  {
    name: 'GPT-5.6 and later (Responses)',
    covers: ({ endpoint, id }) => endpoint.kind === 'openai' && named(id, /^gpt-(?:5\.[6-9]|[6-9])/i),
    rows: [
      row(
        'cacheKey',
        'session',
        'the session that the client names is `prompt_cache_key`, unless it sends one',
        'OpenAI, "Prompt caching" (required for reliable matches from GPT-5.6); BerriAI/litellm#36091',
      ),
    ],
  },
  {
    name: 'Gemini 3 and later',
    covers: ({ endpoint, id }) => endpoint.format === 'chat-completions' && named(id, /^gemini-(?:[3-9]|\d\d)/i),
    rows: [
      row(
        'thoughtSignatures',
        'required',
        'the first tool call of an answer needs a thought signature; one that is missing is replaced by `skip_thought_signature_validator`',
        'ai.google.dev, "Thought signatures"; langgenius/dify-official-plugins#2088',
      ),
    ],
  },
  {
    name: 'Models with reasoning in their text',
    covers: ({ endpoint, id }) => isUnparsed(endpoint) && named(id, /^(?:magistral|qwen3|glm-4\.[5-9]|kimi-vl)/i),
    rows: [
      row(
        'reasoningTags',
        'split',
        'reasoning in tags at the start of an answer is split from its text',
        'model cards of Qwen3 and Magistral (`[THINK]`)',
      ),
    ],
  },
  {
    name: 'Models that write calls into their text, on a server in the own network',
    covers: ({ endpoint, id }) =>
      isUnparsed(endpoint) &&
      URL.canParse(endpoint.baseURL ?? '') &&
      isLocalHost(new URL(endpoint.baseURL ?? '').hostname) &&
      named(id, /^(?:qwen|qwq|hermes|mistral|ministral|devstral|deepseek|glm|llama|granite|phi|gpt-oss|minimax|kimi)/i),
    rows: [
      row(
        'toolCallsInText',
        true,
        'tool calls in the text of an answer become calls',
        'ollama/ollama#16686, NVIDIA/NemoClaw#2731, NousResearch/hermes-agent#87900',
      ),
    ],
  },
  {
    name: 'Models whose template starts the reasoning',
    covers: ({ endpoint, id }) =>
      isUnparsed(endpoint) && named(id, /deepseek-r1|^qwq|^qwen3.*-thinking|^(?:nemotron|llama).*-reason/i),
    rows: [
      row(
        'reasoningTags',
        'starts-inside',
        'the opening tag may be missing: an answer is kept until the closing tag',
        'model cards of DeepSeek-R1 and Qwen3-Thinking ("the default chat template automatically includes `<think>`")',
      ),
    ],
  },
  {
    name: 'gpt-oss',
    covers: ({ id }) => named(id, /^gpt-oss/i),
    rows: [row('efforts', ['low', 'medium', 'high'], 'efforts `low` to `high`', 'openai/gpt-oss, "Reasoning effort"')],
  },
  {
    name: 'gpt-oss on other servers',
    covers: ({ endpoint, id }) => isUnparsed(endpoint) && named(id, /gpt-oss/i),
    rows: [
      row(
        'reasoningTags',
        'channels',
        'channels at the start of an answer are split from its text, also without special tokens (`analysis…assistantfinal…`)',
        'openai/harmony; sgl-project/sglang#9190',
      ),
    ],
  },
];
