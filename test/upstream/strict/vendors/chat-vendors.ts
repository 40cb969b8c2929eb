import { arrayOrEmpty, isObject, objectOrEmpty } from '../../../../src/base/json.ts';
import {
  alternation,
  calls,
  callsOf,
  chat,
  efforts,
  emptyAssistant,
  fields,
  lastFromUser,
  lateSystem,
  markAnywhere,
  members,
  messagesOf,
  NOT_REASONING,
  outputLimit,
  pairs,
  parsedArguments,
  property,
  type StrictVendor,
  schema,
  schemaNulls,
  USER,
  type VendorRefusal,
  withCall,
  withTool,
} from './vendor-refusal.ts';

const OPENAI = 'platform.openai.com, "Create chat completion"';
/** Python's `re` has no Unicode properties and no named groups of JavaScript. */
const UNREADABLE = /\\[pPk]|\(\?(?!:)|\\u\{/;
const pattern = (source: string): VendorRefusal =>
  schema(
    'a pattern that the engine can’t read',
    source,
    (each) => typeof each.pattern === 'string' && UNREADABLE.test(each.pattern) && `'${each.pattern}' is not a 'regex'`,
    property({ type: 'string', pattern: '^\\p{L}$' }),
  );
const stops = (most: number, source: string): VendorRefusal => ({
  what: `more than ${most} stop sequences`,
  source,
  refuses: (body) => (arrayOrEmpty(body.stop).length > most ? `Invalid 'stop': at most ${most}` : undefined),
  example: chat({ stop: [...'abcdefgh'] }),
});
const unrecognized = (name: string) => `Unrecognized request argument supplied: ${name}`;
const longId = (most: number, source: string): VendorRefusal =>
  calls(
    `an id of more than ${most} characters`,
    source,
    ({ id }) => String(id).length > most && `string too long. Expected a string with maximum length ${most}`,
    withCall({ id: 'c'.repeat(70) }, {}, { tool_call_id: 'c'.repeat(70) }),
  );
const arrayItems = (source: string): VendorRefusal =>
  schema(
    'an array without items',
    source,
    (each) => each.type === 'array' && each.items === undefined && 'array schema missing items',
    property({ type: 'array' }),
  );
const topProperties: VendorRefusal = {
  what: 'a tool without properties',
  source: 'OpenAI API ("object schema missing properties")',
  refuses: (body) =>
    arrayOrEmpty(body.tools).some((tool) => {
      const { parameters } = objectOrEmpty(objectOrEmpty(tool).function);
      return isObject(parameters) && !isObject(parameters.properties);
    })
      ? 'In context=(), object schema missing properties.'
      : undefined,
  example: withTool({ type: 'object' }),
};
const topChoice: VendorRefusal = {
  what: 'a choice at the top of a schema',
  source: 'OpenAI, "Function calling"',
  refuses: (body) =>
    arrayOrEmpty(body.tools).some((tool) => {
      const { parameters } = objectOrEmpty(objectOrEmpty(tool).function);
      return ['anyOf', 'oneOf', 'allOf', 'enum', 'not'].some((key) => key in objectOrEmpty(parameters));
    })
      ? "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level."
      : undefined,
  example: withTool({ type: 'object', properties: {}, anyOf: [{ type: 'object' }] }),
};
const choiceWithoutTools = (source: string): VendorRefusal => ({
  what: 'tool_choice without tools',
  source,
  refuses: (body) =>
    body.tool_choice !== undefined && arrayOrEmpty(body.tools).length === 0
      ? "'tool_choice' is only allowed when 'tools' are specified."
      : undefined,
  example: chat({ tool_choice: 'auto' }),
});
const streamOptions = (source: string): VendorRefusal => ({
  what: 'stream_options without stream',
  source,
  refuses: (body) =>
    body.stream_options !== undefined && body.stream !== true
      ? "'stream_options' is only allowed when 'stream' is enabled."
      : undefined,
  example: chat({ stream_options: { include_usage: true } }),
});
const strictTools = (source: string): VendorRefusal => ({
  what: 'strict of a tool',
  source,
  refuses: (body) =>
    arrayOrEmpty(body.tools).some((tool) => objectOrEmpty(objectOrEmpty(tool).function).strict !== undefined)
      ? 'Extra inputs are not permitted: strict'
      : undefined,
  example: withTool({ type: 'object', properties: {} }, { strict: true }),
});
const extraContent = (source: string): VendorRefusal =>
  calls(
    'extra_content of a call',
    source,
    (call) => call.extra_content !== undefined && "property 'extra_content' is unsupported",
    withCall({ extra_content: {} }),
  );
const forced = (source: string, words: string): VendorRefusal => ({
  what: 'a demanded call while the model reasons',
  source,
  refuses: (body, { reasons }) => {
    const choice = body.tool_choice;
    const demands = choice === 'required' || isObject(choice);
    return demands && reasons && body.reasoning_effort !== 'none' ? words : undefined;
  },
  example: { ...withTool({ type: 'object', properties: {} }), tool_choice: 'required' },
});
/** Every tool call carries `reasoning_content`, possibly empty. */
const reasoningOfCalls = (source: string, words: string): VendorRefusal => ({
  what: 'a call without reasoning_content',
  source,
  refuses: (body, { reasons }) =>
    reasons &&
    messagesOf(body).some((message) => callsOf(message).length > 0 && typeof message.reasoning_content !== 'string')
      ? words
      : undefined,
  example: withCall(),
});

export const OPENAI_CHAT: StrictVendor = {
  name: 'OpenAI Chat Completions',
  format: 'chat',
  refusals: [
    ...fields('top_k cache_control thinking enable_thinking reasoning random_seed', OPENAI, unrecognized),
    ...members('reasoning_content reasoning_details', OPENAI, (name) => `Unknown parameter: 'messages[1].${name}'.`),
    {
      what: 'metadata without store',
      source: 'QwenLM/qwen-code#243',
      refuses: (body) =>
        body.metadata !== undefined && body.store !== true
          ? "The 'metadata' parameter is only allowed when 'store' is enabled."
          : undefined,
      example: chat({ metadata: { a: 'b' } }),
    },
    {
      what: 'max_tokens of a reasoning model',
      source: 'OpenAI, "Reasoning models"',
      refuses: (body, { reasons }) =>
        reasons && body.max_tokens !== undefined
          ? "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
          : undefined,
      example: chat({ max_tokens: 5 }),
    },
    {
      what: 'an effort for a model that does not reason',
      source: 'github/copilot-cli#3394',
      refuses: (body, { reasons }) =>
        !reasons && body.reasoning_effort !== undefined
          ? 'Unrecognized request argument supplied: reasoning_effort'
          : undefined,
      example: chat({ reasoning_effort: 'high', [NOT_REASONING]: true }),
    },
    outputLimit('ogx-ai/ogx#5696', 'max_completion_tokens'),
    longId(40, 'OpenAI API ("string too long")'),
    pattern('raine/claude-code-proxy#141'),
    ...schemaNulls('anthropics/claude-code#49637, farion1231/cc-switch#7019'),
    arrayItems('OpenAI API ("array schema missing items")'),
    topProperties,
    topChoice,
    stops(4, OPENAI),
    choiceWithoutTools(OPENAI),
    streamOptions(OPENAI),
    extraContent(OPENAI),
    pairs(OPENAI),
  ],
};

export const AZURE: StrictVendor = {
  name: 'Azure',
  format: 'chat',
  refusals: [
    ...OPENAI_CHAT.refusals.filter(({ what }) => !what.startsWith('max_tokens')),
    ...fields('prompt_cache_options', 'learn.microsoft.com, "Azure OpenAI REST reference"', unrecognized),
  ],
};

const MISTRAL_DOCS = 'docs.mistral.ai, "Chat completion" (422, extra_forbidden)';
const forbidden = (name: string) => `extra_forbidden: ${name}: Extra inputs are not permitted`;
export const MISTRAL: StrictVendor = {
  name: 'Mistral',
  format: 'chat',
  refusals: [
    ...fields(
      'stream_options user store seed top_k verbosity service_tier safety_identifier prompt_cache_retention logprobs top_logprobs reasoning_effort max_completion_tokens cache_control',
      MISTRAL_DOCS,
      forbidden,
    ),
    ...members('reasoning_content reasoning_details name', MISTRAL_DOCS, forbidden),
    calls(
      'an id that is not nine letters and digits',
      'Mistral API',
      ({ id }) =>
        !/^[a-zA-Z0-9]{9}$/.test(String(id)) &&
        `Tool call id was ${String(id)} but must be a-z, A-Z, 0-9, with a length of 9.`,
      withCall({ id: 'call_1' }, {}, { tool_call_id: 'call_1' }),
    ),
    {
      what: 'a user message after a tool result',
      source: 'Mistral API',
      refuses: (body) =>
        messagesOf(body).some(({ role }, index, all) => role === 'user' && all[index - 1]?.role === 'tool')
          ? "Unexpected role 'user' after role 'tool'"
          : undefined,
      example: chat({ messages: [...messagesOf(withCall()), USER] }),
    },
    {
      what: 'tool_choice required',
      source: 'docs.mistral.ai, "Function calling"',
      refuses: (body) => (body.tool_choice === 'required' ? "Input should be 'auto', 'none', 'any'" : undefined),
      example: { ...withTool({ type: 'object', properties: {} }), tool_choice: 'required' },
    },
    {
      what: 'a field with null',
      source: MISTRAL_DOCS,
      refuses: (body) => (Object.values(body).includes(null) ? 'Input should be a valid value, not null' : undefined),
      example: chat({ temperature: null }),
    },
    strictTools(MISTRAL_DOCS),
    emptyAssistant('Mistral API', 'Assistant message must have either content or tool_calls, but not none.'),
    lastFromUser(
      'Mistral API',
      'Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant',
    ),
    markAnywhere(MISTRAL_DOCS, forbidden('cache_control')),
    extraContent(MISTRAL_DOCS),
    lateSystem('Mistral API ("Unexpected role system")'),
    pairs('Mistral API ("Not the same number of function calls and responses")'),
    parsedArguments('mistralai/mistral-common (arguments are parsed)', 'Invalid tool call arguments'),
    ...schemaNulls('docs.mistral.ai, "Function calling"'),
  ],
};

export const DEEPSEEK: StrictVendor = {
  name: 'DeepSeek',
  format: 'chat',
  refusals: [
    reasoningOfCalls(
      'earendil-works/pi#3636',
      'The `reasoning_content` in the thinking mode must be passed back to the API.',
    ),
    forced('DeepSeek API', 'deepseek-reasoner does not support this tool_choice'),
    outputLimit('router-for-me/CLIProxyAPI#2758', 'max_tokens'),
    extraContent('api-docs.deepseek.com, "Create chat completion"'),
    markAnywhere('api-docs.deepseek.com, "Context caching" (automatic)', 'unknown field `cache_control`'),
    ...members('reasoning_details', 'api-docs.deepseek.com', (name) => `unknown field ${name}`),
    ...fields('top_k', 'api-docs.deepseek.com', (name) => `unknown field ${name}`),
    ...schemaNulls('api-docs.deepseek.com, "Function calling"'),
    pairs('api-docs.deepseek.com ("insufficient tool messages following tool_calls message")'),
    efforts('low medium high max', 'api-docs.deepseek.com, "Thinking mode"'),
  ].map((each) =>
    each.what.startsWith('an effort') ? { ...each, example: chat({ reasoning_effort: 'minimal' }) } : each,
  ),
};

const MFJS = 'MoonshotAI/kimi-code#2661, lidge-jun/opencodex#2673';
export const MOONSHOT: StrictVendor = {
  name: 'Moonshot',
  format: 'chat',
  refusals: [
    reasoningOfCalls(
      'bytedance/deer-flow#3043',
      'thinking is enabled but reasoning_content is missing in assistant tool call message',
    ),
    schema(
      'a reference',
      'anomalyco/opencode#39995',
      (each) => each.$ref !== undefined && 'when using $ref, type should be defined in the referenced schema',
      { ...property({ $ref: '#/$defs/a' }), $defs: { a: { type: 'string' } } },
    ),
    schema(
      'a type beside anyOf',
      MFJS,
      (each) =>
        each.anyOf !== undefined &&
        each.type !== undefined &&
        'when using anyOf, type should be defined in anyOf items instead of the parent schema',
      property({ type: 'string', anyOf: [{ minLength: 1 }] }),
    ),
    ...schemaNulls(MFJS),
    forced('Moonshot API', "tool_choice 'required' is incompatible with thinking enabled"),
    emptyAssistant('Moonshot API', "the message at position 1 with role 'assistant' must not be empty"),
    extraContent('platform.moonshot.ai'),
    ...members('reasoning_details', 'platform.moonshot.ai', (name) => `unknown field ${name}`),
    strictTools('platform.moonshot.ai, "Tool use"'),
    pairs('Moonshot API ("tool_call_id is not found")'),
    outputLimit('platform.moonshot.ai', 'max_tokens'),
  ],
};

const ZAI_DOCS = 'docs.z.ai, "Chat completion"';
export const ZAI: StrictVendor = {
  name: 'Z.ai',
  format: 'chat',
  refusals: [
    {
      what: 'a tool choice other than auto',
      source: 'vectorize-io/hindsight#4246',
      refuses: (body) =>
        body.tool_choice === undefined || body.tool_choice === 'auto' ? undefined : 'Tool choice must be auto',
      example: { ...withTool({ type: 'object', properties: {} }), tool_choice: 'required' },
    },
    stops(1, ZAI_DOCS),
    ...fields(
      'top_k verbosity service_tier metadata parallel_tool_calls',
      ZAI_DOCS,
      (name) => `Invalid API parameter: ${name}`,
    ),
    markAnywhere(ZAI_DOCS, 'Invalid API parameter: cache_control'),
    extraContent(ZAI_DOCS),
    ...schemaNulls(ZAI_DOCS),
    pairs(ZAI_DOCS),
  ],
};

const GROQ_DOCS = 'console.groq.com, "OpenAI compatibility"; zed-industries/zed#36215';
const unsupported = (name: string) => `property '${name}' is unsupported`;
export const GROQ: StrictVendor = {
  name: 'Groq',
  format: 'chat',
  refusals: [
    ...fields(
      'logprobs top_logprobs logit_bias verbosity prompt_cache_key prompt_cache_retention safety_identifier store metadata top_k cache_control',
      GROQ_DOCS,
      unsupported,
    ),
    ...members('name reasoning_content reasoning_details', GROQ_DOCS, unsupported),
    markAnywhere(GROQ_DOCS, unsupported('cache_control')),
    efforts('low medium high', 'console.groq.com, "Reasoning" (gpt-oss)'),
    outputLimit('fakerybakery/openbridge#1', 'max_tokens'),
    stops(4, 'console.groq.com, "API reference"'),
    extraContent(GROQ_DOCS),
    parsedArguments('Groq API', 'failed to parse tool call arguments as JSON'),
    ...schemaNulls(GROQ_DOCS),
    pairs(GROQ_DOCS),
  ],
};

const XAI_DOCS = 'docs.x.ai, "Reasoning"; lidge-jun/opencodex#5278';
export const XAI: StrictVendor = {
  name: 'xAI',
  format: 'chat',
  refusals: [
    ...fields(
      'stop presence_penalty frequency_penalty',
      XAI_DOCS,
      (name) => `Model grok-4.6 does not support parameter ${name}.`,
    ),
    ...fields(
      'top_k metadata verbosity safety_identifier cache_control',
      'docs.x.ai, "Chat completions"',
      (name) => `unknown field ${name}`,
    ),
    efforts('low medium high xhigh', 'docs.x.ai, "Reasoning"'),
    extraContent('docs.x.ai'),
    ...schemaNulls('docs.x.ai, "Function calling"'),
    pairs('docs.x.ai, "Function calling"'),
  ],
};

const GEMINI_DOCS = 'ai.google.dev, "OpenAI compatibility"';
const unknownName = (name: string) => `Invalid JSON payload received. Unknown name "${name}": Cannot find field.`;
const GEMINI_KEYWORDS = new Set(
  `type format title description nullable default enum items minItems maxItems properties required minProperties
  maxProperties propertyOrdering minimum maximum minLength maxLength pattern example anyOf`.split(/\s+/),
);
export const GEMINI: StrictVendor = {
  name: 'Gemini',
  format: 'chat',
  refusals: [
    ...fields(
      'metadata store prompt_cache_key prompt_cache_retention safety_identifier verbosity top_k frequency_penalty presence_penalty seed service_tier logit_bias',
      `${GEMINI_DOCS}; leookun/cursor-byok#112, MinLL/SkyrimNet-GamePlugin#77`,
      unknownName,
    ),
    ...members('reasoning_content reasoning_details', GEMINI_DOCS, unknownName),
    schema(
      'a keyword outside of its Schema',
      'zed-industries/zed#44875, musistudio/claude-code-router#187',
      (each) => {
        const unknown = Object.keys(each).find((key) => !GEMINI_KEYWORDS.has(key));
        return unknown !== undefined && unknownName(unknown);
      },
      property({ type: 'string', const: 'x' }),
    ),
    schema(
      'a list of types',
      GEMINI_DOCS,
      (each) => Array.isArray(each.type) && 'Proto field is not repeating, cannot start list.',
      property({ type: ['string', 'null'] }),
    ),
    schema(
      'an enum that is not of strings',
      'Gemini API',
      (each) =>
        arrayOrEmpty(each.enum).some((value) => typeof value !== 'string' || value === '') &&
        'enum[0]: cannot be empty',
      property({ type: 'string', enum: [''] }),
    ),
    schema(
      'a format',
      'Gemini API',
      (each) =>
        each.format !== undefined &&
        !['enum', 'date-time'].includes(String(each.format)) &&
        "only 'enum' and 'date-time' are supported for STRING type",
      property({ type: 'string', format: 'uuid' }),
    ),
    schema(
      'a required name without a property',
      'Gemini API',
      ({ required, properties }) =>
        arrayOrEmpty(required).some((name) => !(String(name) in objectOrEmpty(properties))) &&
        'required[0]: property is not defined',
      { type: 'object', properties: {}, required: ['a'] },
    ),
    {
      what: 'a first call without a thought signature',
      source: 'langgenius/dify-official-plugins#2088',
      refuses: (body) => {
        const missing = messagesOf(body).some((message) => {
          const [first] = callsOf(message);
          return (
            first !== undefined &&
            objectOrEmpty(objectOrEmpty(first.extra_content).google).thought_signature === undefined
          );
        });
        return missing ? 'Function call is missing a thought_signature in functionCall parts.' : undefined;
      },
      example: withCall(),
    },
    {
      what: 'a thought signature of another model',
      source: 'ai.google.dev, "Thought signatures"',
      refuses: (body, { seals }) => {
        const signatures = messagesOf(body)
          .flatMap(callsOf)
          .map((call) => objectOrEmpty(objectOrEmpty(call.extra_content).google).thought_signature);
        const foreign = signatures.find(
          (each) => each !== undefined && each !== 'skip_thought_signature_validator' && !seals.has(String(each)),
        );
        return foreign === undefined ? undefined : 'Thought signature is not valid';
      },
      example: withCall({ extra_content: { google: { thought_signature: 'foreign' } } }),
    },
    lastFromUser('Gemini API', 'Please ensure that multiturn requests end with a user role or a function response.'),
    emptyAssistant('Gemini API', 'contents.parts must not be empty.'),
    markAnywhere(GEMINI_DOCS, unknownName('cache_control')),
    strictTools(GEMINI_DOCS),
    efforts('none minimal low medium high', GEMINI_DOCS),
    stops(5, 'ai.google.dev, `GenerationConfig`'),
    parsedArguments('Gemini API', 'Invalid value at functionCall.args'),
    pairs('Gemini API ("number of function response parts is equal to the number of function call parts")'),
  ],
};

const OPENROUTER_DOCS = 'openrouter.ai, "API reference"';
export const OPENROUTER: StrictVendor = {
  name: 'OpenRouter',
  format: 'chat',
  refusals: [
    {
      what: 'both an effort and a budget',
      source: 'openrouter.ai, "Reasoning tokens"',
      refuses: ({ reasoning }) =>
        objectOrEmpty(reasoning).effort !== undefined && objectOrEmpty(reasoning).max_tokens !== undefined
          ? 'Only one of "reasoning.effort" and "reasoning.max_tokens" can be specified'
          : undefined,
      example: chat({ reasoning: { effort: 'low', max_tokens: 5 } }),
    },
    {
      what: 'reasoning_effort beside reasoning',
      source: 'openrouter.ai, "Reasoning tokens"',
      refuses: ({ reasoning, reasoning_effort }) =>
        reasoning !== undefined && reasoning_effort !== undefined
          ? 'Only one of "reasoning" and "reasoning_effort" can be provided'
          : undefined,
      example: chat({ reasoning: {}, reasoning_effort: 'low' }),
    },
    ...schemaNulls(OPENROUTER_DOCS),
    pairs(OPENROUTER_DOCS),
    parsedArguments(
      `${OPENROUTER_DOCS} (the provider behind it parses them)`,
      'Provider returned error: invalid tool arguments',
    ),
  ],
};

const LLAMA = 'ggml-org/llama.cpp';
export const LLAMACPP: StrictVendor = {
  name: 'llama.cpp',
  format: 'chat',
  refusals: [
    parsedArguments(`${LLAMA}#22948`, 'Failed to parse tool call arguments as JSON'),
    schema(
      'a pattern without anchors',
      `${LLAMA}, json-schema-to-grammar`,
      ({ pattern: each }) =>
        typeof each === 'string' &&
        !(each.startsWith('^') && each.endsWith('$')) &&
        "Pattern must start with '^' and end with '$'",
      property({ type: 'string', pattern: 'a' }),
    ),
    pattern(`${LLAMA}, json-schema-to-grammar`),
    lateSystem('chat templates of Qwen and Llama'),
    alternation('chat templates of Gemma and Mistral'),
    ...schemaNulls(`${LLAMA}, json-schema-to-grammar`),
    pairs('chat templates of Mistral'),
  ],
};

export const LMSTUDIO: StrictVendor = {
  name: 'LM Studio',
  format: 'chat',
  refusals: [
    parsedArguments(
      'lmstudio-ai/lmstudio-bug-tracker (arguments are parsed by the template)',
      'Error rendering prompt with jinja template',
    ),
    lateSystem('chat templates of Qwen and Llama'),
    alternation('chat templates of Gemma and Mistral'),
    topProperties,
    ...schemaNulls('lmstudio.ai, "Tool use"'),
    pairs('lmstudio.ai, "Tool use"'),
  ],
};

export const OLLAMA: StrictVendor = {
  name: 'Ollama',
  format: 'chat',
  refusals: [
    parsedArguments('ollama/ollama, `openai.go` ("invalid tool call arguments")', 'invalid tool call arguments'),
    {
      what: 'an image by URL',
      source: 'ollama/ollama, `openai.go` ("invalid image input")',
      refuses: (body) => (JSON.stringify(body.messages).includes('"url":"http') ? 'invalid image input' : undefined),
      example: chat({
        messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'http://x.test/a.png' } }] }],
      }),
    },
    ...schemaNulls('ollama/ollama, `api.ToolFunction`'),
    lateSystem('chat templates of Qwen and Llama'),
  ],
};

export const VLLM: StrictVendor = {
  name: 'vLLM',
  format: 'chat',
  refusals: [
    parsedArguments(
      'vllm-project/vllm, `chat_utils.py` (json.loads of the arguments)',
      'Expecting value: line 1 column 1',
    ),
    lateSystem('chat templates of Qwen and Llama'),
    alternation('chat templates of Gemma and Mistral'),
    pattern('vllm-project/vllm, "Structured outputs" (xgrammar)'),
    choiceWithoutTools('vllm-project/vllm, `protocol.py` ("When using `tool_choice`, `tools` must be set.")'),
    streamOptions('vllm-project/vllm, `protocol.py` ("Stream options can only be defined when `stream=True`.")'),
    ...schemaNulls('vllm-project/vllm, "Tool calling"'),
    pairs('chat templates of Mistral'),
  ],
};
