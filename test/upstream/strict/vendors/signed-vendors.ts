import { arrayOrEmpty, type JsonObject, objectOrEmpty } from '../../../../src/base/json.ts';
import { readMessagesRequest } from '../messages.ts';
import { readResponsesRequest } from '../responses.ts';
import { messagesOf, NOT_REASONING, type StrictVendor, USER, type VendorRefusal } from './vendor-refusal.ts';

const messages = (more: JsonObject): JsonObject => ({ model: 'm', max_tokens: 100, messages: [USER], ...more });
const use = (id: string) => ({ role: 'assistant', content: [{ type: 'tool_use', id, name: 'f', input: {} }] });
const result = (id: string) => ({ role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'r' }] });
const blocksOf = (body: JsonObject): JsonObject[] =>
  messagesOf(body).flatMap(({ content }) => arrayOrEmpty(content).map(objectOrEmpty));

function* deepBlocks(blocks: readonly JsonObject[]): Generator<JsonObject> {
  for (const block of blocks) {
    yield block;
    yield* deepBlocks(arrayOrEmpty(block.content).map(objectOrEmpty));
  }
}

/** The first bytes of images in base64. */
const IMAGES: readonly (readonly [start: string, type: string])[] = [
  ['iVBORw0KGgo', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
];
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
const image = (media_type: string, data = PNG): JsonObject => ({
  type: 'image',
  source: { type: 'base64', media_type, data },
});

const uniqueIds: VendorRefusal = {
  what: 'the same id of a call in two turns',
  source: 'anomalyco/opencode#1279, anthropics/claude-code#28515',
  refuses: (body) => {
    const ids = blocksOf(body).flatMap(({ type, id }) => (type === 'tool_use' ? [id] : []));
    return new Set(ids).size === ids.length ? undefined : '`tool_use` ids must be unique';
  },
  example: messages({ messages: [USER, use('c'), result('c'), use('c'), result('c')] }),
};
const imageTypes: VendorRefusal = {
  what: 'an image of another type than declared',
  source: 'Anthropic API, "Vision"',
  refuses: (body) => {
    for (const { type, source } of deepBlocks(blocksOf(body))) {
      const { type: kind, media_type: declared, data } = objectOrEmpty(source);
      if (type !== 'image' || kind !== 'base64') continue;
      if (!/^image\/(?:png|jpeg|gif|webp)$/.test(String(declared)))
        return `media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'`;
      const actual = IMAGES.find(([start]) => String(data).startsWith(start))?.[1];
      if (actual !== undefined && actual !== declared)
        return `Image does not match the provided media type ${String(declared)}`;
    }
    return undefined;
  },
  example: messages({ messages: [{ role: 'user', content: [image('image/jpeg')] }] }),
};

export const ANTHROPIC: StrictVendor = {
  name: 'Anthropic',
  format: 'messages',
  base: (body, { seals }) => void readMessagesRequest(body, { seals, items: new Map() }),
  refusals: [
    uniqueIds,
    imageTypes,
    {
      what: 'an image of a type that is not read',
      source: 'Anthropic, "Vision"',
      refuses: imageTypes.refuses,
      example: messages({ messages: [{ role: 'user', content: [image('image/bmp', 'AAAA')] }] }),
    },
    {
      what: 'max_tokens above the model’s limit',
      source: 'Anthropic API',
      refuses: (body, { maxOutput }) => {
        const most = Number(body.max_tokens);
        return most > maxOutput
          ? `max_tokens: ${most} > ${maxOutput}, which is the maximum allowed number of output tokens`
          : undefined;
      },
      example: messages({ max_tokens: 32_000 }),
    },
    {
      what: 'a conversation that ends with the assistant',
      source: 'Kilo-Org/kilocode#8260',
      refuses: (body) =>
        messagesOf(body).at(-1)?.role === 'assistant'
          ? 'This model does not support assistant message prefill.'
          : undefined,
      example: messages({ messages: [USER, { role: 'assistant', content: 'a' }] }),
    },
    {
      what: 'an effort that it does not have',
      source: 'Anthropic, "Effort"',
      refuses: (body) => {
        const { effort } = objectOrEmpty(body.output_config);
        return effort === undefined || /^(?:low|medium|high|max)$/.test(String(effort))
          ? undefined
          : `output_config.effort: Input should be 'low', 'medium', 'high' or 'max'`;
      },
      example: messages({ output_config: { effort: 'xhigh' } }),
    },
    {
      what: 'thinking of a model without it',
      source: 'Anthropic API',
      refuses: (body, { reasons }) => {
        const { type } = objectOrEmpty(body.thinking);
        return !reasons && (type === 'enabled' || type === 'adaptive')
          ? 'thinking is not supported on this model'
          : undefined;
      },
      example: messages({ thinking: { type: 'adaptive' }, [NOT_REASONING]: true }),
    },
    {
      what: 'a blank text as the whole content',
      source: 'Anthropic API',
      refuses: (body) =>
        messagesOf(body).some(({ content }) => typeof content === 'string' && content.trim() === '')
          ? 'text content blocks must contain non-whitespace text'
          : undefined,
      example: messages({ messages: [{ role: 'user', content: ' ' }] }),
    },
    {
      what: 'a blank text in a tool result',
      source: 'Anthropic API',
      refuses: (body) => {
        const texts = [...deepBlocks(blocksOf(body))].filter(({ type }) => type === 'text');
        return texts.some(({ text }) => String(text).trim() === '')
          ? 'text content blocks must contain non-whitespace text'
          : undefined;
      },
      example: messages({
        messages: [
          USER,
          use('c'),
          {
            role: 'user',
            content: [{ type: 'tool_result', tool_use_id: 'c', content: [{ type: 'text', text: ' ' }] }],
          },
        ],
      }),
    },
    {
      what: 'a blank system text',
      source: 'Anthropic API',
      refuses: ({ system }) =>
        typeof system === 'string' && system.trim() === ''
          ? 'system: text content blocks must contain non-whitespace text'
          : undefined,
      example: messages({ system: ' ' }),
    },
    {
      what: 'required: null in a schema',
      source: 'Anthropic API (JSON Schema draft 2020-12)',
      refuses: (body) =>
        /"(?:required|properties)":null/.test(JSON.stringify(body.tools ?? []))
          ? 'input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12'
          : undefined,
      example: messages({ tools: [{ name: 'f', input_schema: { type: 'object', required: null } }] }),
    },
    {
      what: 'calls without a definition of tools',
      source: 'Anthropic API ("Requests which include `tool_use` or `tool_result` blocks must define tools")',
      refuses: (body) =>
        blocksOf(body).some(({ type }) => type === 'tool_use') && arrayOrEmpty(body.tools).length === 0
          ? 'must define tools'
          : undefined,
      example: messages({ messages: [USER, use('c'), result('c')] }),
    },
  ],
};

const responses = (more: JsonObject): JsonObject => ({ model: 'm', input: [USER], store: false, ...more });

export const RESPONSES: StrictVendor = {
  name: 'OpenAI Responses',
  format: 'responses',
  base: (body, { seals }) => void readResponsesRequest(body, { seals, items: new Map() }),
  refusals: [
    {
      what: 'max_output_tokens above the model’s limit',
      source: 'ogx-ai/ogx#5696',
      refuses: (body, { maxOutput }) =>
        Number(body.max_output_tokens ?? 0) > maxOutput ? 'max_output_tokens is too large' : undefined,
      example: responses({ max_output_tokens: 32_000 }),
    },
    {
      what: 'an effort that the model does not have',
      source: 'icebear0828/codex-proxy#744',
      refuses: ({ reasoning }) => {
        const { effort } = objectOrEmpty(reasoning);
        return effort === undefined || /^(?:minimal|low|medium|high)$/.test(String(effort))
          ? undefined
          : `Unsupported value: '${String(effort)}' is not supported with the 'gpt-5' model.`;
      },
      example: responses({ reasoning: { effort: 'max' } }),
    },
    {
      what: 'reasoning of a model without it',
      source: 'github/copilot-cli#3394',
      refuses: ({ reasoning, include }, { reasons }) =>
        !reasons && (reasoning !== undefined || arrayOrEmpty(include).includes('reasoning.encrypted_content'))
          ? "Unsupported parameter: 'reasoning.effort' is not supported with this model."
          : undefined,
      example: responses({ reasoning: { effort: 'low' }, [NOT_REASONING]: true }),
    },
    {
      what: 'a pattern that the engine can’t read',
      source: 'raine/claude-code-proxy#141',
      refuses: ({ tools }) => {
        const patterns = [...JSON.stringify(tools ?? []).matchAll(/"pattern":"((?:[^"\\]|\\.)*)"/g)].map(
          ([, text = '']) => String(JSON.parse(`"${text}"`)),
        );
        const found = patterns.find((text) => /\\[pPk]|\(\?(?!:)|\\u\{/.test(text));
        return found === undefined ? undefined : `'${found}' is not a 'regex'`;
      },
      example: responses({
        tools: [
          {
            type: 'function',
            name: 'f',
            parameters: { type: 'object', properties: { a: { type: 'string', pattern: '\\p{L}' } } },
          },
        ],
      }),
    },
    {
      what: 'null in a schema',
      source: 'farion1231/cc-switch#7019',
      refuses: ({ tools }) =>
        /"(?:required|properties)":null/.test(JSON.stringify(tools ?? [])) ? "None is not of type 'array'" : undefined,
      example: responses({
        tools: [{ type: 'function', name: 'f', parameters: { type: 'object', properties: {}, required: null } }],
      }),
    },
    {
      what: 'the same id of a call twice',
      source: 'OpenAI API ("Duplicate item found")',
      refuses: ({ input }) => {
        const ids = arrayOrEmpty(input)
          .map(objectOrEmpty)
          .flatMap(({ type, call_id }) => (type === 'function_call' ? [call_id] : []));
        return new Set(ids).size === ids.length ? undefined : 'Duplicate item found';
      },
      example: responses({
        input: [
          USER,
          ...[0, 1].flatMap(() => [
            { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
            { type: 'function_call_output', call_id: 'c', output: 'r' },
          ]),
        ],
      }),
    },
    {
      what: 'a parameter of a reasoning model',
      source: 'OpenAI, "Using GPT-5" (temperature, top_p, logprobs)',
      refuses: (body, { reasons }) => {
        const { effort } = objectOrEmpty(body.reasoning);
        const found = ['temperature', 'top_p', 'top_logprobs'].find((name) => body[name] !== undefined);
        return reasons && effort !== undefined && effort !== 'none' && found !== undefined
          ? `Unsupported parameter: '${found}' is not supported with this model.`
          : undefined;
      },
      example: responses({ temperature: 1, reasoning: { effort: 'low' } }),
    },
  ],
};
