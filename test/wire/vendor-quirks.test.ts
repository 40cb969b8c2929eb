import assert from 'node:assert/strict';
import { chatCompletions } from '../../src/wire/chat-completions/format.ts';
import type { Event } from '../../src/wire/event.ts';
import { foldEvents } from '../../src/wire/fold.ts';
import { messages } from '../../src/wire/messages/format.ts';
import { responses } from '../../src/wire/responses/format.ts';
import { kinds, readEvents, writeFrames } from './format-pairs.ts';

const done = 'data: [DONE]';

function chunk(delta: unknown, finish: string | null = null): string {
  return `data: ${JSON.stringify({ id: 'x', choices: [{ index: 0, delta, finish_reason: finish }] })}`;
}

function calls(...fragments: readonly (readonly unknown[])[]): Event[] {
  const frames = fragments.map((tool_calls) => chunk({ tool_calls }));
  return readEvents(chatCompletions, [...frames, chunk({}, 'tool_calls'), done]);
}

function called(events: readonly Event[]): unknown[] {
  return foldEvents(events).parts.map((part) =>
    part.type === 'tool-call' ? [part.id, part.name, part.arguments] : part,
  );
}

describe('member names of each JavaScript object', () => {
  for (const name of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
    it(`inherited member names are neither finish reasons nor error types: ${name}`, () => {
      const chat = readEvents(chatCompletions, [chunk({ content: 'Hi' }), chunk({}, name), done]);
      const unknown = { type: 'finish', reason: 'other', native: name };
      assert.deepEqual(chat.at(-1), unknown);
      const ended = [
        { type: 'message_start', message: {} },
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Hi' } },
        { type: 'message_delta', delta: { stop_reason: name } },
        { type: 'message_stop' },
      ].map((value) => `data: ${JSON.stringify(value)}`);
      assert.deepEqual(readEvents(messages, ended).at(-1), unknown);
      const last = readEvents(chatCompletions, [`data: ${JSON.stringify({ error: { type: name, code: name } })}`]).at(
        -1,
      );
      assert.ok(last?.type === 'error');
      assert.equal(last.error.status, 503);
      assert.match(last.error.message, /status 500/);
    });
  }

  it('inherited member names are not efforts with a budget', () => {
    const asked = {
      model: 'm',
      messages: [{ role: 'user', content: 'x' }],
      max_tokens: 10_000,
      reasoning_effort: 'constructor',
    };
    const request = chatCompletions.readRequest(asked);
    const { thinking } = messages.writeRequest({ ...request, model: 'claude-3' });
    assert.deepEqual(thinking, { type: 'enabled', budget_tokens: 3_000 });
  });
});

