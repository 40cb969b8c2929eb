import assert from 'node:assert/strict';
import { chatCompletions } from '../../src/wire/chat-completions/format.ts';
import type { Event } from '../../src/wire/event.ts';
import { FimReader, readFimAnswer } from '../../src/wire/fim/fim-answer.ts';
import { foldEvents } from '../../src/wire/fold.ts';
import { messages } from '../../src/wire/messages/format.ts';
import { responses } from '../../src/wire/responses/format.ts';
import { CONTEXT, readEvents } from './format-pairs.ts';

/** Each reason with the ending that it means. `error`: the answer broke off. `other`: it is passed as it is. */
const REASONS: Readonly<Record<string, readonly string[]>> = {
  stop: ['stop', 'STOP', 'eos', 'eos_token', 'end_turn', 'stop_sequence', 'COMPLETE', 'pause_turn'],
  length: ['length', 'max_tokens', 'MAX_TOKENS', 'max_output_tokens', 'model_length', 'model_context_window_exceeded'],
  tool_calls: ['tool_calls', 'function_call', 'tool_use', 'TOOL_CALL'],
  content_filter: [
    ...['content_filter', 'content-filter', 'sensitive', 'SAFETY', 'RECITATION', 'PROHIBITED_CONTENT', 'BLOCKLIST'],
    ...['SPII', 'refusal', 'guardrail_intervened', 'IMAGE_SAFETY', 'IMAGE_PROHIBITED_CONTENT'],
  ],
  error: [
    ...['network_error', 'abort', 'error', 'insufficient_system_resource', 'MALFORMED_FUNCTION_CALL', 'cancelled'],
    ...['UNEXPECTED_TOOL_CALL', 'TOO_MANY_TOOL_CALLS', 'MISSING_THOUGHT_SIGNATURE'],
  ],
  other: ['OTHER', 'LANGUAGE', 'FINISH_REASON_UNSPECIFIED', 'repetition', 'toString', '__proto__', 'never heard of'],
};
const CASES = Object.entries(REASONS).flatMap(([ending, reasons]) =>
  reasons.map((reason) => [reason, ending] as const),
);

const endingOf = (events: readonly Event[]) => {
  const { error, finish } = foldEvents(events);
  return error === undefined ? finish : 'error';
};
const chatFrame = (content: string, finish_reason: string | null) =>
  `data: ${JSON.stringify({ id: 'x', choices: [{ index: 0, delta: { content }, finish_reason }] })}`;
const messagesFrames = (stop_reason: string) =>
  [
    { type: 'message_start', message: { id: 'm' } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'a' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason } },
    { type: 'message_stop' },
  ].map((value) => `event: ${value.type}\ndata: ${JSON.stringify(value)}`);

describe('finish reasons of vendors', () => {
  for (const [reason, ending] of CASES) {
    // An answer without calls does not end with them.
    const expected = ending === 'tool_calls' ? 'stop' : ending;
    it(`finish reasons: ${reason} is ${expected} in Chat Completions, Messages and code completions`, () => {
      const stream = [chatFrame('a', null), chatFrame('', reason), 'data: [DONE]'];
      assert.equal(endingOf(readEvents(chatCompletions, stream)), expected, 'Chat Completions, streamed');
      const message = { role: 'assistant', content: 'a' };
      const whole = chatCompletions.readAnswer({ choices: [{ index: 0, message, finish_reason: reason }] });
      assert.equal(endingOf(whole), expected, 'Chat Completions, whole');
      assert.equal(endingOf(readEvents(messages, messagesFrames(reason))), expected, 'Messages, streamed');
      const answer = { content: [{ type: 'text', text: 'a' }], stop_reason: reason };
      assert.equal(endingOf(messages.readAnswer(answer)), expected, 'Messages, whole');
      const fim = new FimReader();
      const chunk = { choices: [{ text: 'a', finish_reason: reason }] };
      const read = [...fim.read({ data: JSON.stringify(chunk) }), ...fim.end()];
      assert.equal(endingOf(read), ending, 'a code completion, streamed');
      assert.equal(endingOf(readFimAnswer(chunk)), ending, 'a code completion, whole');
    });
  }

  it('finish reasons: an answer without calls and text that says it has calls is broken', () => {
    assert.equal(endingOf(readEvents(chatCompletions, [chatFrame('', 'tool_calls'), 'data: [DONE]'])), 'error');
    const message = { role: 'assistant', content: null, tool_calls: [] };
    const choices = [{ index: 0, message, finish_reason: 'tool_calls' }];
    assert.equal(endingOf(chatCompletions.readAnswer({ choices })), 'error');
    assert.equal(endingOf(messages.readAnswer({ content: [], stop_reason: 'tool_use' })), 'error');
  });

  it('finish reasons: an answer with calls ends with them', () => {
    const content = [{ type: 'tool_use', id: 'a', name: 'f', input: {} }];
    assert.equal(endingOf(messages.readAnswer({ content, stop_reason: 'end_turn' })), 'tool_calls');
    const older = { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{"a":1}' } };
    const events = chatCompletions.readAnswer({
      choices: [{ index: 0, message: older, finish_reason: 'function_call' }],
    });
    assert.equal(endingOf(events), 'tool_calls');
    const [call] = foldEvents(events).parts;
    assert.deepEqual([call?.type, call?.type === 'tool-call' && call.arguments], ['tool-call', '{"a":1}']);
  });

  it('finish reasons: an incomplete answer of Responses is never complete', () => {
    const ending = (reason: string | undefined) => {
      const incomplete_details = reason === undefined ? null : { reason };
      const output = [{ type: 'message', content: [{ type: 'output_text', text: 'a' }] }];
      return endingOf(responses.readAnswer({ status: 'incomplete', incomplete_details, output }));
    };
    for (const [reason, expected] of CASES) {
      const complete = expected === 'stop' || expected === 'tool_calls';
      assert.equal(ending(reason), complete ? 'other' : expected, reason);
    }
    assert.equal(ending(undefined), 'length');
  });

  it('finish reasons: an unknown reason keeps its word in each format', () => {
    const body = { choices: [{ index: 0, message: { content: 'a' }, finish_reason: 'odd' }] };
    const events = chatCompletions.readAnswer(body);
    const chat = JSON.stringify(chatCompletions.writeAnswer(CONTEXT, events));
    assert.match(chat, /"finish_reason":"odd"/);
    assert.match(JSON.stringify(messages.writeAnswer(CONTEXT, events)), /"stop_reason":"odd"/);
    const response = responses.writeAnswer(CONTEXT, events);
    assert.deepEqual([response.status, response.incomplete_details], ['incomplete', { reason: 'odd' }]);
    const frames = (format: typeof chatCompletions) => {
      const writer = format.streamWriter(CONTEXT);
      return JSON.stringify(events.flatMap((event) => writer.write(event))).replaceAll('\\"', '"');
    };
    assert.match(frames(chatCompletions), /"finish_reason":"odd"/);
    assert.match(frames(messages), /"stop_reason":"odd"/);
    assert.match(frames(responses), /"incomplete_details":\{"reason":"odd"\}/);
  });

  it('finish reasons: an unknown reason without any content is an error', () => {
    assert.equal(endingOf(readEvents(chatCompletions, [chatFrame('', 'odd'), 'data: [DONE]'])), 'error');
    assert.equal(endingOf(messages.readAnswer({ content: [], stop_reason: 'odd' })), 'error');
  });
});
