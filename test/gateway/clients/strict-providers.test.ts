import assert from 'node:assert/strict';
import { readChatRequest } from '../../upstream/strict/chat.ts';
import { readMessagesRequest } from '../../upstream/strict/messages.ts';
import { readResponsesRequest } from '../../upstream/strict/responses.ts';

type Body = Readonly<Record<string, unknown>>;

const user = { role: 'user', content: 'Hi' };
const long = 'x'.repeat(65);
const NOTHING = { seals: new Set<string>(), items: new Map() };

const readers = {
  chat: (body: Body) => readChatRequest({ messages: [user], ...body }),
  responses: (body: Body) => readResponsesRequest({ input: [user], ...body }, NOTHING),
  messages: (body: Body) => readMessagesRequest({ max_tokens: 2_000, messages: [user], ...body }, NOTHING),
};

const chatTool = (more: Body) => ({ tools: [{ type: 'function', function: { name: 'f', ...more } }] });
const flatTool = (more: Body) => ({ tools: [{ type: 'function', name: 'f', ...more }] });
const tool = (more: Body) => ({ tools: [{ name: 'f', input_schema: { type: 'object' }, ...more }] });
const choice = { type: 'object', anyOf: [{ properties: {} }] };
const call = (id: string) => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id, type: 'function', function: { name: 'f', arguments: '{}' } }],
});
const use = (id: string) => ({ role: 'assistant', content: [{ type: 'tool_use', id, name: 'f', input: {} }] });
const result = (id: string) => ({ role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'r' }] });
const marked = { type: 'text', text: 't', cache_control: { type: 'ephemeral' } };
const thinking = { type: 'enabled', budget_tokens: 1_024 };

const REFUSED: readonly (readonly [what: string, format: keyof typeof readers, body: Body, message: RegExp])[] = [
  ['a user of 65 characters', 'chat', { user: long }, /Invalid 'user': string too long/],
  ['a tool of an unknown type', 'chat', { tools: [{ type: 'web_search' }] }, /Supported values are: 'function'/],
  ['a tool name of 65 characters', 'chat', chatTool({ name: long }), /maximum length 64/],
  ['a tool name with a dot', 'chat', chatTool({ name: 'a.b' }), /does not match pattern/],
  ['anyOf at the top of a schema', 'chat', chatTool({ parameters: choice }), /at the top level/],
  ['a call id of 41 characters', 'chat', { messages: [user, call('c'.repeat(41))] }, /maximum length 40/],
  ['a call without a result', 'chat', { messages: [user, call('c'), user] }, /must be followed by tool messages/],
  [
    'a result without a call',
    'chat',
    { messages: [user, { role: 'tool', tool_call_id: 'c', content: 'r' }] },
    /preceding/,
  ],
  ['a late system message', 'chat', { messages: [user, { role: 'system', content: 's' }] }, /must be at the beginning/],
  ['five stop sequences', 'chat', { stop: ['a', 'b', 'c', 'd', 'e'] }, /Invalid 'stop'/],
  ['tool_choice without tools', 'chat', { tool_choice: 'auto' }, /only allowed when 'tools'/],
  ['an unknown field', 'chat', { thinking: {} }, /Unrecognized request argument/],
  ['max_output_tokens of 15', 'responses', { max_output_tokens: 15 }, /Expected a value >= 16/],
  ['a prompt_cache_key of 65 characters', 'responses', { prompt_cache_key: long }, /prompt_cache_key/],
  ['an open strict schema', 'responses', flatTool({ strict: true, parameters: { type: 'object' } }), /additionalProp/],
  ['anyOf at the top of a schema', 'responses', flatTool({ parameters: choice }), /at the top level/],
  ['an unknown tool type', 'responses', { tools: [{ type: 'bash_20250124' }] }, /Invalid value: 'bash_20250124'/],
  [
    'cache_control in content',
    'responses',
    { input: [{ role: 'user', content: [{ ...marked, type: 'input_text' }] }] },
    /cache_control/,
  ],
  [
    'a call id of 65 characters',
    'responses',
    { input: [{ type: 'function_call_output', call_id: long, output: '' }] },
    /maximum length 64/,
  ],
  [
    'a result without a call',
    'responses',
    { input: [{ type: 'function_call_output', call_id: 'c', output: '' }] },
    /No tool call found/,
  ],
  [
    'an id of the wrong kind',
    'responses',
    { input: [{ type: 'function_call', id: 'x', call_id: 'c', name: 'f', arguments: '{}' }] },
    /begins with 'fc'/,
  ],
  [
    'encrypted reasoning of another vendor',
    'responses',
    { input: [{ type: 'reasoning', summary: [], encrypted_content: 'x' }, user] },
    /could not be verified/,
  ],
  ['an unknown item_reference', 'responses', { input: [{ type: 'item_reference', id: 'i' }] }, /not found/],
  ['five cache_control marks', 'messages', { system: Array(5).fill(marked) }, /maximum of 4 blocks/],
  ['an empty text', 'messages', { messages: [{ role: 'user', content: [{ type: 'text', text: '' }] }] }, /non-empty/],
  ['anyOf at the top of a schema', 'messages', tool({ input_schema: choice }), /at the top level/],
  ['an unknown tool type', 'messages', tool({ type: 'function' }), /does not match any of the expected tags/],
  ['temperature with top_p', 'messages', { temperature: 1, top_p: 1 }, /cannot both/],
  ['temperature above 1', 'messages', { temperature: 1.5 }, /temperature/],
  ['a result without a call', 'messages', { messages: [user, result('c')] }, /unexpected `tool_use_id`/],
  ['a call without a result', 'messages', { messages: [user, use('c'), user] }, /without `tool_result` blocks/],
  ['a call id with a dot', 'messages', { messages: [user, use('a.b'), result('a.b')] }, /should match pattern/i],
  [
    'thinking and a forced tool',
    'messages',
    { ...tool({}), thinking, tool_choice: { type: 'any' } },
    /forces tool use/,
  ],
  [
    'a tool loop without its thinking',
    'messages',
    { thinking, messages: [user, use('c'), result('c')] },
    /Expected `th/,
  ],
  [
    'a signature of another vendor',
    'messages',
    { messages: [user, { role: 'assistant', content: [{ type: 'thinking', thinking: 't', signature: 'x' }] }] },
    /Invalid `signature`/,
  ],
  ['an unknown field', 'messages', { prompt_cache_key: 'k' }, /Extra inputs are not permitted/],
];

describe('strict providers refuse what the vendors refuse', () => {
  for (const [what, format, body, message] of REFUSED) {
    it(`${format}: ${what}`, () => assert.throws(() => readers[format](body), message));
  }

  for (const [format, read] of Object.entries(readers)) {
    it(`${format}: a plain request is accepted`, () => assert.deepEqual(read({}).turns, []));
  }
});
