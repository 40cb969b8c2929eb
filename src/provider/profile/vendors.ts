import { splitWords } from '../../base/split-words.ts';
import { MAX_SCHEMA_DEPTH, PLAIN_SCHEMA, type SchemaRules } from '../../wire/tools/clean-schema.ts';
import { MISTRAL_IDS, OPENAI_CHAT_IDS } from '../../wire/tools/tool-call-repair.ts';
import { type ModelIdentity, type Profile, row, servedBy } from './rules.ts';

/** OpenAI's fields that change nothing in the text of an answer. A client sends them to any model. */
const OPENAI_ONLY = [
  'verbosity',
  'prompt_cache_retention',
  'safety_identifier',
  'service_tier',
  'logprobs',
  'top_logprobs',
];
/** Models of other vendors on Azure. */
const NOT_OPENAI = /mistral|ministral|codestral|llama|phi-|deepseek|cohere|command|grok|jais/i;

/** Servers without a parser for the model's reasoning send it as text. */
/** Calls that servers leave in the text. */
const TEXT_CALLS = 'ollama/ollama#16686, ollama/ollama#12064, NVIDIA/NemoClaw#2731';
const TAGS = 'continuedev/continue#3832, microsoft/vscode#321918 (`<think>`, `<thought>` in the text)';
const TAGS_HISTORY = 'model cards of Qwen3 ("No Thinking Content in History") and gpt-oss (openai/harmony)';

const isChat = ({ endpoint }: ModelIdentity): boolean => endpoint.format === 'chat-completions';

/** The keywords of Gemini's `Schema` (an OpenAPI subset). */
const GEMINI_SCHEMA: SchemaRules = {
  patterns: 'portable',
  references: 'inlined',
  formats: ['enum', 'date-time'],
  keywords: splitWords(`
    type format title description nullable default enum items minItems maxItems properties required minProperties
    maxProperties propertyOrdering minimum maximum minLength maxLength pattern example anyOf
  `),
  typeOfAlternatives: 'inside',
  enums: 'strings',
  typeLists: 'nullable',
  depth: MAX_SCHEMA_DEPTH,
};
const GEMINI_FIELDS =
  'ai.google.dev, "OpenAI compatibility"; leookun/cursor-byok#112 ("Unknown name \\"prompt_cache_key\\"")';
const GROQ = 'console.groq.com, "OpenAI compatibility"; zed-industries/zed#36215';
const NONE = { text: 'none', details: 'none', demanded: false } as const;
const LOCAL_PATTERNS =
  "ggml-org/llama.cpp, `json-schema-to-grammar` (\"Pattern must start with '^' and end with '$'\")";