/** One recorded oddity of a vendor each. */
describe('tool calls in a Chat Completions stream', () => {
  const cases: Record<string, [fragments: unknown[][], expected: unknown[]]> = {
    'whole in one chunk': [
      [[{ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":1}' } }]],
      [['a', 'f', '{"x":1}']],
    ],
    'two whole calls in one chunk without index': [
      [
        [
          { id: 'a', function: { name: 'f', arguments: '{}' } },
          { id: 'b', function: { name: 'g', arguments: '{}' } },
        ],
      ],
      [
        ['a', 'f', '{}'],
        ['b', 'g', '{}'],
      ],
    ],
    'an index that starts at 1': [
      [[{ index: 1, id: 'a', function: { name: 'f', arguments: '' } }], [{ index: 1, function: { arguments: '{}' } }]],
      [['a', 'f', '{}']],
    ],
    'index 0 for every call': [
      [
        [{ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } }],
        [{ index: 0, id: 'b', function: { name: 'g', arguments: '{}' } }],
      ],
      [
        ['a', 'f', '{}'],
        ['b', 'g', '{}'],
      ],
    ],
    'one id for two indexes': [
      [
        [{ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } }],
        [{ index: 1, id: 'a', function: { name: 'g', arguments: '{"y":1}' } }],
      ],
      [
        ['a', 'f', '{}'],
        ['a', 'g', '{"y":1}'],
      ],
    ],
    'the name after the id': [
      [[{ index: 0, id: 'a' }], [{ index: 0, function: { name: 'f' } }], [{ index: 0, function: { arguments: '{}' } }]],
      [['a', 'f', '{}']],
    ],
    'arguments before the name': [
      [[{ index: 0, id: 'a', function: { arguments: '{' } }], [{ index: 0, function: { name: 'f', arguments: '}' } }]],
      [['a', 'f', '{}']],
    ],
    'id and name repeated in each chunk': [
      [
        [{ index: 0, id: 'a', function: { name: 'f', arguments: '{' } }],
        [{ index: 0, id: 'a', function: { name: 'f', arguments: '}' } }],
      ],
      [['a', 'f', '{}']],
    ],
    'a fresh id in each fragment': [
      [
        [{ index: 0, id: 'a', function: { name: 'f', arguments: '{' } }],
        [{ index: 0, id: 'z', function: { arguments: '}' } }],
      ],
      [['a', 'f', '{}']],
    ],
    'arguments that parse and then go on': [
      [[{ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } }], [{ index: 0, function: { arguments: ' ' } }]],
      [['a', 'f', '{} ']],
    ],
    'arguments as an object': [
      [[{ index: 0, id: 'a', function: { name: 'f', arguments: { x: 1 } } }]],
      [['a', 'f', '{"x":1}']],
    ],
    'arguments that never become JSON': [
      [[{ index: 0, id: 'a', function: { name: 'f', arguments: '{"x":' } }]],
      [['a', 'f', '{"x":']],
    ],
    'no arguments at all': [[[{ index: 0, id: 'a', function: { name: 'f' } }]], [['a', 'f', '']]],
    'fragments of two calls by turns': [
      [
        [{ index: 0, id: 'a', function: { name: 'f', arguments: '{"x"' } }],
        [{ index: 1, id: 'b', function: { name: 'g', arguments: '{"y"' } }],
        [{ index: 0, function: { arguments: ':1}' } }],
        [{ index: 1, function: { arguments: ':2}' } }],
      ],
      [
        ['a', 'f', '{"x":1}'],
        ['b', 'g', '{"y":2}'],
      ],
    ],
  };
  for (const [name, [fragments, expected]] of Object.entries(cases)) {
    it(`tool calls: ${name}`, () => assert.deepEqual(called(calls(...fragments)), expected));
  }

  it('tool calls: any number of calls remain separate, for any indexes', () => {
    const indexes = [-1, 1e15, 0.5, 2, 1, ...Array.from({ length: 30_000 }, (_, n) => n + 10)];
    const fragments = indexes.map((index) => [{ index, id: `c${index}`, function: { name: 'f', arguments: '{' } }]);
    // The rest of their arguments comes in another order, by the index or by the id alone.
    const rest = indexes
      .toReversed()
      .map((index, at) => [
        at % 2 === 0 ? { index, function: { arguments: '}' } } : { id: `c${index}`, function: { arguments: '}' } },
      ]);
    assert.deepEqual(
      called(calls(...fragments, ...rest)),
      indexes.map((index) => [`c${index}`, 'f', '{}']),
    );
  });

  it('tool calls: a call without an id gets one', () => {
    const [call] = foldEvents(calls([{ index: 0, function: { name: 'f', arguments: '{}' } }])).parts;
    assert.match(call?.type === 'tool-call' ? call.id : '', /^call_\w{32}$/);
  });

  it('tool calls: a call without a name is an error', () => {
    const { error } = foldEvents(calls([{ index: 0, id: 'a', function: { arguments: '{}' } }]));
    assert.equal(error?.errorType, 'upstream_invalid_response');
  });

  it('tool calls: the finish reason is tool_calls even if the vendor sends stop', () => {
    const tool = { index: 0, id: 'a', function: { name: 'f', arguments: '{}' } };
    const events = readEvents(chatCompletions, [chunk({ tool_calls: [tool] }), chunk({}, 'stop'), done]);
    assert.equal(foldEvents(events).finish, 'tool_calls');
  });

  it('tool calls: a call without arguments is written with {} in Chat Completions and Responses', () => {
    const events = calls([{ index: 0, id: 'a', function: { name: 'f' } }]);
    const chat = writeFrames(chatCompletions, events)
      .map((frame) => frame.data)
      .join('');
    assert.match(chat, /"arguments":"\{\}"/);
    const last = writeFrames(responses, events).at(-1);
    assert.equal(JSON.parse(last?.data ?? '').response.output[0].arguments, '{}');
  });
});

