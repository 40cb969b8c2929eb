import assert from 'node:assert/strict';
import type { JsonObject } from '../../src/base/json.ts';
import type { FormatName } from '../../src/wire/format-name.ts';
import { FORMATS } from '../../src/wire/formats.ts';

/** A block of a tool that ran at Anthropic, and words of it that another model still reads. */
const BLOCKS: readonly (readonly [block: JsonObject, words: readonly string[]])[] = [
  [{ type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'hidden' } }, []],
  [{ type: 'mcp_tool_use', id: 'm', name: 'echo', server_name: 'x', input: {} }, []],
  [
    {
      type: 'web_search_tool_result',
      tool_use_id: 's',
      content: { type: 'web_search_tool_result_error', error_code: 'max_uses_exceeded' },
    },
    ['max_uses_exceeded'],
  ],
  [
    {
      type: 'web_search_tool_result',
      tool_use_id: 's',
      content: [{ type: 'web_search_result', title: 'T', url: 'U', encrypted_content: 'hidden' }],
    },
    ['T', 'U'],
  ],
  [
    {
      type: 'web_fetch_tool_result',
      tool_use_id: 's',
      content: {
        type: 'web_fetch_result',
        url: 'U',
        content: { type: 'document', title: 'T', source: { type: 'text', media_type: 'text/plain', data: 'PAGE' } },
      },
    },
    ['U', 'T', 'PAGE'],
  ],
  [
    {
      type: 'code_execution_tool_result',
      tool_use_id: 's',
      content: { type: 'code_execution_result', stdout: 'OUT', stderr: 'ERR', return_code: 1, content: [] },
    },
    ['OUT', 'ERR'],
  ],
  [
    {
      type: 'bash_code_execution_tool_result',
      tool_use_id: 's',
      content: {
        type: 'bash_code_execution_result',
        stdout: 'OUT',
        stderr: '',
        return_code: 0,
        content: [{ type: 'bash_code_execution_output', file_id: 'F' }],
      },
    },
    ['OUT', 'F'],
  ],
  [
    {
      type: 'text_editor_code_execution_tool_result',
      tool_use_id: 's',
      content: { type: 'text_editor_code_execution_view_result', content: 'FILE' },
    },
    ['FILE'],
  ],
  [
    {
      type: 'tool_search_tool_result',
      tool_use_id: 's',
      content: {
        type: 'tool_search_tool_search_result',
        tool_references: [{ type: 'tool_reference', tool_name: 'weather' }],
      },
    },
    ['weather'],
  ],
  [{ type: 'mcp_tool_result', tool_use_id: 'm', is_error: false, content: [{ type: 'text', text: 'ECHO' }] }, ['ECHO']],
  [{ type: 'container_upload', file_id: 'F' }, ['uploaded']],
  [{ type: 'compaction', content: 'SUMMARY' }, ['SUMMARY']],
  [{ type: 'compaction', content: null }, []],
  // Claude Code #66760 and later features.
  [{ type: 'fallback', from: { model: 'claude-fable-5' }, to: { model: 'claude-opus-4-8' } }, []],
  [{ type: 'connector_text', connector_text: 'SAID', signature: 'hidden' }, ['SAID']],
  [{ type: 'a_later_block', text: 'SAID', data: 'hidden' }, ['SAID']],
];

/** Items of OpenAI's tools. */
const ITEMS: readonly (readonly [items: readonly JsonObject[], words: readonly string[]])[] = [
  ...[
    'web_search_call',
    'file_search_call',
    'code_interpreter_call',
    'image_generation_call',
    'mcp_call',
    'mcp_list_tools',
    'ghost_snapshot',
    'other',
  ].map((type): readonly [readonly JsonObject[], readonly string[]] => [[{ type, id: 'i', status: 'completed' }], []]),
  [
    [
      { type: 'mcp_approval_request', id: 'i' },
      { type: 'mcp_approval_response', approval_request_id: 'i', approve: true },
    ],
    [],
  ],
  ...['compaction', 'compaction_summary', 'context_compaction'].map(
    (type): readonly [readonly JsonObject[], readonly string[]] => [
      [{ type, id: 'i', encrypted_content: 'hidden' }],
      ['were compacted'],
    ],
  ),
  [
    [
      { type: 'local_shell_call', call_id: 'c', action: { type: 'exec', command: ['ls'] } },
      { type: 'local_shell_call_output', id: 'c', output: 'OUT' },
    ],
    ['ls', 'OUT'],
  ],
  [
    [
      { type: 'shell_call', call_id: 'c', action: { commands: ['ls'] } },
      {
        type: 'shell_call_output',
        call_id: 'c',
        output: [{ stdout: 'OUT', stderr: 'ERR', outcome: { type: 'exit', exit_code: 0 } }],
      },
    ],
    ['ls', 'OUT', 'ERR'],
  ],
  [
    [
      { type: 'apply_patch_call', call_id: 'c', operation: { type: 'delete_file', path: 'a.txt' } },
      { type: 'apply_patch_call_output', call_id: 'c', status: 'failed' },
    ],
    ['a.txt', 'failed'],
  ],
  [
    [
      { type: 'computer_call', call_id: 'c', action: { type: 'screenshot' } },
      {
        type: 'computer_call_output',
        call_id: 'c',
        output: { type: 'computer_screenshot', image_url: 'data:image/png;base64,AAAA' },
      },
    ],
    ['screenshot', 'AAAA'],
  ],
];

