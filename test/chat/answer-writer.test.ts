import assert from 'node:assert/strict';
import { AnswerWriter } from '../../src/chat/session/answer-writer.ts';
import { applyPatch, EMPTY_TRANSCRIPT, type Message, type Patch } from '../../src/chat/transcript.ts';
import type { Event } from '../../src/wire/event.ts';
import { modelAt, toolNamed } from './test-session.ts';

describe('AnswerWriter', () => {
  function written(...events: readonly Event[]): Message['parts'] {
    const message: Message = { id: 'a', role: 'assistant', parts: [], createdAt: 0 };
    const patches: Patch[] = [];
    const writer = new AnswerWriter({
      ...{ message: 'a', base: 0, before: undefined, now: () => 0 },
      model: modelAt({ url: 'http://127.0.0.1:1' }),
      tools: [toolNamed('look')],
      callIds: new Set(['earlier']),
      patch: (patch) => patches.push(patch),
    });
    for (const event of events) writer.take(event);
    const transcript = patches.reduce(applyPatch, applyPatch(EMPTY_TRANSCRIPT, { type: 'add', message }));
    return transcript.messages[0]?.parts ?? [];
  }

  it('AnswerWriter: leaves no gap if a stream skips a part number', () => {
    const parts = written({ type: 'reasoning', part: 1, text: 'Hm.' }, { type: 'text', part: 4, text: 'Yes.' });
    assert.deepEqual(
      parts.map((part) => part.type),
      ['reasoning', 'text'],
    );
  });

  it('AnswerWriter: keeps all text if a vendor gives two kinds of parts the same number', () => {
    const parts = written(
      { type: 'reasoning', part: 0, text: 'Hm.' },
      { type: 'text', part: 0, text: 'Yes, ' },
      { type: 'reasoning', part: 0, text: ' Or?' },
      { type: 'text', part: 0, text: 'it is.' },
    );
    assert.deepEqual(
      parts.map((part) => 'text' in part && part.text),
      ['Hm. Or?', 'Yes, it is.'],
    );
  });

  it('AnswerWriter: ignores arguments of a call that never started', () => {
    const parts = written(
      { type: 'tool-arguments', part: 3, json: '{}' },
      { type: 'tool-call', part: 1, id: 'c', name: 'look' },
      { type: 'tool-arguments', part: 1, json: '{"a":1}' },
    );
    assert.deepEqual(
      parts.map((part) => part.type === 'tool' && [part.name, part.text]),
      [['look', '{"a":1}']],
    );
  });

  it('AnswerWriter: calls with the same id or none get their own', () => {
    const ids = ['c', 'c', 'earlier', '', 'c', ''];
    const parts = written(...ids.map((id, part) => ({ type: 'tool-call', part, id, name: 'look' }) as const));
    assert.deepEqual(
      parts.map((part) => part.type === 'tool' && part.id),
      ['c', 'c_2', 'earlier_2', 'call_2', 'c_3', 'call_3'],
    );
  });

  it('AnswerWriter: a discarded call is stopped', () => {
    const [part] = written(
      { type: 'tool-call', part: 1, id: 'c', name: 'look' },
      { type: 'tool-arguments', part: 1, json: '{"a":' },
      { type: 'discard', call: 1 },
    );
    assert.deepEqual(part?.type === 'tool' && part.state, { type: 'stopped' });
  });

  it('AnswerWriter: reads a history with a missing line in the middle', () => {
    const message: Message = { id: 'a', role: 'assistant', parts: [], createdAt: 0 };
    const begun = applyPatch(EMPTY_TRANSCRIPT, { type: 'add', message });
    const read = applyPatch(begun, { type: 'append', message: 'a', part: 2, kind: 'text', text: 'Kept.' });
    assert.deepEqual(read.messages[0]?.parts, [{ type: 'step' }, { type: 'step' }, { type: 'text', text: 'Kept.' }]);
  });
});
