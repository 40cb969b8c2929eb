import assert from 'node:assert/strict';
import { type Ending, endingOf, endingWarning } from '../../src/wire/endings.ts';
import type { Event } from '../../src/wire/event.ts';

const text: Event = { type: 'text', part: 1, text: 'a' };
const reasoning: Event = { type: 'reasoning', part: 0, text: 'hm' };
const call: Event = { type: 'tool-call', part: 1, id: 'c', name: 'f' };

describe('how an answer ended (spec 7)', () => {
  const cases: readonly (readonly [string, Event[], Ending])[] = [
    ['text to its end', [text, { type: 'finish', reason: 'stop' }], 'complete'],
    ['text cut at its limit', [reasoning, text, { type: 'finish', reason: 'length' }], 'incomplete'],
    ['reasoning cut at its limit', [reasoning, { type: 'finish', reason: 'length' }], 'reasoning-only'],
    ['reasoning and no answer', [reasoning, { type: 'finish', reason: 'stop' }], 'reasoning-only'],
    [
      'reasoning and blank text',
      [reasoning, { ...text, text: ' \n' }, { type: 'finish', reason: 'length' }],
      'reasoning-only',
    ],
    [
      'hidden reasoning that used all tokens',
      [
        { type: 'usage', usage: { input: 1, output: 9, reasoning: 9 } },
        { type: 'finish', reason: 'length' },
      ],
      'reasoning-only',
    ],
    ['reasoning and a call', [reasoning, call, { type: 'finish', reason: 'tool_calls' }], 'complete'],
    ['a filter', [{ type: 'finish', reason: 'content_filter' }], 'filtered'],
    ['a connection that closed', [text, { type: 'finish', reason: 'closed' }], 'interrupted'],
    ['no end at all', [text], 'interrupted'],
  ];
  for (const [name, events, ending] of cases) it(name, () => assert.equal(endingOf(events), ending));

  it('names the setting that helps', () => {
    assert.match(endingWarning('incomplete') ?? '', /may be incomplete.*limit\.output/);
    assert.match(endingWarning('reasoning-only') ?? '', /[Dd]isable reasoning or raise `limit\.output`/);
    assert.equal(endingWarning('complete'), undefined);
  });
});
