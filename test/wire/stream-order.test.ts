import assert from 'node:assert/strict';
import { chatCompletions } from '../../src/wire/chat-completions/format.ts';
import { SvcError } from '../../src/wire/errors/svc-error.ts';
import type { Event } from '../../src/wire/event.ts';
import { messages } from '../../src/wire/messages/format.ts';
import { responses } from '../../src/wire/responses/format.ts';
import { CONTEXT, FORMAT_LIST, kinds, streamedEvents, writeFrames } from './format-pairs.ts';

const ANSWER: readonly Event[] = [
  { type: 'start', id: 'x' },
  { type: 'reasoning', part: 0, text: 'Hm.' },
  { type: 'text', part: 1, text: 'a' },
  { type: 'text', part: 1, text: 'b' },
  { type: 'tool-call', part: 2, id: 'c1', name: 'f' },
  { type: 'tool-arguments', part: 2, json: '{"a":' },
  { type: 'tool-call', part: 3, id: 'c2', name: 'g' },
  { type: 'tool-arguments', part: 3, json: '{}' },
  { type: 'tool-arguments', part: 2, json: '1}' },
  { type: 'usage', usage: { input: 1, output: 2 } },
  { type: 'finish', reason: 'tool_calls' },
];

describe('order of a stream', () => {
  it('stream order: Chat Completions: role, deltas, finish with usage, [DONE]', () => {
    assert.deepEqual(kinds(writeFrames(chatCompletions, ANSWER)), [
      'role+content',
      'reasoning_content',
      'content',
      'content',
      'tool_calls',
      'tool_calls',
      'tool_calls',
      'tool_calls',
      'tool_calls',
      'finish tool_calls',
      '[DONE]',
    ]);
  });

  it('stream order: Responses: each item is added and done before the next, even if calls interleave', () => {
    const item = (...inner: string[]): string[] => [
      'response.output_item.added',
      ...inner.map((name) => `response.${name}`),
      'response.output_item.done',
    ];
    assert.deepEqual(kinds(writeFrames(responses, ANSWER)), [
      'response.created',
      'response.in_progress',
      ...item(
        'reasoning_summary_part.added',
        'reasoning_summary_text.delta',
        'reasoning_summary_text.done',
        'reasoning_summary_part.done',
      ),
      ...item('content_part.added', 'output_text.delta', 'output_text.delta', 'output_text.done', 'content_part.done'),
      ...item('function_call_arguments.delta', 'function_call_arguments.delta', 'function_call_arguments.done'),
      ...item('function_call_arguments.delta', 'function_call_arguments.done'),
      'response.completed',
    ]);
  });

  it('stream order: Responses: events are numbered from 0, and indexes of 0 are written', () => {
    const frames = writeFrames(responses, ANSWER).map((frame) => JSON.parse(frame.data));
    assert.deepEqual(
      frames.map((frame) => frame.sequence_number),
      frames.map((_, index) => index),
    );
    for (const frame of frames) {
      assert.equal(typeof frame.type, 'string');
      if (/^response\.(output_text|content_part|refusal)/.test(frame.type))
        assert.equal(frame.content_index, 0, frame.type);
      if (/^response\.reasoning_summary/.test(frame.type)) assert.equal(frame.summary_index, 0, frame.type);
      if (/\.(delta|added|done)$/.test(frame.type)) assert.equal(typeof frame.output_index, 'number', frame.type);
      if (/\.delta$/.test(frame.type)) assert.equal(typeof frame.item_id, 'string', frame.type);
    }
    const indexes = frames
      .filter((frame) => frame.type === 'response.output_item.added')
      .map((frame) => frame.output_index);
    assert.deepEqual(indexes, [0, 1, 2, 3]);
  });

  it('stream order: Messages: consecutive blocks, one at a time, then message_delta and message_stop', () => {
    const frames = writeFrames(messages, ANSWER);
    const block = (...deltas: string[]): string[] => ['content_block_start', ...deltas, 'content_block_stop'];
    const delta = 'content_block_delta';
    const expected = [...block(delta, delta), ...block(delta, delta), ...block(delta, delta), ...block(delta)];
    assert.deepEqual(kinds(frames), ['message_start', ...expected, 'message_delta', 'message_stop']);
    const indexes = frames
      .filter((frame) => frame.event === 'content_block_start')
      .map((frame) => JSON.parse(frame.data).index);
    assert.deepEqual(indexes, [0, 1, 2, 3]);
  });

  it('stream order: interleaved calls get their complete arguments', () => {
    const inputs = writeFrames(messages, ANSWER)
      .map((frame) => JSON.parse(frame.data))
      .filter((frame) => frame.delta?.type === 'input_json_delta')
      .map((frame) => [frame.index, frame.delta.partial_json]);
    assert.deepEqual(inputs, [
      [2, '{"a":'],
      [2, '1}'],
      [3, '{}'],
    ]);
  });

  it('stream order: arguments of a second call are streamed once the first is marked complete', () => {
    const events = streamedEvents(messages, {
      tools: [
        { id: 'c1', name: 'f', arguments: ['{}'] },
        { id: 'c2', name: 'g', arguments: ['{', '}'] },
      ],
    });
    const writer = responses.streamWriter(CONTEXT);
    const before = events
      .slice(
        0,
        events.findIndex((event) => event.type === 'finish'),
      )
      .flatMap((event) => writer.write(event));
    assert.equal(before.filter((frame) => frame.event === 'response.output_item.done').length, 2);
  });

  it("stream order: an empty answer has only the answer's own frames", () => {
    const events: Event[] = [{ type: 'finish', reason: 'stop' }];
    assert.deepEqual(kinds(writeFrames(messages, events)), ['message_start', 'message_delta', 'message_stop']);
    assert.deepEqual(kinds(writeFrames(responses, events)), [
      'response.created',
      'response.in_progress',
      'response.completed',
    ]);
    assert.deepEqual(kinds(writeFrames(chatCompletions, events)), ['role+content', 'finish stop', '[DONE]']);
  });

  const error = new SvcError({ status: 503, errorType: 'upstream_disconnect', message: 'Gone.' });
  const endings: Record<string, string[]> = {
    'chat-completions': ['error'],
    responses: ['error', 'response.failed'],
    messages: ['error'],
  };
  for (const format of FORMAT_LIST) {
    it(`stream order: a broken ${format.name} stream ends with an error that contains its type`, () => {
      const writer = format.streamWriter(CONTEXT);
      writer.write({ type: 'text', part: 0, text: 'a' });
      const frames = writer.write({ type: 'error', error });
      assert.deepEqual(kinds(frames), endings[format.name]);
      const body = JSON.parse(frames[0]?.data ?? '');
      assert.equal(body.error_type, 'upstream_disconnect');
      assert.equal(body.error.message, 'Gone.');
      assert.deepEqual(writer.write({ type: 'text', part: 0, text: 'b' }), []);
    });

    it(`stream order: a ${format.name} stream without a terminal event is not complete`, () => {
      const frames = writeFrames(format, [
        { type: 'text', part: 0, text: 'a' },
        { type: 'finish', reason: 'closed' },
      ]);
      const last = frames.findLast((frame) => frame.event !== 'response.failed');
      assert.equal(JSON.parse(last?.data ?? '').error_type, 'upstream_disconnect');
    });
  }
});