/** Chat Completions by vendor. */
export const VENDOR_PROFILES: readonly Profile[] = [
  {
    name: 'Anthropic itself',
    covers: (model) => model.endpoint.format === 'messages' && servedBy(model, ['anthropic'], ['anthropic.com']),
    rows: [
      row(
        'attribution',
        'kept',
        'Claude Code’s line `x-anthropic-billing-header`; other servers do not get it, because it differs in each request',
        'ollama/ollama#14918, vllm-project/vllm#36829',
      ),
    ],
  },
  {
    name: 'Messages of DeepSeek, Moonshot, MiniMax, Z.ai and Alibaba',
    covers: (model) =>
      model.endpoint.format === 'messages' &&
      servedBy(
        model,
        [],
        splitWords(`
          deepseek.com moonshot.ai moonshot.cn kimi.com minimax.io minimaxi.com z.ai bigmodel.cn aliyuncs.com
        `),
      ),
    rows: [
      row(
        'serverTools',
        'text',
        'results of tools that ran at Anthropic become text, their calls are left out',
        'api-docs.deepseek.com, "Anthropic API" (`server_tool_use`: not supported)',
      ),
    ],
  },
  {
    name: 'OpenAI, and OpenAI’s models on Azure (Chat Completions)',
    covers: ({ endpoint: { kind, format }, id }) =>
      format === 'chat-completions' && (kind === 'openai' || (kind === 'azure' && !NOT_OPENAI.test(id))),
    rows: [
      row('cacheMarks', 'refused', 'no `cache_control`', 'OpenAI API reference, "Create chat completion"'),
      row(
        'ids',
        OPENAI_CHAT_IDS,
        'ids of calls: at most 40 characters',
        'OpenAI API ("string too long. Expected a string with maximum length 40")',
      ),
      row(
        'callArguments',
        'any',
        'arguments of calls in the history are any text',
        'OpenAI API reference, "Create chat completion"',
      ),
      row('systemMessages', 'anywhere', 'system messages anywhere', 'OpenAI API reference, "Create chat completion"'),
      row('roles', 'any', 'messages of one role in a row', 'OpenAI API reference, "Create chat completion"'),
      row('customTools', true, 'custom tools and a choice between some of the tools', 'OpenAI, "Function calling"'),
      row('reasoningHistory', NONE, 'no reasoning of the history', 'OpenAI API reference, "Create chat completion"'),
      row(
        'renamed',
        { max_tokens: 'max_completion_tokens' },
        '`max_tokens` becomes `max_completion_tokens`',
        'OpenAI API reference, "Create chat completion"',
      ),
      row('refused', ['top_k'], 'no `top_k`', 'OpenAI API ("Unrecognized request argument supplied: top_k")'),
      row(
        'needs',
        { metadata: 'store' },
        '`metadata` only with `store`',
        'QwenLM/qwen-code#243 ("only allowed when \'store\' is enabled")',
      ),
      row('stops', 4, 'at most 4 stop sequences', 'OpenAI API reference, `stop`'),
      row(
        'schema',
        { ...PLAIN_SCHEMA, patterns: 'portable' },
        'patterns without `\\p{…}` and look-around; others are moved to the description',
        'raine/claude-code-proxy#141',
      ),
    ],
  },
  {
    name: 'Models of other vendors on Azure',
    covers: ({ endpoint: { kind, format }, id }) =>
      format === 'chat-completions' && kind === 'azure' && NOT_OPENAI.test(id),
    rows: [
      row(
        'refused',
        [...OPENAI_ONLY, 'prompt_cache_key', 'top_k'],
        'no `verbosity`, `prompt_cache_key`, `prompt_cache_retention`, `safety_identifier`, `service_tier`, `logprobs`, `top_k`',
        'learn.microsoft.com, "Model inference API" (`extra-parameters`)',
      ),
      row('ids', OPENAI_CHAT_IDS, 'ids of calls: at most 40 characters', 'OpenAI API, see above'),
      row(
        'reasoningHistory',
        NONE,
        'no reasoning of the history',
        'learn.microsoft.com, "Model inference API" (`extra-parameters`)',
      ),
    ],
  },
  {
    name: 'Mistral',
    covers: (model) => isChat(model) && model.endpoint.kind === 'mistral',
    rows: [
      row(
        'userAfterResults',
        'refused',
        'the message “Done.” of the assistant between results of tools and a user message',
        "Mistral API (\"Unexpected role 'user' after role 'tool'\")",
      ),
      row(
        'ids',
        MISTRAL_IDS,
        'ids of calls: nine letters and digits',
        'docs.mistral.ai ("must be a-z, A-Z, 0-9, with a length of 9")',
      ),
      row(
        'systemMessages',
        'first-not-after-results',
        'one system message at the start; one after a tool result is moved there',
        "Mistral API (\"Unexpected role 'user' after role 'tool'\")",
      ),
      row(
        'refused',
        [...OPENAI_ONLY, 'stream_options', 'user', 'store', 'top_k'],
        'no `verbosity`, `prompt_cache_retention`, `safety_identifier`, `service_tier`, `logprobs`, `stream_options`, `user`, `store`, `top_k`',
        'docs.mistral.ai, "Chat completion" (422 for unknown fields)',
      ),
      row('reasoningField', 'none', 'no reasoning effort', 'docs.mistral.ai, "Chat completion"'),
      row(
        'renamed',
        { max_completion_tokens: 'max_tokens', seed: 'random_seed' },
        '`seed` becomes `random_seed`',
        'docs.mistral.ai, "Chat completion"',
      ),
      row('nulls', 'refused', 'no fields with `null`', 'docs.mistral.ai, "Chat completion"'),
      row('requiredChoice', 'any', '`tool_choice: required` becomes `any`', 'docs.mistral.ai, "Function calling"'),
      row('refusedInMessages', ['name'], 'no `name` of messages', 'docs.mistral.ai, "Chat completion"'),
      row('refusedInTools', ['strict'], 'no `strict` of tools', 'docs.mistral.ai, "Function calling"'),
      row('reasoningHistory', NONE, 'no reasoning of the history', 'docs.mistral.ai, "Chat completion"'),
      row('cacheMarks', 'refused', 'no `cache_control`', 'docs.mistral.ai, "Chat completion" (422 for unknown fields)'),
      row(
        'blankText',
        'refused',
        'no messages without content',
        'Mistral API ("Assistant message must have either content or tool_calls, but not none")',
      ),
      row(
        'prefill',
        'refused',
        'a conversation that ends with the assistant gets the user message “Continue.”',
        'Mistral API ("Expected last role User or Tool (or Assistant with prefix True)")',
      ),
    ],
  },
  {
    name: 'Inception',
    covers: (model) => isChat(model) && model.endpoint.kind === 'inception',
    rows: [
      row(
        'refused',
        [...OPENAI_ONLY, 'prompt_cache_key', 'top_k'],
        'no `verbosity`, `prompt_cache_key`, `prompt_cache_retention`, `safety_identifier`, `service_tier`, `logprobs`, `top_k`',
        'docs.inceptionlabs.ai, "Chat completions"',
      ),
      row('reasoningHistory', NONE, 'no reasoning of the history', 'docs.inceptionlabs.ai, "Chat completions"'),
    ],
  },
  {
    name: 'DeepSeek',
    covers: (model) =>
      isChat(model) && (model.endpoint.kind === 'deepseek' || servedBy(model, ['deepseek'], ['deepseek.com'])),
    rows: [
      row('cacheMarks', 'refused', 'no `cache_control`', 'api-docs.deepseek.com, "Context caching" (automatic)'),
      row(
        'reasoningHistory',
        { text: 'with-calls', details: 'none', demanded: true },
        '`reasoning_content` with each tool call while the model reasons, at least an empty text; elsewhere none',
        'api-docs.deepseek.com, "Thinking mode"; earendil-works/pi#3636',
      ),
      row('refused', ['top_k'], 'no `top_k`', 'api-docs.deepseek.com, "Create chat completion"'),
      row(
        'forcedChoice',
        'without-reasoning',
        'a demanded tool call becomes `auto` while the model reasons',
        'DeepSeek API ("deepseek-reasoner does not support this tool_choice")',
      ),
    ],
  },
  {
    name: 'Moonshot (Kimi)',
    covers: (model) =>
      isChat(model) &&
      (servedBy(
        model,
        ['moonshotai', 'moonshotai-cn', 'moonshot', 'kimi', 'kimi-for-coding'],
        ['moonshot.ai', 'moonshot.cn', 'kimi.com'],
      ) ||
        (model.endpoint.kind === 'openai-compatible' && /^(?:moonshotai\/)?kimi-/i.test(model.id))),
    rows: [
      row('cacheMarks', 'refused', 'no `cache_control`', 'platform.moonshot.ai, "Context caching" (automatic)'),
      row(
        'reasoningHistory',
        { text: 'kept', details: 'none', demanded: true },
        '`reasoning_content` with each tool call while the model reasons, at least an empty text',
        'bytedance/deer-flow#3043 ("reasoning_content is missing in assistant tool call message")',
      ),
      row(
        'schema',
        { ...PLAIN_SCHEMA, references: 'inlined', typeOfAlternatives: 'inside' },
        'no `$ref`, no lists in `items`, no `type` beside `anyOf`',
        'lidge-jun/opencodex#2673, anomalyco/opencode#39995, MoonshotAI/kimi-code#2661',
      ),
      row(
        'blankText',
        'refused',
        'no messages without content',
        'Moonshot API ("the message at position 1 with role \'assistant\' must not be empty")',
      ),
      row(
        'forcedChoice',
        'without-reasoning',
        'a demanded tool call becomes `auto` while the model reasons',
        'Moonshot API ("tool_choice \'required\' is incompatible with thinking enabled")',
      ),
      row(
        'refusedInTools',
        ['strict'],
        'no `strict` of tools',
        'platform.moonshot.ai, "Tool use" (Moonshot flavored JSON schema)',
      ),
    ],
  },
  {
    name: 'Google (Gemini’s OpenAI address)',
    covers: (model) =>
      isChat(model) &&
      (servedBy(
        model,
        ['google', 'google-vertex', 'gemini'],
        ['generativelanguage.googleapis.com', 'aiplatform.googleapis.com'],
      ) ||
        (model.endpoint.kind === 'openai-compatible' && /^(?:models\/|google\/)?gemini-/i.test(model.id))),
    rows: [
      row(
        'thoughtSignatures',
        'kept',
        '`extra_content.google.thought_signature` of tool calls returns',
        'ai.google.dev, "Thought signatures"',
      ),
      row(
        'schema',
        GEMINI_SCHEMA,
        'keywords of the OpenAPI subset; `$ref` is replaced by its schema, other keywords are moved to the description',
        'ai.google.dev, "Function calling"; zed-industries/zed#44875 ("Unknown name \\"const\\"")',
      ),
      row(
        'refused',
        [
          ...OPENAI_ONLY,
          'prompt_cache_key',
          'metadata',
          'store',
          'top_k',
          'user',
          'frequency_penalty',
          'presence_penalty',
          'seed',
          'parallel_tool_calls',
          'logit_bias',
        ],
        'no `metadata`, `store`, `user`, `seed`, penalties, `top_k`, `parallel_tool_calls`, `prompt_cache_key` and other fields of OpenAI',
        GEMINI_FIELDS,
      ),
      row('refusedInTools', ['strict'], 'no `strict` of tools', GEMINI_FIELDS),
      row('reasoningHistory', NONE, 'no reasoning of the history but the thought signatures', GEMINI_FIELDS),
      row('cacheMarks', 'refused', 'no `cache_control`', GEMINI_FIELDS),
      row('blankText', 'refused', 'no messages without content', 'Gemini API ("contents.parts must not be empty")'),
      row(
        'opening',
        'user',
        'the first message is the user’s',
        'Gemini API ("function call turn comes immediately after a user turn")',
      ),
      row(
        'prefill',
        'refused',
        'a conversation that ends with the assistant gets the user message “Continue.”',
        'Gemini API ("ensure that multiturn requests end with a user role or a function response")',
      ),
      row(
        'efforts',
        ['minimal', 'low', 'medium', 'high'],
        'efforts `minimal` to `high`',
        'ai.google.dev, "OpenAI compatibility", "Thinking"',
      ),
      row('stops', 5, 'at most 5 stop sequences', 'ai.google.dev, `GenerationConfig.stopSequences`'),
    ],
  },
  {
    name: 'Groq, Cerebras and NVIDIA',
    covers: (model) =>
      isChat(model) && servedBy(model, ['groq', 'cerebras', 'nvidia'], ['groq.com', 'cerebras.ai', 'nvidia.com']),
    rows: [
      row(
        'refused',
        [...OPENAI_ONLY, 'prompt_cache_key', 'top_k', 'metadata', 'store', 'logit_bias'],
        'no `verbosity`, `prompt_cache_key`, `prompt_cache_retention`, `safety_identifier`, `service_tier`, `logprobs`, `metadata`, `store`, `top_k`',
        `${GROQ}; anomalyco/opencode#45113`,
      ),
      row('refusedInMessages', ['name'], 'no `name` of messages', GROQ),
      row(
        'reasoningHistory',
        NONE,
        'no reasoning of the history',
        'Groq API ("property \'reasoning_content\' is unsupported")',
      ),
      row('cacheMarks', 'refused', 'no `cache_control`', 'Groq API ("property \'cache_control\' is unsupported")'),
      row('stops', 4, 'at most 4 stop sequences', 'console.groq.com, "API reference"'),
    ],
  },
  {
    name: 'xAI',
    covers: (model) => isChat(model) && servedBy(model, ['xai'], ['x.ai']),
    rows: [
      row('cacheMarks', 'refused', 'no `cache_control`', 'docs.x.ai, "Prompt caching" (automatic)'),
      row(
        'refused',
        [
          'top_k',
          'metadata',
          'verbosity',
          'prompt_cache_key',
          'prompt_cache_retention',
          'safety_identifier',
          'service_tier',
          'presence_penalty',
          'frequency_penalty',
          'stop',
        ],
        'no `stop`, penalties, `top_k`, `metadata`, `verbosity`, `service_tier`',
        'docs.x.ai, "Reasoning"; lidge-jun/opencodex#5278 ("does not support parameter stop")',
      ),
      row('reasoningHistory', NONE, 'no reasoning of the history', 'docs.x.ai, "Chat completions"'),
    ],
  },
  {
    name: 'Z.ai (Zhipu)',
    covers: (model) =>
      isChat(model) &&
      servedBy(model, ['zai', 'zai-coding-plan', 'zhipuai', 'zhipuai-coding-plan'], ['z.ai', 'bigmodel.cn']),
    rows: [
      row('cacheMarks', 'refused', 'no `cache_control`', 'docs.z.ai, "Context caching" (automatic)'),
      row(
        'requiredChoice',
        'auto',
        'a demanded tool call becomes `auto`, with only the named tool',
        'vectorize-io/hindsight#4246 ("Tool choice must be auto")',
      ),
      row('stops', 1, 'one stop sequence', 'docs.z.ai, "Chat completion", `stop`'),
      row(
        'refused',
        ['top_k', ...OPENAI_ONLY, 'prompt_cache_key', 'metadata', 'user', 'parallel_tool_calls'],
        'no fields of OpenAI that Z.ai does not list',
        'docs.z.ai, "Chat completion"',
      ),
    ],
  },
  {
    name: 'OpenRouter',
    covers: (model) => isChat(model) && model.endpoint.kind === 'openrouter',
    rows: [
      row(
        'reasoningHistory',
        { text: 'kept', details: 'any', demanded: false },
        '`reasoning_details`, also of Claude and OpenAI, that it issued',
        'openrouter.ai, "Reasoning tokens"',
      ),
      row('reasoningField', 'reasoning', 'the effort in `reasoning`', 'openrouter.ai, "Reasoning tokens"'),
      row('cacheMarks', 'kept', '`cache_control` on parts', 'openrouter.ai, "Prompt caching"'),
    ],
  },
  {
    name: 'Another Svc gateway',
    covers: (model) => isChat(model) && model.endpoint.kind === 'svc',
    rows: [
      row(
        'reasoningHistory',
        { text: 'kept', details: 'any', demanded: false },
        '`reasoning_details`, also of Claude and OpenAI, that it issued',
        'this page',
      ),
      row('thoughtSignatures', 'kept', '`extra_content` of tool calls returns', 'this page'),
      row('systemMessages', 'anywhere', 'system messages anywhere: that gateway places them', 'this page'),
      row('roles', 'any', 'messages of one role in a row', 'this page'),
      row('cacheMarks', 'kept', '`cache_control` on parts', 'this page'),
      row('callArguments', 'any', 'arguments of calls in the history are any text', 'this page'),
    ],
  },
  {
    name: 'llama.cpp and LM Studio',
    covers: (model) => isChat(model) && (model.endpoint.kind === 'llamacpp' || model.endpoint.kind === 'lmstudio'),
    rows: [
      row(
        'schema',
        { ...PLAIN_SCHEMA, patterns: 'anchored' },
        'patterns that begin with `^` and end with `$`; others are moved to the description',
        LOCAL_PATTERNS,
      ),
      row('reasoningTags', 'split', 'reasoning in tags at the start of an answer is split from its text', TAGS),
      row('toolCallsInText', true, 'tool calls in the text of an answer become calls', TEXT_CALLS),
      row(
        'reasoningHistory',
        { text: 'with-calls', details: 'own', demanded: false },
        'reasoning of the history only with tool calls',
        TAGS_HISTORY,
      ),
    ],
  },
  {
    name: 'Ollama',
    covers: (model) => isChat(model) && model.endpoint.kind === 'ollama',
    rows: [
      row(
        'efforts',
        ['none', 'low', 'medium', 'high'],
        'efforts `none` to `high`, or those that the server states for the model',
        'ollama/ollama#17141, #18473 ("invalid reasoning value: \'minimal\'")',
      ),
    ],
  },
  {
    name: 'Ollama and vLLM',
    covers: (model) => isChat(model) && (model.endpoint.kind === 'ollama' || model.endpoint.kind === 'vllm'),
    rows: [
      row(
        'schema',
        { ...PLAIN_SCHEMA, patterns: 'portable' },
        'patterns without `\\p{…}` and look-around; others are moved to the description',
        'vllm-project/vllm, "Structured outputs" (xgrammar)',
      ),
      row('reasoningTags', 'split', 'reasoning in tags at the start of an answer is split from its text', TAGS),
      row('toolCallsInText', true, 'tool calls in the text of an answer become calls', TEXT_CALLS),
      row(
        'reasoningHistory',
        { text: 'with-calls', details: 'own', demanded: false },
        'reasoning of the history only with tool calls',
        TAGS_HISTORY,
      ),
    ],
  },
];