describe('quirks of vendor streams', () => {
  it('usage: is read after the finish, without choices, and with a null role', () => {
    const usage = 'data: {"id":"x","usage":{"prompt_tokens":3,"completion_tokens":4}}';
    const events = readEvents(chatCompletions, [chunk({ role: null, content: 'a' }), chunk({}, 'stop'), usage, done]);
    assert.deepEqual(foldEvents(events).usage, { input: 3, output: 4 });
    const frames = writeFrames(messages, events);
    assert.deepEqual(kinds(frames).slice(-2), ['message_delta', 'message_stop']);
    assert.equal(JSON.parse(frames.at(-2)?.data ?? '').usage.output_tokens, 4);
  });

  it('usage: cached tokens are part of the input for OpenAI, but not for Anthropic', () => {
    const usage = { prompt_tokens: 100, completion_tokens: 1, prompt_tokens_details: { cached_tokens: 60 } };
    const frame = `data: ${JSON.stringify({ choices: [], usage })}`;
    const events = readEvents(chatCompletions, [chunk({ content: 'a' }), chunk({}, 'stop'), frame, done]);
    const said = JSON.parse(writeFrames(messages, events).at(-2)?.data ?? '').usage;
    assert.deepEqual([said.input_tokens, said.cache_read_input_tokens], [40, 60]);
    assert.equal(JSON.parse(writeFrames(chatCompletions, events).at(-2)?.data ?? '').usage.prompt_tokens, 100);
  });

  it('usage: negative counts are ignored', () => {
    const usage = 'data: {"choices":[],"usage":{"prompt_tokens":-1,"completion_tokens":-5}}';
    assert.equal(
      foldEvents(readEvents(chatCompletions, [chunk({ content: 'a' }, 'stop'), usage, done])).usage,
      undefined,
    );
  });

  it('Chat Completions stream: an Azure prologue and empty choices are ignored', () => {
    const empty = 'data: {"choices":[],"prompt_filter_results":[{}]}';
    const events = readEvents(chatCompletions, [
      empty,
      chunk({ content: 'a' }),
      empty,
      chunk({ content: 'b' }),
      chunk({}, 'stop'),
      done,
    ]);
    const answer = foldEvents(events);
    assert.deepEqual([answer.parts, answer.finish], [[{ type: 'text', text: 'ab' }], 'stop']);
  });

  it("Chat Completions stream: reads Mistral's lists of text and thinking", () => {
    const thinking = { content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] }] };
    const events = readEvents(chatCompletions, [
      chunk(thinking),
      chunk({ content: [{ type: 'text', text: 'a' }] }),
      chunk({}, 'stop'),
      done,
    ]);
    assert.deepEqual(foldEvents(events).parts, [
      { type: 'reasoning', text: 'hm', seals: [] },
      { type: 'text', text: 'a' },
    ]);
  });

  it('reasoning_split: reasoning in content and details occurs once, and details are kept', () => {
    const first = { reasoning_content: 'h', reasoning_details: [{ type: 'reasoning.text', index: 0, text: 'h' }] };
    const second = { reasoning_content: 'm', reasoning_details: [{ type: 'reasoning.text', index: 0, text: 'm' }] };
    const events = readEvents(chatCompletions, [chunk(first), chunk(second), chunk({ content: 'a' }, 'stop'), done]);
    assert.deepEqual(foldEvents(events).parts[0], {
      type: 'reasoning',
      text: 'hm',
      seals: [{ vendor: 'chat-completions', details: [{ type: 'reasoning.text', index: 0, text: 'hm' }] }],
    });
  });

  it('reasoning: is read if it is only in the details', () => {
    const events = readEvents(chatCompletions, [
      chunk({ reasoning_details: [{ type: 'reasoning.text', text: 'hm' }] }, 'stop'),
      done,
    ]);
    const [part] = foldEvents(events).parts;
    assert.equal(part?.type === 'reasoning' && part.text, 'hm');
  });

  const event = (value: { type: string } & Record<string, unknown>): string =>
    `event: ${value.type}\ndata: ${JSON.stringify(value)}`;
  const start = event({ type: 'message_start', message: { id: 'm', usage: { input_tokens: 0, output_tokens: 1 } } });
  const stop = event({ type: 'message_stop' });

  it('Messages stream: a signature without thinking text is kept', () => {
    const block = event({ type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '' } });
    const sign = event({ type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 's' } });
    const end = event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } });
    const events = readEvents(messages, [
      start,
      block,
      sign,
      event({ type: 'content_block_stop', index: 0 }),
      end,
      stop,
    ]);
    assert.deepEqual(foldEvents(events).parts, [
      { type: 'reasoning', text: '', seals: [{ vendor: 'messages', signature: 's' }] },
    ]);
    assert.match(
      writeFrames(messages, events)
        .map((frame) => frame.data)
        .join(),
      /"signature":"s"/,
    );
  });

  it('usage: input tokens of message_delta override those of message_start', () => {
    const end = event({
      type: 'message_delta',
      delta: { stop_reason: 'end_turn' },
      usage: { input_tokens: 9, output_tokens: 2 },
    });
    assert.deepEqual(foldEvents(readEvents(messages, [start, end, stop])).usage, { input: 9, output: 2 });
  });

  it('Messages stream: a second message_start is ignored', () => {
    const block = event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } });
    const delta = event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'a' } });
    const end = event({ type: 'message_delta', delta: { stop_reason: 'end_turn' } });
    const events = readEvents(messages, [start, block, start, delta, end, stop]);
    assert.equal(events.filter((one) => one.type === 'start').length, 1);
    assert.equal(writeFrames(messages, events).filter((frame) => frame.event === 'message_start').length, 1);
  });

  it('Messages stream: a second message discards the unfinished call of the first, and keeps finished ones', () => {
    const call = (index: number, id: string) =>
      event({ type: 'content_block_start', index, content_block: { type: 'tool_use', id, name: 'f', input: {} } });
    const json = (index: number, partial_json: string) =>
      event({ type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json } });
    const close = (index: number) => event({ type: 'content_block_stop', index });
    const again = event({ type: 'message_start', message: { id: 'n' } });
    const end = event({ type: 'message_delta', delta: { stop_reason: 'tool_use' } });
    const first = [call(0, 'a'), json(0, '{}'), close(0), call(1, 'b'), json(1, '{"x":')];
    const second = [call(0, 'c'), json(0, '{"y":1}'), close(0), end, stop];
    const events = readEvents(messages, [start, ...first, again, ...second]);
    assert.deepEqual(called(events), [
      ['a', 'f', '{}'],
      ['c', 'f', '{"y":1}'],
    ]);
    assert.deepEqual(events.at(-1), { type: 'finish', reason: 'tool_calls' });
    // The same message_start twice is one message.
    const rest = [json(1, '2}'), close(1), end, stop];
    const repeated = readEvents(messages, [start, ...first, start, ...rest]);
    assert.deepEqual(called(repeated), [
      ['a', 'f', '{}'],
      ['b', 'f', '{"x":2}'],
    ]);
  });

  it('Messages stream: a Messages client receives the stop sequence', () => {
    const end = event({ type: 'message_delta', delta: { stop_reason: 'stop_sequence', stop_sequence: 'END' } });
    const [delta] = writeFrames(messages, readEvents(messages, [start, end, stop])).filter(
      (frame) => frame.event === 'message_delta',
    );
    assert.deepEqual(JSON.parse(delta?.data ?? '').delta, { stop_reason: 'stop_sequence', stop_sequence: 'END' });
  });

  it('stream errors: keep their type', () => {
    const overloaded = event({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } });
    assert.equal(foldEvents(readEvents(messages, [start, overloaded])).error?.errorType, 'temporarily_unavailable');
    const limited = 'data: {"error":{"message":"slow down","code":429}}';
    assert.equal(
      foldEvents(readEvents(chatCompletions, [chunk({ content: 'a' }), limited])).error?.errorType,
      'rate_limit_exceeded',
    );
    const failed = { status: 'failed', error: { code: 'server_error', message: 'Broke' }, output: [] };
    const events = readEvents(responses, [event({ type: 'response.failed', response: failed })]);
    assert.equal(foldEvents(events).error?.errorType, 'upstream_error');
    // openai/codex#24973: the error is beside the answer.
    const beside = { ...failed, error: null };
    const slow = { code: 'rate_limit_exceeded', message: 'Slow down.' };
    const read = readEvents(responses, [event({ type: 'response.failed', response: beside, error: slow })]);
    assert.match(foldEvents(read).error?.message ?? '', /Slow down/);
  });
});