const user = { role: 'user', content: 'q' };

describe('history of tools that ran at a vendor', () => {
  const written = (from: FormatName, to: FormatName, body: JsonObject): string =>
    JSON.stringify(FORMATS[to].writeRequest(FORMATS[from].readRequest({ model: 'm', ...body })));

  for (const [block, words] of BLOCKS) {
    for (const to of ['chat-completions', 'responses'] as const) {
      it(`vendor history: ${String(block.type)} to ${to}: ${words.join(', ')}`, () => {
        for (const content of [[block], [{ type: 'text', text: 'A' }, block, { type: 'text', text: 'B' }]]) {
          const text = written('messages', to, {
            max_tokens: 9,
            messages: [user, { role: 'assistant', content }, user],
          });
          for (const word of words) assert.ok(text.includes(word), text);
          assert.ok(!text.includes('hidden') && !text.includes(`"${String(block.type)}"`), text);
          if (content.length > 1) assert.ok(text.includes('B'));
        }
      });
    }
  }

  for (const [items, words] of ITEMS) {
    for (const to of ['chat-completions', 'messages'] as const) {
      it(`vendor history: ${String(items[0]?.type)} to ${to}: ${words.join(', ')}`, () => {
        const text = written('responses', to, { input: [user, ...items, { role: 'assistant', content: 'A' }, user] });
        for (const word of words) assert.ok(text.includes(word), text);
        assert.ok(!text.includes('hidden') && !text.includes(`"${String(items[0]?.type)}"`), text);
      });
    }
  }

  it('vendor history: an unknown block of the user is still refused', () => {
    const body = { max_tokens: 9, messages: [{ role: 'user', content: [{ type: 'hologram' }] }] };
    assert.throws(() => written('messages', 'chat-completions', body), /"hologram"/);
  });

  it('vendor history: nested results of any depth', () => {
    let content: unknown = [{ type: 'text', text: 'x' }];
    for (let depth = 0; depth < 5000; depth += 1) content = [{ type: 'x', content }];
    const block = { type: 'mcp_tool_result', tool_use_id: 'm', content };
    written('messages', 'responses', {
      max_tokens: 9,
      messages: [user, { role: 'assistant', content: [block] }, user],
    });
  });

  const thinking = { type: 'thinking', thinking: 'Hm.', signature: 's' };
  const call = { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} };
  const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'R' }] };
  const asked = (model: string, turns: readonly JsonObject[]) => {
    const request = { model, max_tokens: 9_000, messages: [user, ...turns] };
    const tools = [{ name: 'f', input_schema: { type: 'object' } }];
    const body = { ...request, tools, thinking: { type: 'enabled', budget_tokens: 2_000 } };
    return FORMATS.messages.writeRequest(FORMATS.messages.readRequest(body));
  };
  const typesOf = (body: unknown) =>
    JSON.parse(JSON.stringify(body)).messages.map(({ content }: { content: string | { type: string }[] }) =>
      typeof content === 'string' ? content : content.map(({ type }) => type),
    );

  it('vendor history: thinking behind another block is left out, because the API refuses it', () => {
    const earlier = { role: 'assistant', content: [{ type: 'text', text: 'A' }, thinking, call] };
    const body = asked('claude-sonnet-4-5', [earlier, result, { role: 'assistant', content: 'B' }, user]);
    assert.deepEqual(typesOf(body).slice(1, 2), [['text', 'tool_use']]);
    assert.equal(Object(body.thinking).type, 'enabled');
    const first = asked('claude-sonnet-4-5', [{ role: 'assistant', content: [thinking, call] }, result]);
    assert.deepEqual([typesOf(first)[1], Object(first.thinking).type], [['thinking', 'tool_use'], 'enabled']);
  });

  it('vendor history: a tool loop whose thinking is behind another block goes on without thinking', () => {
    for (const turns of [
      [{ role: 'assistant', content: [{ type: 'text', text: 'A' }, thinking, call] }],
      [
        { role: 'assistant', content: 'A' },
        { role: 'assistant', content: [thinking, call] },
      ],
    ]) {
      assert.equal(asked('claude-sonnet-4-5', [...turns, result]).thinking, undefined);
    }
  });
});
