import { PLAIN_SCHEMA } from '../../wire/tools/clean-schema.ts';
import { ANTHROPIC_IDS, RESPONSES_IDS } from '../../wire/tools/tool-call-repair.ts';
import { type Profile, type Rules, row } from './rules.ts';

/** The rules of a server of Chat Completions of which nothing else is known. */
export const BASE_RULES: Rules = {
  callArguments: 'object',
  schema: PLAIN_SCHEMA,
  reasoningHistory: { text: 'kept', details: 'own', demanded: false },
  thoughtSignatures: 'none',
  systemMessages: 'first',
  userAfterResults: 'accepted',
  blankText: 'kept',
  opening: 'any',
  roles: 'alternating',
  prefill: 'kept',
  cacheMarks: 'removed',
  customTools: false,
  reasoningField: 'reasoning_effort',
  sampling: 'always',
  refused: [],
  refusedInMessages: [],
  refusedInTools: [],
  renamed: {},
  needs: {},
  nulls: 'kept',
  requiredChoice: 'required',
  forcedChoice: 'accepted',
  thinking: 'any',
  thinkingOff: 'disabled',
  narration: 'text',
  cacheLifetimes: 'kept',
  cacheKey: 'client',
  attribution: 'removed',
  serverTools: 'kept',
  reasoningTags: 'none',
  toolCallsInText: false,
};

/** The values of `format` that OpenAI and Anthropic document for structured outputs are hints in tools: all are kept. */
export const FORMAT_PROFILES: readonly Profile[] = [
  {
    name: 'Any server of Chat Completions',
    covers: ({ endpoint }) => endpoint.format === 'chat-completions',
    rows: [
      row(
        'callArguments',
        'object',
        'arguments of calls in the history that are no JSON object become one: servers parse them',
        'ggml-org/llama.cpp#22948, OpenHands/OpenHands#13949',
      ),
      row(
        'systemMessages',
        'first',
        'one system message at the start; a later one becomes text of the user message before or after it',
        'chat templates of Qwen, Gemma and Llama ("System message must be at the beginning")',
      ),
      row(
        'roles',
        'alternating',
        'messages of one role in a row are joined in translated requests',
        'chat templates of Gemma and Mistral ("Conversation roles must alternate")',
      ),
      row('cacheMarks', 'removed', '`cache_control` is left out of translated requests', 'OpenAI API reference'),
    ],
  },
  {
    name: 'An unknown server of Chat Completions',
    covers: ({ endpoint }) => endpoint.format === 'chat-completions' && endpoint.kind === 'openai-compatible',
    rows: [
      row(
        'reasoningTags',
        'translated',
        'reasoning in tags at the start of an answer is split from its text, except in answers that are forwarded as they are',
        'continuedev/continue#3832, voideditor/void#431 (`<think>` in the text of answers)',
      ),
    ],
  },
  {
    name: 'Messages (Anthropic and compatible servers)',
    covers: ({ endpoint }) => endpoint.format === 'messages',
    rows: [
      row(
        'ids',
        ANTHROPIC_IDS,
        'ids of calls: letters, digits, `_` and `-`, different over the whole conversation',
        'anomalyco/opencode#1279 ("`tool_use` ids must be unique"), anthropics/claude-code#28515',
      ),
      row(
        'blankText',
        'refused',
        'blank texts are left out',
        'Anthropic API ("text content blocks must contain non-whitespace text")',
      ),
      row(
        'systemMessages',
        'first',
        'a system message within the messages of a forwarded request becomes text of the user message before or after it; in a translated one it joins the system prompt',
        'anthropics/claude-code#77698, deepseek-ai/awesome-deepseek-integration#639 ("unknown variant `system`, expected `user` or `assistant`")',
      ),
      row(
        'opening',
        'user',
        'a conversation that begins with the assistant gets the user message “Continue.” before it',
        'Anthropic API ("first message must use the "user" role")',
      ),
      row('roles', 'any', 'messages of one role in a row are joined', 'Anthropic API reference, "Create a Message"'),
      row(
        'reasoningHistory',
        { text: 'kept', details: 'none', demanded: false },
        'only thinking that the same provider and account has signed; without it, thinking is turned off in a tool loop; thinking with a budget only as the first block of its message',
        'Anthropic, "Extended thinking" ("Invalid `signature` in `thinking` block"); anthropics/claude-code#20692',
      ),
      row(
        'images',
        ['image/png', 'image/jpeg', 'image/gif', 'image/webp'],
        'images as PNG, JPEG, GIF and WebP, with the type of their bytes',
        'Anthropic, "Vision" ("Image does not match the provided media type")',
      ),
    ],
  },
  {
    name: 'Responses (OpenAI and compatible servers)',
    covers: ({ endpoint }) => endpoint.format === 'responses',
    rows: [
      row(
        'ids',
        RESPONSES_IDS,
        'ids of calls: at most 64 characters, different over the whole conversation',
        'OpenAI API ("string too long. Expected a string with maximum length 64")',
      ),
      row(
        'callArguments',
        'any',
        'arguments of calls in the history are any text',
        'OpenAI API reference, "Create a model response"',
      ),
      row(
        'reasoningHistory',
        { text: 'kept', details: 'none', demanded: false },
        'only reasoning that the same provider and account has encrypted',
        'OpenAI API ("The encrypted content … could not be verified")',
      ),
      row(
        'schema',
        { ...PLAIN_SCHEMA, patterns: 'portable' },
        'patterns without `\\p{…}` and look-around; others are moved to the description',
        'raine/claude-code-proxy#141 ("is not a \'regex\'")',
      ),
      row('roles', 'any', 'messages of one role in a row', 'OpenAI API reference, "Create a model response"'),
      row('customTools', true, 'custom tools and a choice between some of the tools', 'OpenAI, "Function calling"'),
      row('systemMessages', 'anywhere', 'system messages anywhere', 'OpenAI API reference, "Create a model response"'),
    ],
  },
];
