import assert from 'node:assert/strict';
import { chatCompletions } from '../../src/wire/chat-completions/format.ts';
import type { Event } from '../../src/wire/event.ts';
import { FimReader } from '../../src/wire/fim/fim-answer.ts';
import { foldEvents } from '../../src/wire/fold.ts';
import { messages } from '../../src/wire/messages/format.ts';
import { CONTEXT, FORMAT_LIST, readEvents } from './format-pairs.ts';

const chunk = (delta: unknown, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: 'x', choices: [{ index: 0, delta, finish_reason: finish }] })}`;
const call = (args: string) => chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: args } }] });
const done = 'data: [DONE]';
const event = (value: { type: string } & Record<string, unknown>) =>
  `event: ${value.type}\ndata: ${JSON.stringify(value)}`;
const finish = (events: readonly Event[]) => foldEvents(events).finish;

/** Servers that send no finish reason: docs/formats.md, "Answers without a finish reason". */
describe('an answer without a finish reason', () => {
  const streams: Record<string, [frames: string[], expected: string]> = {
    'text and [DONE]': [[chunk({ content: 'a' }), done], 'stop'],
    'an empty reason and [DONE]': [[chunk({ content: 'a' }, ''), done], 'stop'],
    'reasoning alone and [DONE]': [[chunk({ reasoning_content: 'a' }), done], 'stop'],
    'a whole call and [DONE]': [[call('{"x":1}'), done], 'tool_calls'],
    'a call without arguments and [DONE]': [[call(''), done], 'tool_calls'],
    'a call whose arguments broke off, and [DONE]': [[call('{"x":'), done], 'closed'],
    'nothing but [DONE]': [[done], 'closed'],
    'a role and [DONE]': [[chunk({ role: 'assistant', content: '' }), done], 'closed'],
    'text and the end of the connection': [[chunk({ content: 'a' })], 'closed'],
    'a whole call and the end of the connection': [[call('{"x":1}')], 'closed'],
    'its reason before [DONE]': [[chunk({ content: 'a' }), chunk({}, 'length'), done], 'length'],
  };
  for (const [name, [frames, expected]] of Object.entries(streams)) {
    it(`no finish reason: Chat Completions: ${name}: ${expected}`, () =>
      assert.equal(finish(readEvents(chatCompletions, frames)), expected));
  }

  it("no finish reason: a complete Chat Completions body is complete in each client's format", () => {
    const body = { choices: [{ index: 0, message: { role: 'assistant', content: 'a' }, finish_reason: null }] };
    const events = chatCompletions.readAnswer(body);
    assert.equal(finish(events), 'stop');
    for (const format of FORMAT_LIST) assert.match(JSON.stringify(format.writeAnswer(CONTEXT, events)), /"a"/);
    const empty = { choices: [{ index: 0, message: { role: 'assistant', content: '' }, finish_reason: null }] };
    assert.equal(finish(chatCompletions.readAnswer(empty)), 'closed');
  });

  it('no finish reason: a Messages answer is complete with message_stop, not at the end of the connection', () => {
    const text = [
      event({ type: 'message_start', message: { id: 'm' } }),
      event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'a' } }),
      event({ type: 'content_block_stop', index: 0 }),
    ];
    const tool = event({
      type: 'content_block_start',
      index: 1,
      content_block: { type: 'tool_use', id: 'c', name: 'f' },
    });
    const stop = event({ type: 'message_stop' });
    assert.equal(finish(readEvents(messages, [...text, stop])), 'stop');
    assert.equal(finish(readEvents(messages, [...text, tool, stop])), 'tool_calls');
    assert.equal(finish(readEvents(messages, text)), 'closed');
    assert.equal(finish(readEvents(messages, [stop])), 'closed');
    assert.equal(finish(messages.readAnswer({ content: [{ type: 'text', text: 'a' }] })), 'stop');
  });

  it('no finish reason: a code completion is complete with [DONE], not at the end of the connection', () => {
    const read = (...data: string[]) => {
      const reader = new FimReader();
      return finish([...data.flatMap((each) => reader.read({ data: each })), ...reader.end()]);
    };
    const text = JSON.stringify({ choices: [{ text: 'a' }] });
    assert.equal(read(text, '[DONE]'), 'stop');
    assert.equal(read(text), 'closed');
    assert.equal(read('[DONE]'), 'closed');
  });
});
